// ConsoleClient — the command's side of a session of the console: snippets, what they answer, and what is printed meanwhile.
internal import Glibc
internal import Journal
internal import LuaSyntax
internal import ScriptHost

final class ConsoleClient {
  /// Kept open as long as the session: its end ends that. What hooks print comes by it.
  let standing: ControlConnection
  let connection: ControlConnection
  let session: Int64
  let isJSON: Bool
  /// Where the journal of the process may be.
  let state: RawPath?
  let prints: SessionPrints
  /// For :save.
  var saved = SavedSession()
  /// How much of what was asked failed.
  private(set) var failures = 0
  var live: [any LiveText] { [prints] }

  /// - Parameter holds: a program that waits before its main function is let go when the session ends, however that comes.
  init(_ process: HostedProcess, write: Bool, isJSON: Bool, state: RawPath?, holds: Bool = false) throws(Failure) {
    self.state = state
    standing = try ControlConnection(process)
    connection = try ControlConnection(process)
    self.isJSON = isJSON
    var number: Int64?
    let wishes: [JSONValue.Member] = [
      .init("write", .bool(write)), .init("completes", .bool(isatty(STDIN_FILENO) == 1)), .init("holds", .bool(holds)),
    ]
    _ = try standing.ask("console.open", wishes) { line in
      number = line["session"]?.int
      return false
    }
    guard let number else { throw Failure(status: 1, sentence: "process \(process.pid) opened no session") }
    session = number
    prints = SessionPrints(standing, isJSON: isJSON)
  }

  func ask(_ verb: String, _ members: [JSONValue.Member], more: (JSONValue) -> Bool = { _ in true }) throws(Failure) -> JSONValue {
    try connection.ask(verb, [.init("session", .int(session))] + members, timeout: -1, more: more)
  }

  /// Ends the session, and shows what was printed until then.
  func end() {
    // Code of the program that a snippet called may still run: it is not waited for.
    guard (try? connection.ask("console.close", [.init("session", .int(session))], timeout: 2000)) != nil else { return }
    while !prints.isOver, standing.awaitLine(2000) { live.show() }
  }

  // MARK: Snippets

  /// - Parameters:
  ///   - firstLine: where it begins in the input, for messages.
  ///   - isKept: it is part of what :save writes.
  func evaluate(_ text: String, firstLine: Int = 1, isKept: Bool = true) throws(Failure) {
    if text.allSatisfy(\.isWhitespace) { return }
    live.show()
    let placed = String(repeating: "\n", count: firstLine - 1) + text
    let answer = try ask("console.eval", [.init("text", .string(placed))]) { line in
      if let text = SessionPrints.text(line, isJSON: isJSON) { Output.line(text) }
      Output.flush()
      return true
    }
    if isKept, answer["failed"] == nil { saved.add(text, isChange: answer["changes"]?.bool == true) }
    show(answer)
  }

  func show(_ answer: JSONValue) {
    if answer["failed"] != nil { failures += 1 }
    if isJSON { Output.line(answer.withoutEnvelope.line) } else if let message = answer["failed"]?.text {
      Output.line(message)
    } else if let text = answer["text"]?.text {
      Output.line(text)
    }
    Output.flush()
  }

  /// Something failed that no snippet was asked for.
  func fail(_ sentence: String) { show(.object([.init("failed", .string(sentence))])) }

  /// The text only ends too early, as a statement and as a value.
  static func needsMore(_ text: String) -> Bool {
    guard let problem = Script(SourceText(text)).problem else { return false }
    guard let asValue = Script(SourceText("return " + text)).problem else { return false }
    return problem.needsMore || asValue.needsMore
  }
}
