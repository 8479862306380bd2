// RecordCommands — the commands that read the journal: events and logs.
internal import Glibc
internal import Journal
internal import ScriptHost

extension Subcommand {
  private static let readingOptions = [
    Option(long: "follow", short: "f", help: "Goes on with what is recorded from now on, until interrupted."),
    Option(long: "json", help: "Prints one JSON object per line."),
    Option(long: "program", value: "PROGRAM", help: "Only of programs with this name.", completion: .program),
    Option(
      long: "since", value: "WHEN",
      help: "Only what is newer: a duration such as 10m, or a time in UTC such as 2026-01-31T07:05:00Z."),
    Option(
      long: "where", value: "CONDITION",
      help: """
        Only records for which it holds, in the words of a rule's where: name == 'checkout' and total > 100. name, kind and thread are the \
        record's own, any other path is a field (fields.kind: one of that name).
        """),
    Option(long: "number", short: "n", value: "N", help: "Only the last N."),
    Option(
      long: "state", value: "DIR", help: "Reads the journal of this state directory; the default is that of run.",
      completion: .directory),
  ]

  private static let kindNames = RecordKind.allCases.map { "\($0)" }.joined(separator: ", ")

  static let events = Subcommand(
    name: "events",
    summary: "show what was recorded",
    synopsis: "[--follow] [--json] [--program PROGRAM] [--since WHEN] [--where CONDITION] [-n N] [--kind KIND] [--state DIR]",
    description: [
      """
      Prints the recorded events of all programs that ran with this state directory, oldest first: also of programs that are running, and \
      of programs that were killed.
      """,
      "Damaged records are skipped. How many, and how many a program could not write, is told on stderr at the end.",
      """
      JSON objects have time (RFC 3339, UTC), mono_ns, boot, program, pid, thread, build, seq, kind, name and fields. In one run, mono_ns \
      and then seq give the order.
      """,
    ],
    options: readingOptions + [
      Option(
        long: "kind", value: "KIND", repeats: true, help: "Only of this kind: \(kindNames).",
        completion: .words(RecordKind.allCases.map { "\($0)" }))
    ],
    operands: .none,
    examples: [
      ("scripthost events -n 20", "The last twenty."),
      ("scripthost events --since 1h --where \"name == 'checkout' and total > 100\"", "Large orders of the last hour."),
      ("scripthost events --follow --program shop --json", "What shop records from now on, for another program."),
    ],
    seeAlso: ["logs", "run"]
  ) { arguments in
    let kinds = try arguments.all("--kind").map { bytes throws(Failure) -> RecordKind in
      let text = String(decoding: bytes, as: UTF8.self)
      guard let kind = RecordKind.allCases.first(where: { "\($0)" == text }) else {
        throw .usage("'--kind' needs one of \(kindNames); found '\(EventText.printable(text))'")
      }
      return kind
    }
    return try JournalView(arguments, kinds: kinds.isEmpty ? Set(RecordKind.allCases) : Set(kinds)).show()
  }

  static let logs = Subcommand(
    name: "logs",
    summary: "show what patches printed and logged",
    synopsis: "[-f] [--json] [--program PROGRAM] [--since WHEN] [--where CONDITION] [-n N] [--state DIR]",
    description: [
      """
      Prints the log lines and failures of patches, oldest first, of all programs that ran with this state directory. Like events --kind \
      log --kind failure.
      """
    ],
    options: readingOptions,
    operands: .none,
    examples: [("scripthost logs -f", "What patches say from now on.")],
    seeAlso: ["events"]
  ) { arguments in
    try JournalView(arguments, kinds: [.log, .failure]).show()
  }
}

/// Prints records of a journal directory.
struct JournalView {
  private let directory: RawPath
  private let kinds: Set<RecordKind>
  private let program: String?
  private let since: UInt64
  private let condition: RecordCondition?
  private let limit: Int
  private let isJSON: Bool
  private let follows: Bool
  private let bootID = currentBootID()
  /// Files seen so far; nil for one that cannot be read, told once.
  private var readers: [RawPath: JournalFileReader?] = [:]

  init(_ arguments: Arguments, kinds: Set<RecordKind>) throws(Failure) {
    guard let state = StateDirectory.resolve(chosen: arguments.path("--state")) else {
      throw Failure(status: 1, sentence: "no state directory: HOME is not set; use --state DIR")
    }
    directory = StateDirectory.journal(in: state)
    self.kinds = kinds
    program = arguments.text("--program")
    since = try arguments.text("--since").map { text throws(Failure) in try Self.time(text) } ?? 0
    do throws(RecordCondition.Problem) {
      condition = try arguments.text("--where").map { text throws(RecordCondition.Problem) in try RecordCondition(reading: text) }
    } catch { throw .usage("'--where': \(EventText.printable(error.text))") }
    limit = try arguments.number("--number", in: 0...10_000_000) ?? .max
    isJSON = arguments.has("--json")
    follows = arguments.has("--follow")
  }

  static func time(_ text: String) throws(Failure) -> UInt64 {
    if let time = EventText.nanoseconds(rfc3339: text) { return time }
    guard let age = Duration.nanoseconds(text) else {
      throw .usage("'--since' needs a duration such as 10m or a time such as 2026-01-31T07:05:00Z; found '\(EventText.printable(text))'")
    }
    let now = clockNanoseconds(CLOCK_REALTIME)
    return now > age ? now - age : 0
  }

  /// There is no journal, which is told.
  static func isMissing(_ directory: RawPath) -> Bool {
    guard directory.status() == nil else { return false }
    Output.note("nothing was recorded yet in '\(directory)'; start a program with scripthost run, or choose --state DIR")
    return true
  }

  /// Prints what there is and, when following, what comes; answers the exit status.
  consuming func show() -> Int32 {
    if !follows, Self.isMissing(directory) { return 0 }
    var records = poll(isFinal: !follows)
    // A record that began before the end of the last one may belong to an older session.
    records.sort(by: Self.isEarlier)
    for (record, source) in records.suffix(limit) { show(record, source) }
    while follows {
      Output.flush()
      usleep(100_000)
      for (record, source) in poll(isFinal: false) { show(record, source) }
    }
    Output.flush()
    tellDamage()
    return 0
  }

  /// The last records of one process, as `events` prints them.
  static func lines(of pid: pid_t, state: RawPath?, last count: Int, isJSON: Bool) -> [String] {
    guard let state else { return [] }
    var found: [Line] = []
    for path in JournalFile.list(in: StateDirectory.journal(in: state)) {
      guard var reader = try? JournalFileReader(path) else { continue }
      let source = EventText.Source(reader.session)
      guard source.pid == pid, source.bootID == currentBootID() else { continue }
      found += reader.next(isFinal: false).map { ($0, source) }
    }
    return found.sorted(by: isEarlier).suffix(count).map { isJSON ? EventText.json($0.record, $0.source) : EventText.text($0.record, $0.source) }
  }

  private typealias Line = (record: JournalRecord, source: EventText.Source)

  private static func isEarlier(_ a: Line, _ b: Line) -> Bool {
    // Within one run the monotonic clock decides, since the wall clock may have been set.
    if a.source.pid == b.source.pid, a.source.bootID == b.source.bootID { return JournalRecord.isEarlier(a.record, b.record) }
    return a.record.wall < b.record.wall
  }

  private mutating func poll(isFinal: Bool) -> [Line] {
    var lines: [Line] = []
    for path in JournalFile.list(in: directory) {
      if readers[path] == nil { readers[path] = .some(open(path)) }
      guard var reader = readers[path]! else { continue }
      let source = EventText.Source(reader.session)
      guard program == nil || program == source.program else { continue }
      let found = reader.next(isFinal: isFinal && !reader.isWriterAlive(bootID: bootID))
      lines += found.lazy.filter { [kinds, since, condition] in
        kinds.contains($0.kind) && $0.wall >= since && condition?.holds($0) ?? true
      }.map { ($0, source) }
      readers[path] = .some(reader)
    }
    return lines.sorted(by: Self.isEarlier)
  }

  private func open(_ path: RawPath) -> JournalFileReader? {
    do {
      return try JournalFileReader(path)
    } catch {
      // Its program may have removed it since the directory was read.
      if path.status() != nil { Output.note("\(error); it is left out") }
      return nil
    }
  }

  private func show(_ record: JournalRecord, _ source: EventText.Source) {
    Output.line(isJSON ? EventText.json(record, source) : EventText.text(record, source))
  }

  private func tellDamage() {
    var sum = JournalDamage()
    var dropped: [JournalSession: UInt64] = [:]
    for case let reader? in readers.values {
      sum.skipped += reader.damage.skipped
      sum.torn += reader.damage.torn
      // Each segment carries the count of its whole session so far.
      dropped[reader.session] = max(dropped[reader.session] ?? 0, reader.damage.dropped)
    }
    if sum.skipped > 0 { Output.note("\(sum.skipped) damaged place\(sum.skipped == 1 ? "" : "s") in the journal skipped") }
    if sum.torn > 0 { Output.note("\(sum.torn) unfinished record\(sum.torn == 1 ? "" : "s") left out") }
    let lost = dropped.values.reduce(0, +)
    if lost > 0 { Output.note("\(lost) record\(lost == 1 ? "" : "s") could not be written by the program") }
  }
}
