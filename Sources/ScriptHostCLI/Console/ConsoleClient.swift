// ConsoleClient — the terminal side of the console: input, commands that begin with ':', what is shown.
internal import Glibc
internal import Journal
internal import LuaSyntax
internal import ScriptHost
private import Synchronization

final class ConsoleClient {
  /// Kept open as long as the session: its end ends that.
  private let standing: ControlConnection
  private let connection: ControlConnection
  private let session: Int64
  private let isJSON: Bool
  /// Where the journal of the process may be.
  private let state: RawPath?
  /// For :save.
  private var saved = SavedSession()
  private var failed = false

  init(_ process: HostedProcess, write: Bool, isJSON: Bool, state: RawPath?) throws(Failure) {
    self.state = state
    standing = try ControlConnection(process)
    connection = try ControlConnection(process)
    self.isJSON = isJSON
    var number: Int64?
    _ = try standing.ask("console.open", [.init("write", .bool(write)), .init("completes", .bool(isatty(STDIN_FILENO) == 1))]) { line in
      number = line["session"]?.int
      return false
    }
    guard let number else { throw Failure(status: 1, sentence: "process \(process.pid) opened no session") }
    session = number
  }

  private func ask(_ verb: String, _ members: [JSONValue.Member], more: (JSONValue) -> Bool = { _ in true }) throws(Failure) -> JSONValue {
    try connection.ask(verb, [.init("session", .int(session))] + members, timeout: -1, more: more)
  }

  // MARK: Piped

  /// Runs the whole input as one snippet, or its commands line by line; answers the exit status.
  func runPiped(_ text: String) throws(Failure) -> Int32 {
    var snippet = ""
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix(":") {
        try evaluate(snippet)
        snippet = ""
        if try !command(String(line)) { return failed ? 1 : 0 }
        continue
      }
      snippet += line + "\n"
    }
    try evaluate(snippet)
    return failed ? 1 : 0
  }

  // MARK: Interactive

  /// Reads and runs until the end; answers the exit status.
  /// - Parameter output: what the program writes, where this terminal shows it.
  func run(_ history: ConsoleHistory, beside output: ProgramOutput? = nil) throws(Failure) -> Int32 {
    let interrupter = try Interrupter(standing.process, session)
    defer { interrupter.end() }
    let editor = LineEditor(history: history.load())
    editor.entered = { history.add($0) }
    editor.beside = output
    editor.complete = { [self] text in
      guard let answer = try? ask("console.complete", [.init("text", .string(text))]) else { return ([], 0) }
      return (answer["words"]?.elements?.compactMap(\.text) ?? [], Int(clamping: answer["start"]?.int ?? 0))
    }
    var snippet = ""
    while true {
      switch editor.read(snippet.isEmpty ? "> " : ". ") {
      case .end: return 0
      case .interrupt: snippet = ""
      case .line(let line):
        if snippet.isEmpty, line.hasPrefix(":") {
          if try !command(line) { return 0 }
          output?.show()
          continue
        }
        snippet += (snippet.isEmpty ? "" : "\n") + line
        if Self.needsMore(snippet) { continue }
        try evaluate(snippet)
        output?.show()
        snippet = ""
      }
    }
  }

  /// The text only ends too early, as a statement and as a value.
  static func needsMore(_ text: String) -> Bool {
    guard let problem = Script(SourceText(text)).problem else { return false }
    guard let asValue = Script(SourceText("return " + text)).problem else { return false }
    return problem.needsMore || asValue.needsMore
  }

  // MARK: Snippets

  /// - Parameter isKept: it is part of what :save writes.
  private func evaluate(_ text: String, isKept: Bool = true) throws(Failure) {
    if text.allSatisfy(\.isWhitespace) { return }
    let answer = try ask("console.eval", [.init("text", .string(text))]) { line in
      if isJSON { Output.line(line.withoutEnvelope.line) } else if let text = line["print"]?.text { 
        Output.line(text.split(separator: "\n", omittingEmptySubsequences: false).map(Self.printable).joined(separator: "\n"))
      }
      Output.flush()
      return true
    }
    let changed = answer["changes"]?.bool == true
    if isKept, answer["failed"] == nil { saved.add(text.trimmingNewlines, isChange: changed) }
    show(answer)
  }

  /// A line that was printed; tabs stay between its values.
  private static func printable(_ line: Substring) -> String {
    line.split(separator: "\t", omittingEmptySubsequences: false).map { EventText.printable(String($0)) }.joined(separator: "\t")
  }

  private func show(_ answer: JSONValue) {
    if answer["failed"] != nil { failed = true }
    if isJSON { Output.line(answer.withoutEnvelope.line) } else if let message = answer["failed"]?.text {
      Output.line(message)
    } else if let text = answer["text"]?.text {
      Output.line(text)
    }
    Output.flush()
  }

  // MARK: Commands

  private static let help = """
    :types [GLOB]     types of the program              :methods [GLOB]   selectors with their types
    :explain SELECTOR how far a hook reaches            :hooks            hooks that are installed
    :patches          patches and their states          :page [N]         the last value from element N on
    :trace SELECTOR   print each call (with --write)    :untrace          end that
    :track SELECTOR   record each call (with --write)   :events [N]       the last N records of the process
    :heap TYPE        live objects of a class           :save FILE        the session's hooks and rules as a patch
    :go               let a held program run            :top              what hooks take of its time
    :help             this                              :quit             end the session
    Everything else is Lua. The last values are _, _1, _2 and _3. Tab completes, Ctrl-C stops a snippet.
    """

  /// False: the session is to end.
  private func command(_ line: String) throws(Failure) -> Bool {
    let words = line.dropFirst().split(separator: " ", maxSplits: 1).map(String.init)
    let argument = words.count > 1 ? words[1] : ""
    switch words.first ?? "" {
    case "quit", "q", "exit": return false
    case "help", "": Output.line(Self.help)
    case "go":
      do throws(Failure) { _ = try connection.ask("go") } catch { Output.line(error.sentence) }
    case "top":
      let before = try connection.ask("top")
      usleep(1_000_000)
      for line in TopInterval(before, try connection.ask("top")).lines(try connection.ask("status"), patchesOnly: false) { Output.line(line) }
    case "events": showEvents(argument)
    case "types", "methods", "hooks", "heap":
      let answer = try ask("console.command", [.init("command", .string(words[0])), .init("argument", .string(argument))])
      if isJSON { Output.line(answer.withoutEnvelope.line) } else { for line in answer["lines"]?.elements ?? [] { Output.line(line.text ?? "") } }
    case "patches":
      let patches = try connection.ask("patches")["patches"]?.elements ?? []
      if isJSON { for patch in patches { Output.line(patch.line) } } else if patches.isEmpty { Output.line("no patches") } else { PatchTable.show(patches) }
    case "explain": try evaluate("print(explain(\(Self.quoted(argument))))", isKept: false)
    case "page": show(try ask("console.page", [.init("from", .int(Int64(argument) ?? 1))]))
    case "trace":
      try evaluate("traced = traced or {} traced[#traced + 1] = method(\(Self.quoted(argument))):after(function(call, ...) print(call.selector, ...) end)", isKept: false)
    case "untrace": try evaluate("for _, hook in ipairs(traced or {}) do hook:remove() end traced = nil", isKept: false)
    case "track": try evaluate("track(\(Self.quoted(argument))) { on = \(Self.quoted(argument)), fields = { duration = 'duration' } }")
    case "save": try save(argument)
    case let other:
      failed = true
      Output.line("no command ':\(EventText.printable(other))'; see :help")
    }
    Output.flush()
    return true
  }

  /// The last records of the process.
  private func showEvents(_ argument: String) {
    guard let count = argument.isEmpty ? 20 : Int(argument), (1...10_000).contains(count) else { return Output.line(":events takes a number, 1 to 10000") }
    let lines = JournalView.lines(of: standing.process.pid, state: state, last: count, isJSON: isJSON)
    for line in lines { Output.line(line) }
    if lines.isEmpty { Output.line("nothing of this process is recorded in the state directory; --state names another") }
  }

  private static func quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }

  /// What changed the program, as a patch with a test.
  private func save(_ name: String) throws(Failure) {
    guard !name.isEmpty else { return Output.line(":save takes a file") }
    let program = (try connection.ask("status"))["program"]?.text.flatMap { $0.split(separator: "/").last.map(String.init) } ?? ""
    var id = name.split(separator: "/").last.map(String.init) ?? "console"
    if id.hasSuffix(".lua") { id.removeLast(4) }
    // An id has these characters only, and stands in a Lua text.
    id = String(id.map { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) ? $0 : "-" }.prefix(64))
    guard let text = saved.patch(id: id, program: program) else { return Output.line("nothing of this session changed the program") }
    do throws(Failure) {
      try TextFile.write(text, to: RawPath(name), replacing: false)
      Output.line("wrote \(name)")
      let values = saved.lastValues
      if !values.isEmpty { Output.line("it asks for \(values.joined(separator: ", ")), the last values of a session, which a patch does not have; give them names") }
    } catch { Output.line(error.sentence) }
  }
}

/// Has Ctrl-C stop the snippet: a thread of the command takes the signal and asks by a connection of its own.
final class Interrupter: @unchecked Sendable {
  // The connection belongs to the thread.
  /// Who gets what comes after the session: 0, nobody.
  private static let successor = Atomic<Int32>(0)

  /// From now on Ctrl-C is for the process.
  static func forward(to process: pid_t) { successor.store(process, ordering: .relaxed) }

  private let connection: ControlConnection
  private let session: Int64

  init(_ process: HostedProcess, _ session: Int64) throws(Failure) {
    connection = try ControlConnection(process)
    self.session = session
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGINT)
    pthread_sigmask(SIG_BLOCK, &set, nil)
    CommandThread.start { self.wait() }
  }

  private func wait() {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGINT)
    while true {
      var signal: Int32 = 0
      sigwait(&set, &signal)
      let successor = Self.successor.load(ordering: .relaxed)
      if successor != 0 {
        kill(successor, SIGINT)
        continue
      }
      _ = try? connection.ask("console.interrupt", [.init("session", .int(session))])
    }
  }

  func end() {}
}

extension Subcommand {
  static let attach = Subcommand(
    name: "attach", summary: "look around inside a running process",
    synopsis: "[--write] [--json] [--state DIR] [PID]",
    description: [
      "Opens a console in a process that runs under ScriptHost: Lua as in a patch, with the program's types, values and selectors. Without --write it reads only: hooks, calls and writes are refused. Each change is in the journal. What a session installed goes with it.",
      "Input that is no terminal is run as it comes, and the status tells whether a snippet failed. Without PID it means the only process there is.",
    ],
    options: [
      Option(long: "write", help: "Allows hooks, calls and writes; each is recorded."), .json, .controlState,
    ],
    operands: .optional("PID", .none), exitStatuses: ExitStatus.control,
    examples: [
      ("scripthost attach", "A console in the only process."), ("echo 'hooks()' | scripthost attach 4711", "One snippet, for a script."),
    ],
    seeAlso: ["ps", "status", "run"]
  ) { arguments in
    let process = try HostedProcess.find(arguments.operand(0), state: arguments.controlState).process
    let client = try ConsoleClient(process, write: arguments.has("--write"), isJSON: arguments.has("--json"), state: arguments.controlState)
    if isatty(STDIN_FILENO) == 1 { return try client.run(ConsoleHistory(state: arguments.controlState)) }
    return try client.runPiped(StandardInput.all())
  }
}

extension String {
  /// The text that is left when line ends around it are taken away.
  fileprivate var trimmingNewlines: String { String(drop { $0 == "\n" }.reversed().drop { $0 == "\n" }.reversed()) }
}
