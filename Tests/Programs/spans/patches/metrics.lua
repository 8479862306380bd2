patch { id = "metrics", api = 1 }
metric "plans" { on = "Trip.plan(_:)", counter = true, by = { "args.1" } }
metric "numbers" { on = "Trip.stop(_:_:)", counter = "args.2" }
metric "rest" { on = "Trip.rest(_:)", histogram = "result" }
metric "time" { on = "Trip.rest(_:)", histogram = "duration" }
metric "last" { on = "Trip.stop(_:_:)", gauge = "args.2" }
metric "few" { on = "Trip.stop(_:_:)", counter = true, by = { "args.2" }, keys = 1 }
