patch { id = "queues", api = 1 }
span { on = "Trip.errand(_:)", name = "errand", context = { trip = "args.1" } }
span { on = "Trip.fetch(_:)", name = "fetch", context = { trip = "args.1", buyer = "args.1" }, pii = { buyer = "hash" } }
span { on = "Trip.Hike.go(_:)", name = "hike" }
track "rested" { on = "Trip.rest(_:)", fields = { name = "args.1" } }
