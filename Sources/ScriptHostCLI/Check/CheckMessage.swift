// CheckMessage — one thing a check has to say, at a place.
internal import Journal
internal import LuaSyntax

struct CheckMessage {
  enum Severity: String { case error, warning }
  let severity: Severity
  let position: SourcePosition
  /// One sentence, lower case, no period.
  let message: String

  /// `banner.lua:3:8: no selector …`; warnings say so.
  func line(_ file: String) -> String { "\(file):\(position): \(severity == .warning ? "warning: " : "")\(message)" }

  func json(_ file: String) -> String {
    JSONValue(members:
      ("file", .string(file)), ("line", JSONValue(position.line)), ("column", JSONValue(position.column)),
      ("severity", .string(severity.rawValue)), ("message", .string(message))).line
  }
}
