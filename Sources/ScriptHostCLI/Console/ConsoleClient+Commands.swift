// The commands of the console, which begin with ':'.
internal import Glibc
internal import Journal
internal import ScriptHost

extension ConsoleClient {
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

  static let commandNames = [
    "events", "explain", "go", "heap", "help", "hooks", "methods", "page", "patches", "quit", "save", "top", "trace", "track", "types", "untrace",
  ]
  /// What completes the argument of a command: `of` of console.complete.
  static let argumentKinds = [
    "types": "types", "heap": "types", "methods": "selectors", "explain": "selectors", "trace": "selectors", "track": "selectors",
  ]

  /// False: the session is to end.
  func command(_ line: String) throws(Failure) -> Bool {
    let words = line.dropFirst().split(separator: " ", maxSplits: 1).map(String.init)
    let argument = words.count > 1 ? String(words[1].drop { $0 == " " }) : ""
    if argument.isEmpty, ["explain", "trace", "track"].contains(words.first ?? "") {
      fail(":\(words[0]) takes a selector, such as Shop.Cart.total(tax:)")
      return true
    }
    switch words.first ?? "" {
    case "quit", "q", "exit": return false
    case "help", "": Output.line(Self.help)
    case "go": do throws(Failure) { _ = try connection.ask("go") } catch { fail(error.sentence) }
    case "top": try showTop()
    case "events": showEvents(argument)
    case "types", "methods", "hooks", "heap":
      let answer = try ask("console.command", [.init("command", .string(words[0])), .init("argument", .string(argument))])
      if isJSON || answer["failed"] != nil { show(answer) } else { for line in answer["lines"]?.elements ?? [] { Output.line(line.text ?? "") } }
    case "patches":
      let patches = try connection.ask("patches")["patches"]?.elements ?? []
      if isJSON {
        for patch in patches { Output.line(patch.line) }
      } else if patches.isEmpty {
        Output.line("no patches")
      } else {
        PatchTable.show(patches)
      }
    case "explain": try evaluate("print(explain(\(Self.quoted(argument))))", isKept: false)
    case "page":
      guard let from = argument.isEmpty ? 1 : Int64(argument), from >= 1 else {
        fail(":page takes a number, 1 or more; found '\(EventText.printable(argument))'")
        break
      }
      show(try ask("console.page", [.init("from", .int(from))]))
    case "trace":
      try evaluate(
        "traced = traced or {} traced[#traced + 1] = method(\(Self.quoted(argument))):after(function(call, ...) print(call.selector, ...) end)",
        isKept: false)
    case "untrace": try evaluate("for _, hook in ipairs(traced or {}) do hook:remove() end traced = nil", isKept: false)
    case "track": try evaluate("track(\(Self.quoted(argument))) { on = \(Self.quoted(argument)), fields = { duration = 'duration' } }")
    case "save": try save(argument)
    case let other: fail("no command ':\(EventText.printable(other))'; see :help")
    }
    Output.flush()
    return true
  }

  private func showTop() throws(Failure) {
    let before = try connection.ask("top")
    usleep(1_000_000)
    for line in TopInterval(before, try connection.ask("top")).lines(try connection.ask("status"), patchesOnly: false) { Output.line(line) }
  }

  /// The last records of the process.
  private func showEvents(_ argument: String) {
    guard let count = argument.isEmpty ? 20 : Int(argument), (1...10_000).contains(count) else {
      return fail(":events takes a number, 1 to 10000; found '\(EventText.printable(argument))'")
    }
    let lines = JournalView.lines(of: standing.process.pid, state: state, last: count, isJSON: isJSON)
    for line in lines { Output.line(line) }
    if lines.isEmpty { Output.line("nothing of this process is recorded in the state directory; --state names another") }
  }

  private static func quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }

  /// What changed the program, as a patch with a test.
  private func save(_ name: String) throws(Failure) {
    guard !name.isEmpty else { return fail(":save takes a file") }
    let program = (try connection.ask("status"))["program"]?.text.flatMap { $0.split(separator: "/").last.map(String.init) } ?? ""
    var id = name.split(separator: "/").last.map(String.init) ?? "console"
    if id.hasSuffix(".lua") { id.removeLast(4) }
    // An id has these characters only, and stands in a Lua text.
    id = String(id.map { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) ? $0 : "-" }.prefix(64))
    guard let text = saved.patch(id: id, program: program) else { return fail("nothing of this session changed the program") }
    do throws(Failure) {
      try TextFile.write(text, to: RawPath(name), replacing: false)
      Output.line("wrote \(name)")
      let values = saved.lastValues
      if !values.isEmpty {
        Output.line("it asks for \(values.joined(separator: ", ")), the last values of a session, which a patch does not have; give them names")
      }
    } catch { fail(error.sentence) }
  }
}
