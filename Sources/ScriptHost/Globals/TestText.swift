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
    JSONValue(members:
      ("patch", .string(outcome.test.environment.fileName)), ("test", .string(outcome.test.name)), ("file", .string(outcome.test.file)),
      ("line", JSONValue(outcome.test.line)), ("ok", .bool(outcome.failure == nil)), ("ns", JSONValue(outcome.nanoseconds)),
      ("message", outcome.failure.map { .string(place(outcome, $0)) })).line + "\n"
  }

  /// Messages begin with file and line where Lua knows them.
  private static func place(_ outcome: ScriptTests.Outcome, _ failure: LuaFailure) -> String {
    let file = outcome.test.file
    return failure.message.hasPrefix(file + ":") ? failure.message : "\(file):\(outcome.test.line): \(failure.message)"
  }
}
