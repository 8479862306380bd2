patch { id = "controls", api = 1 }
control { base = "Toolkit.Control", send = "sendAction(_:to:for:)", action = "args.1", target = "args.to", frame = "self.frame",
  fields = { event = "args.for.number" } }
