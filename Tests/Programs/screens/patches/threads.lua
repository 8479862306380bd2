patch { id = "threads", api = 1 }
screen { base = "Toolkit.Handler", during = "handle(_:)", name = "GET {args.1}", fields = { answer = "result" } }
screen { base = "Toolkit.Job", during = "run(_:)", name = "job {args.1}", fields = { answer = "result" } }
track "asked" { on = "Toolkit.Router.handle(_:)", fields = { page = "args.1" } }
