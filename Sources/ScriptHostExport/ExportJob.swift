// ExportJob — one run of the sidecar: which records, and what becomes of them.
internal import Exporters
internal import Foundation
internal import Journal

struct ExportJob {
  /// What the command passed on; it has checked names and values.
  private let values: [String: String]

  struct Failure: Error {
    var sentence: String
  }

  static func main(_ words: [String]) -> Int32 {
    var values: [String: String] = [:]
    for word in words.dropFirst() {
      guard let equals = word.firstIndex(of: "=") else { continue }
      values[String(word[..<equals])] = String(word[word.index(after: equals)...])
    }
    let job = ExportJob(values: values)
    do {
      switch words.first {
      case "otlp": return try job.sendOTLP()
      case "prometheus": try job.servePrometheus()
      case "file": try job.writeFile()
      case "query": try job.query()
      case "report": try job.report()
      default:
        say("this is a part of scripthost; see scripthost export --help")
        return 2
      }
      return 0
    } catch let failure as Failure {
      say(failure.sentence)
      return 1
    } catch {
      say("\(error)")
      return 1
    }
  }

  static func say(_ text: String) { FileHandle.standardError.write(Data("scripthost: \(text)\n".utf8)) }

  // MARK: Records

  private func source(_ cursor: ExportCursor = ExportCursor()) -> JournalSource {
    JournalSource(
      directory: RawPath(Array((values["journal"] ?? "").utf8)), program: values["program"], since: values["since"].flatMap { UInt64($0) } ?? 0,
      bootID: values["boot"] ?? "", cursor: cursor)
  }

  private var crashes: CrashSource? {
    CrashSource(state: values["state"], program: values["program"], since: values["since"].flatMap { UInt64($0) } ?? 0)
  }

  /// All records that there are now.
  private func all() -> [TelemetryItem] {
    var source = source()
    let items = source.poll(isFinal: true)
    for problem in source.problems { Self.say(problem) }
    return items
  }

  private func write(_ text: String) throws { try write(Array(text.utf8)) }

  private func write(_ bytes: [UInt8]) throws {
    guard let path = values["output"], path != "-" else {
      FileHandle.standardOutput.write(Data(bytes))
      return
    }
    // Beside the file and renamed: whoever reads it sees the old or the new one.
    do { try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic) } catch {
      throw Failure(sentence: "cannot write '\(path)': \(error.localizedDescription)")
    }
  }

  /// How many records are held in memory, and come again after an export that was killed.
  private static let mostAtOnce = 16_384

  // MARK: Jobs

  private func sendOTLP() throws -> Int32 {
    let place = CursorFile(path: values["cursor"] ?? "")
    var source = source(place.load())
    let follows = values["follow"] != nil
    var sender = OTLPSender(address: values["url"] ?? "", headers: values["headers"] ?? "")
    var sent = 0
    var reported = 0
    var delivered = Self.crashes(in: place.load())
    var rounds = 0
    while true {
      let items = source.poll(isFinal: !follows, atMost: Self.mostAtOnce)
      for missed in source.missed[reported...] {
        Self.say(
          "\(missed.files) file\(missed.files == 1 ? "" : "s") of \(missed.session.programName)[\(missed.session.pid)] had to go before "
            + "they were exported: it records more than its journal keeps; start it with a larger --journal-size"
        )
      }
      reported = source.missed.count
      for batch in stride(from: 0, to: items.count, by: 512) {
        let part = Array(items[batch..<min(batch + 512, items.count)])
        for body in OTLP.bodies(part) { sent += try sender.send(body, keepsTrying: follows) }
      }
      // Crash files are large: not each second.
      let ended = rounds % 5 == 0 ? crashes?.all(except: &delivered) ?? [] : []
      rounds += source.hasMore ? 0 : 1
      if let body = OTLP.body(ended) { sent += try sender.send(body, keepsTrying: follows) }
      delivered.formUnion(ended.map(\.identifier))
      // Only what the collector took is behind the cursor.
      if !items.isEmpty || !ended.isEmpty { try place.save(Self.cursor(source.cursor, delivered)) }
      if source.hasMore { continue }
      guard follows else { break }
      Thread.sleep(forTimeInterval: 1)
    }
    Self.say("\(sent) record\(sent == 1 ? "" : "s") sent" + (sender.refused > 0 ? ", \(sender.refused) refused by the collector" : ""))
    return sender.refused > 0 ? 1 : 0
  }

  /// What the cursor's file calls a crash that was delivered.
  private static let crashMark = "crash "

  private static func cursor(_ read: ExportCursor, _ delivered: Set<String>) -> ExportCursor {
    var cursor = read
    for crash in delivered { cursor.positions[crashMark + crash] = [] }
    return cursor
  }
  private static func crashes(in cursor: ExportCursor) -> Set<String> {
    Set(cursor.positions.keys.filter { $0.hasPrefix(crashMark) }.map { String($0.dropFirst(crashMark.count)) })
  }

  private func servePrometheus() throws {
    var source = source()
    var metrics = PrometheusText()
    let server = try ScrapeServer(values["address"] ?? "")
    Self.say("metrics on port \(server.port), path /metrics; Ctrl-C ends")
    server.serve {
      metrics.take(source.poll(isFinal: false))
      return metrics.scrape()
    }
  }

  private func writeFile() throws {
    let items = all()
    switch values["format"] {
    case "perfetto" where values["output"]?.hasSuffix(".json") == true: try write(PerfettoTrace.json(items))
    case "perfetto": try write(PerfettoTrace.bytes(items))
    case "folded": try write(FoldedStacks(items).text)
    case "speedscope": try write(FoldedStacks(items).speedscope(named: values["program"] ?? "scripthost"))
    case "jsonl": try write(items.map { EventText.json($0.record, EventText.Source($0.session)) + "\n" }.joined())
    case "sqlite":
      // Tables are added to: a file may be kept and brought up to date.
      try TelemetryTables(try Database(values["output"] ?? "")).add(items)
    case let format: throw Failure(sentence: "internal error: no format '\(format ?? "")'; please report it")
    }
    if let path = values["output"], path != "-" { Self.say("\(items.count) record\(items.count == 1 ? "" : "s") in '\(path)'") }
  }

  private func query() throws {
    let database = try Database(":memory:")
    try TelemetryTables(database).add(all())
    try database.forbidWriting()
    let statement = try database.prepare(values["sql"] ?? "")
    let columns = statement.columns
    var rows: [[Database.Value]] = []
    while let row = try statement.next() { rows.append(row) }
    try write(QueryText.text(columns, rows, format: values["format"] ?? "table"))
  }

  private func report() throws {
    var data = ReportData()
    let items = all()
    data.take(items)
    let crashes = crashes?.all() ?? []
    data.take(crashes)
    let now = ISO8601DateFormatter().string(from: Date())
    try write(ReportPage.html(data.json(made: now)))
    guard let path = values["output"], path != "-" else { return }
    let ended = crashes.isEmpty ? "" : ", \(crashes.count) crash\(crashes.count == 1 ? "" : "es")"
    Self.say("\(items.count) record\(items.count == 1 ? "" : "s")\(ended) in '\(path)'")
    if values["open"] != nil { try open(URL(fileURLWithPath: path)) }
  }

  /// Shows the page, in the browser that the user has chosen.
  private func open(_ page: URL) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [ProcessInfo.processInfo.environment["BROWSER"] ?? "xdg-open", page.path]
    do { try process.run() } catch { throw Failure(sentence: "cannot open '\(page.path)': \(error.localizedDescription)") }
    process.waitUntilExit()
    if process.terminationStatus != 0 {
      throw Failure(sentence: "'\(process.arguments![0])' did not open '\(page.path)'; set BROWSER, or open it by hand")
    }
  }
}
