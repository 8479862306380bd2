-- Requests of URLSession: the async ones as spans, from the call to the answer; every task that is resumed as an event.
patch { id = "preset.foundation.network", api = 1 }
span { on = "FoundationNetworking.URLSession.data(from:delegate:)", optional = true, wait = true, name = "GET", kind = "client",
  attributes = { ["url.full"] = "args.from" } }
span { on = "FoundationNetworking.URLSession.data(for:delegate:)", optional = true, wait = true, name = "request", kind = "client",
  attributes = { request = "args.for" } }
track "task resumed" { on = "FoundationNetworking.URLSessionTask.resume()", optional = true, wait = true, fields = { number = "self.taskIdentifier" } }
