-- Rules that name stored fields; no code of the program runs for them.
patch { id = "track", version = "1.0.0", api = 1 }

track "task" { on = "FoundationNetworking.URLSession.dataTask(with: URL, completionHandler: @Sendable (Data?, URLResponse?, (any Error)?) -> ()) -> URLSessionDataTask",
  at = "exit", fields = { url = "args.with", made = "result" } }
track "resume" { on = "FoundationNetworking.URLSessionTask.resume()", fields = { number = "self.taskIdentifier" } }
track "data" { on = "FoundationNetworking.URLSession.data(from:delegate:)", at = "exit", fields = { url = "args.from", got = "result" } }
track "write" { on = "Foundation.FileHandle.write(_: Data)", fields = { bytes = "args.1" } }
track "encode" { on = "FoundationEssentials.JSONEncoder.encode(_: A) throws -> Data", at = "exit", fields = { value = "args.1", bytes = "result" } }
track "values" { on = "Shop.schedule(_:at:with:as:for:)", fields = { date = "args.1", url = "args.at", data = "args.with", id = "args.as", amount = "args.for" } }
