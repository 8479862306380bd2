patch { id = "tasks", api = 1 }
span { on = "Trip.journey(_:)", name = "journey", attributes = { id = "args.1", result = "result" }, context = { owner = "args.1" } }
span { on = "Trip.leg(_:_:)", name = "leg", attributes = { id = "args.1", number = "args.2" } }
span { on = "Trip.step(_:_:)", name = "step", attributes = { id = "args.1", number = "args.2" } }
span { on = "Trip.note(_:)", name = "note", attributes = { id = "args.1" } }
