patch { id = "taps", api = 1 }
control { base = "Toolkit.Control", send = "sendAction(_:to:for:)", action = "args.1", target = "args.to", rage = "3/5s", dead = "100ms",
  fields = { event = "args.for.number" } }
track "control" { on = "Toolkit.GestureRecognizer.recognize()", same = { "self.view", "self.action" }, fields = { gesture = "self.action" } }
screen { base = "Toolkit.ViewController", appear = "viewDidAppear(_:)", disappear = "viewDidDisappear(_:)", name = "self.title" }
