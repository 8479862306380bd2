patch { id = "ticks", api = 1 }
track "tick" { on = "Ticks.tick(_:_:)", fields = { thread = "args.1", number = "args.2" } }
