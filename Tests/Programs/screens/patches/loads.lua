patch { id = "loads", api = 1 }
screen { base = "Toolkit.ViewController", appear = "viewDidAppear(_:)", disappear = "viewDidDisappear(_:)", name = "self.title",
  load = { "loadView()", "viewDidLoad()" } }
span { on = "App.fetch(_:)", name = "fetch {args.1}" }
