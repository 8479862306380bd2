// TestText — how the outcome of a patch's test is reported.
internal import Journal

enum TestText {
  /// `ok      rounds to cents`, or `FAILED  rounds to cents` with the place and the reason below.
  static func line(_ outcome: ScriptTests.Outcome) -> String {
    guard let problem = outcome.problem else { return "ok      \(outcome.test.name)\n" }
    return "FAILED  \(outcome.test.name)\n        \(problem)\n"
  }

  /// One object with `patch`, `test`, `file`, `line`, `ok`, `ns` and, where it failed, `message`.
  static func json(_ outcome: ScriptTests.Outcome) -> String {
    JSONValue(members:
      ("patch", .string(outcome.test.environment.fileName)), ("test", .string(outcome.test.name)), ("file", .string(outcome.test.file)),
      ("line", JSONValue(outcome.test.line)), ("ok", .bool(outcome.failure == nil)), ("ns", JSONValue(outcome.nanoseconds)),
      ("message", outcome.problem.map { .string($0) })).line + "\n"
  }
}

extension ScriptTests.Outcome {
  /// Why the test failed, behind file and line, where it did. Messages begin with these where Lua knows them; of the support's own lines, such as
  /// those of stubs, nobody wants to know.
  var problem: String? {
    guard let failure else { return nil }
    var message = failure[...]
    if let rest = message.removingPrefix("test:") {
      let digits = rest.prefix { $0.isNumber }
      if !digits.isEmpty, rest.dropFirst(digits.count).hasPrefix(": ") { message = rest.dropFirst(digits.count + 2) }
    }
    if [test.file, test.environment.fileName].contains(where: { message.hasPrefix($0 + ":") }) { return String(message) }
    return "\(test.file):\(test.line): \(message)"
  }
}

extension Substring {
  fileprivate func removingPrefix(_ prefix: String) -> Substring? { hasPrefix(prefix) ? dropFirst(prefix.count) : nil }
}
