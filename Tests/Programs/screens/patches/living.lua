patch { id = "living", api = 1 }
screen { base = "Toolkit.ViewController", appear = "viewDidAppear(_:)", disappear = "viewDidDisappear(_:)", load = { "viewDidLoad()" } }
control { base = "Toolkit.Control", send = "sendAction(_:to:for:)", action = "args.1" }
exposure { base = "Toolkit.View", on = "layout()", frame = "self.frame", within = "self.superview.bounds()" }
delegate { on = "Toolkit.ListView.delegate", call = "list(_:didSelectRowAt:)", event = "list.select", rate = "10/s" }
