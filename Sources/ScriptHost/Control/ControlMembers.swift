// ControlMembers — what a request says: its members, each of the type that its verb takes. One of another type is an error of the client.
internal import Journal

/// Why a request is none, in a sentence.
package struct ControlProblem: Error, Sendable {
  package let sentence: String
  package init(_ sentence: String) { self.sentence = sentence }
}

extension ControlCall {
  /// A text; nil where there is none.
  package func text(_ name: String) throws(ControlProblem) -> String? {
    guard let value = member(name) else { return nil }
    guard let text = value.text else { throw wrong(name, "a text", value) }
    return text
  }

  /// A text that must be there.
  /// - Parameter what: what it says, such as "the id of a patch".
  package func text(_ name: String, _ what: String) throws(ControlProblem) -> String {
    guard let text = try text(name) else { throw ControlProblem("'\(verb)' needs '\(name)', \(what)") }
    return text
  }

  /// A truth value; nil where there is none.
  package func flag(_ name: String) throws(ControlProblem) -> Bool? {
    guard let value = member(name) else { return nil }
    guard let flag = value.bool else { throw wrong(name, "true or false", value) }
    return flag
  }

  /// A whole number from `least` on; nil where there is none.
  package func number(_ name: String, from least: Int64) throws(ControlProblem) -> Int64? {
    guard let value = member(name) else { return nil }
    guard let number = value.int, number >= least else { throw wrong(name, "a whole number, \(least) or more", value) }
    return number
  }

  /// At most so many are answered.
  package func limit() throws(ControlProblem) -> Int { Int(clamping: try number("limit", from: 0) ?? 1000) }

  private var verb: String { EventText.printable(request["do"]?.text ?? "") }

  /// Null stands for what is not there.
  private func member(_ name: String) -> JSONValue? {
    guard let value = request[name], value != .null else { return nil }
    return value
  }

  private func wrong(_ name: String, _ expected: String, _ found: JSONValue) -> ControlProblem {
    ControlProblem("'\(name)' of '\(verb)' is \(expected); found \(EventText.printable(String(found.line.prefix(64))))")
  }
}
