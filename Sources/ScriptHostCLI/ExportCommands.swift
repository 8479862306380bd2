// ExportCommands — export, query and report: what a person types is checked here, the sidecar scripthost-export does the work.
internal import Glibc
internal import Journal
internal import ScriptHost

extension Subcommand {
  private static let sourceOptions = [
    Option(long: "program", value: "PROGRAM", help: "Only of programs with this name.", completion: .program),
    Option(
      long: "since", value: "WHEN",
      help: "Only what is newer: a duration such as 10m, or a time in UTC such as 2026-01-31T07:05:00Z."),
    Option(
      long: "state", value: "DIR", help: "Reads the journal of this state directory; the default is that of run.", completion: .directory),
  ]

  static let export = Subcommand(
    name: "export",
    summary: "hand what was recorded to other tools",
    synopsis:
      """
      (--otlp URL | --prometheus ADDRESS | --perfetto FILE | --speedscope FILE | --folded FILE | --sqlite FILE | --jsonl FILE) [--follow] \
      [--program PROGRAM] [--since WHEN] [--state DIR]
      """,
    description: [
      """
      Reads the journals of all programs that ran with this state directory, also of running and of killed ones, and hands spans, metrics, \
      network requests, screens, events and logs on. It works outside of the programs: they never use the network for it, and never wait.
      """,
      """
      --otlp sends to an OpenTelemetry collector (OTLP over HTTP, protobuf: traces, metrics and logs), from where the last export to that \
      address stopped. A collector that is down or busy is tried again, with growing pauses; what it has not taken stays in the journal. \
      Each record is delivered at least once, with the same ids when it comes again.
      """,
      "--prometheus answers GET /metrics at the address with the newest value of each metric, until it is interrupted.",
      """
      --perfetto opens in ui.perfetto.dev, --speedscope in speedscope.app; --folded is for flame graph tools; --sqlite makes a database, \
      or brings one up to date; FILE may be - for standard output, but for --sqlite.
      """,
    ],
    options: [
      Option(long: "otlp", value: "URL", help: "Sends to the collector at this address, such as http://127.0.0.1:4318."),
      Option(
        long: "header", value: "NAME=VALUE", repeats: true, help: "Sends this header with each request of --otlp, such as a token."),
      Option(long: "prometheus", value: "ADDRESS", help: "Serves metrics at HOST:PORT, such as 127.0.0.1:9464."),
      Option(
        long: "perfetto", value: "FILE", help: "Writes a trace: Perfetto's own form, or trace events in JSON where FILE ends in .json.",
        completion: .file),
      Option(long: "speedscope", value: "FILE", help: "Writes a profile as JSON.", completion: .file),
      Option(long: "folded", value: "FILE", help: "Writes stacks with the nanoseconds spent in each.", completion: .file),
      Option(long: "sqlite", value: "FILE", help: "Writes tables: sessions, records, spans, metrics.", completion: .file),
      Option(long: "jsonl", value: "FILE", help: "Writes one JSON object per record.", completion: .file),
      Option(long: "follow", short: "f", help: "With --otlp: goes on with what is recorded from now on, until interrupted."),
    ] + sourceOptions,
    operands: .none,
    exitStatuses: [.success, ExitStatus(code: "1", meaning: "not all was delivered; nothing is lost, run it again"), .usage],
    examples: [
      ("scripthost export --otlp http://127.0.0.1:4318 --follow", "Keeps a collector up to date."),
      ("scripthost export --perfetto trace.json --program shop --since 1h", "The last hour of shop, for ui.perfetto.dev."),
    ],
    seeAlso: ["events", "query", "report"]
  ) { arguments in
    let jobs = ["--otlp", "--prometheus", "--perfetto", "--speedscope", "--folded", "--sqlite", "--jsonl"].filter(arguments.has)
    guard jobs.count == 1, let job = jobs.first, let value = arguments.text(job) else {
      throw Failure.usage("export: name one destination, such as --otlp URL or --perfetto FILE; see scripthost export --help")
    }
    if arguments.has("--follow"), job != "--otlp" { throw Failure.usage("export: '--follow' goes with --otlp only") }
    if arguments.has("--header"), job != "--otlp" { throw Failure.usage("export: '--header' goes with --otlp only") }
    var sidecar = try Sidecar(arguments)
    switch job {
    case "--otlp":
      guard value.hasPrefix("http://") || value.hasPrefix("https://") else {
        throw Failure.usage("'--otlp' needs a URL such as http://127.0.0.1:4318; found '\(EventText.printable(value))'")
      }
      sidecar.add("url", value)
      if arguments.has("--follow") { sidecar.add("follow", "yes") }
      let headers = arguments.all("--header").map { String(decoding: $0, as: UTF8.self) }
      if let wrong = headers.first(where: { !$0.contains("=") }) {
        throw Failure.usage("'--header' needs NAME=VALUE; found '\(EventText.printable(wrong))'")
      }
      sidecar.add("headers", headers.joined(separator: ","))
      sidecar.addCursor(for: value, arguments)
      return try sidecar.exec("otlp")
    case "--prometheus":
      sidecar.add("address", value)
      return try sidecar.exec("prometheus")
    default:
      if job == "--sqlite", value == "-" { throw Failure.usage("'--sqlite' needs a file; a database cannot be written to standard output") }
      sidecar.add("format", String(job.dropFirst(2)))
      sidecar.add("output", value)
      return try sidecar.exec("file")
    }
  }

  static let query = Subcommand(
    name: "query",
    summary: "ask what was recorded, in SQL",
    synopsis: "[--format table|json|csv] [--program PROGRAM] [--since WHEN] [--state DIR] 'SELECT …'",
    description: [
      "Puts the journal into a database in memory and runs one statement of SQLite that reads.",
      """
      Tables: sessions(session, program, path, pid, build, start), records(id, session, time, monotonic, thread, kind, name, fields), \
      spans(id, session, trace, span, parent, kind, name, start, duration, status, message, attributes), metrics(session, name, \
      attributes, time, kind, unit, value, count, sum, min, max). Views: events, logs, requests, screens, stalls. Times are nanoseconds \
      since 1970; fields and attributes are JSON, read with fields ->> 'total'.
      """,
    ],
    options: [
      Option(
        long: "format", value: "FORMAT", help: "table for people (the default), json: one object per row, or csv.",
        completion: .words(["table", "json", "csv"]))
    ] + sourceOptions,
    operands: .one("a SELECT statement", .none),
    exitStatuses: [.success, ExitStatus(code: "1", meaning: "the statement is wrong"), .usage],
    examples: [
      ("scripthost query 'SELECT name, count(*) FROM events GROUP BY name'", "How often each event happened."),
      (
        "scripthost query \"SELECT name, duration / 1000000 AS ms FROM spans ORDER BY duration DESC LIMIT 10\"", "The ten longest spans."
      ),
    ],
    seeAlso: ["events", "export", "report"]
  ) { arguments in
    var sidecar = try Sidecar(arguments)
    sidecar.add("format", try arguments.choice("--format", of: ["table", "json", "csv"]) ?? "table")
    sidecar.add("sql", String(decoding: arguments.operands[0], as: UTF8.self))
    return try sidecar.exec("query")
  }

  static let report = Subcommand(
    name: "report",
    summary: "make a page of what was recorded",
    synopsis: "[-o FILE] [--open] [--program PROGRAM] [--since WHEN] [--state DIR]",
    description: [
      """
      Writes one HTML file with everything inside: start-up, screens, traces, network, stalls, crashes with what happened before, where \
      time went, metrics, events and logs. It needs nothing from the network and can be sent to somebody.
      """
    ],
    options: [
      Option(
        long: "output", short: "o", value: "FILE", help: "The file; - is standard output, the default is report.html.", completion: .file),
      Option(long: "open", help: "Then shows the page, with xdg-open or what $BROWSER names."),
    ] + sourceOptions,
    operands: .none,
    exitStatuses: [.success, ExitStatus(code: "1", meaning: "the file could not be written"), .usage],
    examples: [("scripthost report -o report.html --program shop", "A page about all runs of shop.")],
    seeAlso: ["events", "export", "query"]
  ) { arguments in
    var sidecar = try Sidecar(arguments)
    let output = arguments.text("--output") ?? "report.html"
    sidecar.add("output", output)
    if arguments.has("--open") {
      guard output != "-" else { throw Failure.usage("report: '--open' needs a file; leave '-o -' out") }
      sidecar.add("open", "yes")
    }
    return try sidecar.exec("report")
  }
}

/// The process that exports.
private struct Sidecar {
  private var words: [String] = []
  private let state: RawPath

  /// Takes the options that choose records.
  init(_ arguments: Arguments) throws(Failure) {
    guard let state = StateDirectory.resolve(chosen: arguments.path("--state")) else {
      throw Failure(status: 1, sentence: "no state directory: HOME is not set; use --state DIR")
    }
    self.state = state
    let journal = StateDirectory.journal(in: state)
    // What follows is made all the same, of nothing: programs may record later, and a file from before is no answer.
    _ = JournalView.isMissing(journal)
    add("journal", journal.description)
    add("state", state.description)
    add("boot", currentBootID())
    if let program = arguments.text("--program") { add("program", program) }
    if let since = arguments.text("--since") { add("since", "\(try JournalView.time(since))") }
  }

  mutating func add(_ name: String, _ value: String) { words.append("\(name)=\(value)") }

  /// Each address has a cursor of its own, and each choice of programs.
  mutating func addCursor(for address: String, _ arguments: Arguments) {
    // Other bytes than letters and digits by their numbers: two addresses never share a cursor.
    let name = (address + " " + (arguments.text("--program") ?? "")).utf8.map { byte -> String in
      let character = Character(Unicode.Scalar(byte))
      return character.isASCII && (character.isLetter || character.isNumber) ? String(character) : "-" + String(byte, radix: 16)
    }.joined()
    add("cursor", state.appending("export").appending("\(name).json").description)
  }

  /// Goes on as the sidecar.
  func exec(_ job: String) throws(Failure) -> Int32 {
    guard let path = InstalledLibraries.find("scripthost-export") else {
      throw Failure(status: 1, sentence: "scripthost-export is not beside this command nor in ../lib/scripthost; build it with scripts/build")
    }
    var words = ([path.description, job] + self.words).map { strdup($0) } + [nil]
    execv(path.description, &words)
    throw Failure(status: 1, sentence: "cannot run '\(path)': \(String(cString: strerror(errno)))")
  }
}
