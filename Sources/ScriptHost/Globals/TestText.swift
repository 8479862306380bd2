// TestText — how the outcome of a patch's test is reported.
internal import Journal

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

  /// Messages begin with file and line where Lua knows them. Of the support's own lines, such as those of stubs, nobody wants to know.
  private static func place(_ outcome: ScriptTests.Outcome, _ failure: String) -> String {
    let file = outcome.test.file
    var message = failure[...]
    if let rest = message.removingPrefix("test:") {
      let digits = rest.prefix { $0.isNumber }
      if !digits.isEmpty, rest.dropFirst(digits.count).hasPrefix(": ") { message = rest.dropFirst(digits.count + 2) }
    }
    if [file, outcome.test.environment.fileName].contains(where: { message.hasPrefix($0 + ":") }) { return String(message) }
    return "\(file):\(outcome.test.line): \(message)"
  }
}

extension Substring {
  fileprivate func removingPrefix(_ prefix: String) -> Substring? { hasPrefix(prefix) ? dropFirst(prefix.count) : nil }
}
