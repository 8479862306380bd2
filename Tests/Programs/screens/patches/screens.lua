patch { id = "screens", api = 1 }
screen { base = "Toolkit.ViewController", appear = "viewDidAppear(_:)", disappear = "viewDidDisappear(_:)", name = "self.title",
  fields = { animated = "args.1" } }
