patch { id = "handlers", api = 1 }
screen { base = "Toolkit.Handler", during = "handle(_:)", name = "GET {args.1}", fields = { answer = "result", error = "error" } }
