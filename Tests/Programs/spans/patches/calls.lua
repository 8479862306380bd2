patch { id = "calls", api = 1 }
track "planned" { on = "Trip.plan(_:)", context = { trip = "args.1" }, at = "exit", fields = { sum = "result" } }
span { on = "Trip.plan(_:)", name = "plan {args.1}", kind = "server", attributes = { sum = "result" } }
span { on = "Trip.stop(_:_:)", name = "stop", attributes = { number = "args.2" } }
span { on = "Trip.fail(_:)", name = "fail" }
track "rested" { on = "Trip.rest(_:)", fields = { name = "args.1" } }
span { on = "Trip.take(_:)", name = "take", kind = "consumer", links = "args.1" }
