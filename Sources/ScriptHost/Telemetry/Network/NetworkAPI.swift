// NetworkAPI — `network { traceparent = true, hosts = "*.internal" }` in Lua, and the same for the command.
internal import CLuaShim
internal import Journal
internal import LuaBridge

enum NetworkAPI {
  /// Global functions.
  static let functions: [(String, SHLFunction)] = [("network", network)]

  /// What a script asks for ends with it.
  private static let network: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      if let refusal = patch.refusal("a watch of requests") { return callback.fail(refusal) }
      var settings = NetworkSettings()
      guard callback[0].tag == SHL_TABLE else { return callback.fail("network takes a table, such as { traceparent = true }, or {}") }
      var problem: String?
      var isOptional = false
      callback.forEach(in: callback[0]) { key, value in
        switch (key.text, value.tag) {
        case ("traceparent", SHL_BOOL): settings.traceparent = value.b
        case ("hosts", SHL_STRING): settings.hosts = value.text ?? "*"
        case ("optional", SHL_BOOL): isOptional = value.b
        case ("optional"?, _), ("traceparent"?, _): problem = "network: '\(key.text!)' is true or false, found \(ValueBridge.spelled(value))"
        case ("hosts", _): problem = "network: 'hosts' is a pattern such as \"*.internal\", found \(ValueBridge.spelled(value))"
        default: problem = "network: unknown field '\(key.text ?? "")'; known are traceparent, hosts, optional"
        }
        return problem == nil
      }
      if let problem { return callback.fail(problem) }
      let owner = ObjectIdentifier(patch.installation)
      if let problem = NetworkWatch.shared.start(settings, owner: owner, log: patch.log).first {
        guard isOptional else { return callback.fail(problem) }
        patch.log.note("rule left out", "\(patch.fileName): \(problem)")
        return callback.done()
      }
      patch.installation.add { NetworkWatch.shared.stop(owner: owner) }
      return callback.done()
    }
  }
}

extension BootTask {
  /// `run --network`.
  static let network = BootTask("network", .services) { context in
    guard context.settings.has(.network) else { return .goOn }
    for problem in NetworkWatch.shared.start(NetworkSettings(), owner: ObjectIdentifier(NetworkWatch.shared), log: context.log) {
      context.log.say(problem)
    }
    return .goOn
  }
}
