// TestText — how the outcome of a patch's test is reported.
internal import Journal
internal import LuaBridge

enum TestText {
  /// `ok      rounds to cents`, or `FAILED  rounds to cents` with the place and the reason below.
  static func line(_ outcome: ScriptTests.Outcome) -> String {
    guard let failure = outcome.failure else { return "ok      \(outcome.test.name)\n" }
    return "FAILED  \(outcome.test.name)\n        \(place(outcome, failure))\n"
  }

  /// One object with `patch`, `test`, `file`, `line`, `ok`, `ns` and, where it failed, `message`.
  static func json(_ outcome: ScriptTests.Outcome) -> String {
    var text = "{\"patch\":"
    EventText.append(json: outcome.test.environment.fileName, to: &text)
    text += ",\"test\":"
    EventText.append(json: outcome.test.name, to: &text)
    text += ",\"file\":"
    EventText.append(json: outcome.test.file, to: &text)
    text += ",\"line\":\(outcome.test.line),\"ok\":\(outcome.failure == nil),\"ns\":\(outcome.nanoseconds)"
    if let failure = outcome.failure {
      text += ",\"message\":"
      EventText.append(json: place(outcome, failure), to: &text)
    }
    return text + "}\n"
  }

  /// Messages begin with file and line where Lua knows them.
  private static func place(_ outcome: ScriptTests.Outcome, _ failure: LuaFailure) -> String {
    let file = outcome.test.file
    return failure.message.hasPrefix(file + ":") ? failure.message : "\(file):\(outcome.test.line): \(failure.message)"
  }
}
