patch { id = "bus", version = "1.0.0", api = 1 }
span {
  on = "Bus.Line.take(_:)", where = "args.1 == 'request'", name = "ride", kind = "server", parent = "args.1.request.headers",
  attributes = { ["url.path"] = "args.1.request.path" },
  ends = {
    on = "Bus.Line.give(_:)", where = "args.1 == 'end'",
    attributes = { code = { path = "args.1.answer.status", map = { ["200"] = 1 } } }, error = "args.1.answer.status >= 500",
  },
  cancels = { on = "Bus.Line.close()" },
}
span { on = "Bus.Line.work()", where = "self.taken < 3" }
