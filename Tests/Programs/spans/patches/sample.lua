patch { id = "sample", api = 1 }
span { on = "Trip.plan(_:)", name = "plan", sample = "10%" }
span { on = "Trip.stop(_:_:)", name = "stop" }
