// Where the input of a console comes from: a pipe, or a person at a terminal.
internal import Glibc
internal import Journal

extension ConsoleClient {
  // MARK: Piped

  /// Runs an input that is no terminal: its commands as they come, what stands between them as one snippet each. Answers the exit status.
  ///
  /// An input that ends with :trace goes on with the calls until the program ends.
  /// - Parameter isHeld: the program waits for the end of the session.
  func runPiped(isHeld: Bool = false) throws(Failure) -> Int32 {
    let input = PipedInput()
    var snippet = PipedSnippet()
    var number = 0
    var traces = false
    while let line = input.line(beside: live) {
      number += 1
      if line.hasPrefix(":") {
        try evaluate(snippet.take(), firstLine: snippet.firstLine)
        let failures = failures
        if try !command(line) { break }
        traces = line.hasPrefix(":trace ") && failures == self.failures
      } else if snippet.add(line, number) {
        traces = false
      }
    }
    try evaluate(snippet.take(), firstLine: snippet.firstLine)
    if traces { follow(isHeld: isHeld) }
    end()
    return failures == 0 ? 0 : 1
  }

  /// Shows calls until the program ends.
  private func follow(isHeld: Bool) {
    if isHeld { _ = try? connection.ask("go") }
    while !prints.isOver {
      live.wait()
      live.show()
    }
  }

  // MARK: Interactive

  /// Reads and runs until the end; answers the exit status.
  /// - Parameter output: what the program writes, where this terminal shows it.
  func run(_ history: ConsoleHistory, beside output: ProgramOutput? = nil) throws(Failure) -> Int32 {
    let interrupter = try Interrupter(standing.process, session)
    defer { interrupter.end() }
    let live = live + (output.map { [$0] } ?? [])
    let editor = LineEditor(history: history.load())
    editor.entered = { history.add($0) }
    editor.beside = live
    editor.isOver = { [prints] in prints.isOver }
    var snippet = ""
    editor.complete = { [self] text in snippet.isEmpty && text.hasPrefix(":") ? completeCommand(text) : complete(text) }
    while true {
      switch editor.read(snippet.isEmpty ? "> " : ". ") {
      case .end:
        end()
        return 0
      case .interrupt: snippet = ""
      case .gone:
        // Fails, with what became of it, where the process is gone.
        _ = try connection.ask("status", timeout: 2000)
        throw Failure(status: 1, sentence: "process \(standing.process.pid) ended the session")
      case .line(let line):
        if snippet.isEmpty, line.hasPrefix(":") {
          editor.remember(line)
          guard try command(line) else {
            end()
            return 0
          }
          live.show()
          continue
        }
        snippet += (snippet.isEmpty ? "" : "\n") + line
        if Self.needsMore(snippet) { continue }
        editor.remember(snippet)
        try evaluate(snippet)
        live.show()
        snippet = ""
      }
    }
  }

  private func complete(_ text: String, of kind: String? = nil) -> (words: [String], start: Int) {
    let members = [JSONValue.Member("text", .string(text))] + (kind.map { [.init("of", .string($0))] } ?? [])
    guard let answer = try? ask("console.complete", members) else { return ([], 0) }
    return (answer["words"]?.elements?.compactMap(\.text) ?? [], Int(clamping: answer["start"]?.int ?? 0))
  }

  /// The names of commands, and what they are about.
  private func completeCommand(_ text: String) -> (words: [String], start: Int) {
    guard let blank = text.firstIndex(of: " ") else { return (Self.commandNames.map { ":" + $0 }.filter { $0.hasPrefix(text) && $0 != text }, 0) }
    guard let kind = Self.argumentKinds[String(text[..<blank].dropFirst())] else { return ([], 0) }
    let argument = text[blank...].drop { $0 == " " }
    return (complete(String(argument), of: kind).words, text.utf8.count - argument.utf8.count)
  }
}

/// The lines of a piped input that are one snippet.
private struct PipedSnippet {
  private var lines: [String] = []
  /// Where it begins in the input.
  private(set) var firstLine = 1

  /// True when the line says something.
  mutating func add(_ line: String, _ number: Int) -> Bool {
    let isBlank = line.allSatisfy(\.isWhitespace)
    if lines.isEmpty, isBlank { return false }
    if lines.isEmpty { firstLine = number }
    lines.append(line)
    return !isBlank
  }

  /// Its text, without blank lines behind it: a mistake at its end has the line of its end.
  mutating func take() -> String {
    defer { lines = [] }
    return lines.reversed().drop { $0.allSatisfy(\.isWhitespace) }.reversed().joined(separator: "\n")
  }
}
