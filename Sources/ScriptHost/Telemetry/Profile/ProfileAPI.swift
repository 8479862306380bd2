// ProfileAPI — `profile { hz = 99 }` in Lua, and the same for the command.
internal import CLuaShim
internal import Journal
internal import LuaBridge

enum ProfileAPI {
  /// Global functions.
  static let functions: [(String, SHLFunction)] = [("profile", profile)]

  /// `profile { hz = 99 }` begins, `profile(false)` ends; unloading the patch ends it, too.
  private static let profile: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      if let refusal = patch.refusal("a profile") { return callback.fail(refusal) }
      let argument = callback[0]
      if argument.tag == SHL_BOOL, !argument.b {
        Profiler.shared.stop()
        return callback.done()
      }
      guard argument.tag == SHL_TABLE else { return callback.fail("profile takes { hz = 99 }, or false to end") }
      var rate = 99
      var problem: String?
      callback.forEach(in: argument) { key, value in
        if key.text == "hz", value.tag == SHL_INT, Profiler.rates.contains(Int(clamping: value.i)) {
          rate = Int(value.i)
        } else {
          problem = "profile: the only field is 'hz', a whole number from 1 to 1000, found \(ValueBridge.spelled(value))"
        }
        return problem == nil
      }
      problem = problem ?? Profiler.shared.start(rate, log: patch.log)
      if let problem { return callback.fail(problem) }
      patch.installation.add { Profiler.shared.stop() }
      return callback.done()
    }
  }
}

extension BootTask {
  /// `run --profile HZ`, and what is written at the end whoever began.
  static let profile = BootTask("profile", .services) { context in
    if let rate = context.settings.text(.profile).flatMap({ Int($0) }), let problem = Profiler.shared.start(rate, log: context.log) {
      context.log.say(problem)
    }
    context.atEnd { Profiler.shared.stop() }
    return .goOn
  }
}
