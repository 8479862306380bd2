// StallAPI — `stalls { main = "250ms" }` in Lua, and the same for the command.
internal import CLuaShim
internal import Journal
internal import LuaBridge

enum StallAPI {
  /// Global functions.
  static let functions: [(String, SHLFunction)] = [("stalls", stalls)]

  /// What a script asks for ends with it; a second call replaces the first.
  private static let stalls: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      if let refusal = patch.refusal("a watch of stalls") { return callback.fail(refusal) }
      switch StallSettings.read(callback[0], callback) {
      case .failure(let problem): return callback.fail(problem.text)
      case .success(let settings):
        if settings.end != nil, let refusal = patch.refusal("an end of the process", "stalls") { return callback.fail(refusal) }
        let installation = patch.installation
        for problem in StallWatch.shared.watch(settings, owner: ObjectIdentifier(installation), log: patch.log) {
          patch.log.say("\(patch.fileName): \(problem)")
        }
        let owner = ObjectIdentifier(installation)
        installation.add { StallWatch.shared.withdraw(owner: owner) }
        return callback.done()
      }
    }
  }
}

extension BootTask {
  /// `run --stalls TIME`: main thread and pool.
  static let stalls = BootTask("stalls", .services) { context in
    guard let text = context.settings.text(.stalls), let limit = UInt64(text) else { return .goOn }
    let limits = StallSettings(main: limit, pool: limit, loops: limit)
    for problem in StallWatch.shared.watch(limits, owner: ObjectIdentifier(StallWatch.shared), log: context.log) { context.log.say(problem) }
    return .goOn
  }
}
