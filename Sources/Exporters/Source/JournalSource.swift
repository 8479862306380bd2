// JournalSource — the records of all journals of a state directory, from where an exporter stopped.
//
// Files are read, never changed. What was read is delivered in order within each run. A cursor says how far each file was
// read; an exporter saves it once the receiver has taken what was read before, so each record is delivered at least once.
package import Journal

/// How far each journal file was read.
package struct ExportCursor: Sendable, Equatable {
  /// By file name: of each unit, the bytes that were read.
  package var positions: [String: [Int]] = [:]

  package init(positions: [String: [Int]] = [:]) { self.positions = positions }
}

package struct JournalSource {
  private let directory: RawPath
  private let program: String?
  private let since: UInt64
  private let bootID: String
  private let start: ExportCursor
  private var readers: [String: JournalFileReader] = [:]
  /// Files that could not be read, each told once.
  package private(set) var problems: [String] = []
  private var unreadable: Set<String> = []

  /// - Parameters:
  ///   - directory: the journal's folder of a state directory.
  ///   - program: only of programs with this name.
  ///   - since: only what is newer, nanoseconds since 1970.
  ///   - bootID: of this machine's kernel, to know which writers are alive.
  ///   - cursor: where an earlier exporter stopped.
  package init(directory: RawPath, program: String? = nil, since: UInt64 = 0, bootID: String, cursor: ExportCursor = ExportCursor()) {
    self.directory = directory
    self.program = program
    self.since = since
    self.bootID = bootID
    start = cursor
  }

  /// The last call of `poll` stopped before it had all.
  package private(set) var hasMore = false
  /// Files that were removed before they were read: the program recorded more than its journal keeps.
  package private(set) var missed: [(session: JournalSession, files: Int)] = []
  /// Of each run, by the name of its files without the number: the number of the newest file that was there.
  private var newest: [String: Int] = [:]
  private var present: Set<String> = []

  /// What was recorded since the last call.
  /// - Parameters:
  ///   - isFinal: nobody asks for more of programs that have ended: what is unfinished counts as torn.
  ///   - limit: about so many at most; the next call goes on.
  package mutating func poll(isFinal: Bool, atMost limit: Int = .max) -> [TelemetryItem] {
    var items: [TelemetryItem] = []
    hasMore = false
    // By name: files of one run follow each other.
    let files = JournalFile.list(in: directory).map { (name: Self.name($0), path: $0) }.sorted { $0.name < $1.name }
    present = Set(files.map(\.name))
    // A file that was pruned is not asked for again.
    for gone in readers.keys where !present.contains(gone) { readers[gone] = nil }
    for (name, file) in files {
      if items.count >= limit {
        hasMore = true
        break
      }
      if readers[name] == nil {
        readers[name] = open(file, name)
        if let reader = readers[name] { noteMissed(name, reader) }
      }
      guard var reader = readers[name], program == nil || program == reader.session.programName else { continue }
      let found = reader.next(isFinal: isFinal && !reader.isWriterAlive(bootID: bootID), atMost: limit - items.count)
      hasMore = hasMore || reader.hasMore
      let session = reader.session
      for record in found where record.wall >= since { items.append(TelemetryItem(record, in: session)) }
      readers[name] = reader
    }
    return items.sorted(by: TelemetryItem.isEarlier)
  }

  /// How far everything was read: of files that were not opened since, as far as it was read before.
  package var cursor: ExportCursor {
    var cursor = ExportCursor(positions: start.positions.filter { present.contains($0.key) })
    for (name, reader) in readers { cursor.positions[name] = reader.position }
    return cursor
  }

  /// Looks whether a file between the newest that was known of its run and this one is gone.
  private mutating func noteMissed(_ name: String, _ reader: JournalFileReader) {
    let run = Self.run(name)
    let before = newest[run] ?? start.positions.keys.filter { Self.run($0) == run && $0 < name }.compactMap(Self.number).max() ?? -1
    if reader.segment > before + 1 { missed.append((reader.session, reader.segment - before - 1)) }
    newest[run] = max(before, reader.segment)
  }

  /// A file's name without the number at its end.
  private static func run(_ name: String) -> String { name.lastIndex(of: "-").map { String(name[..<$0]) } ?? name }
  private static func number(_ name: String) -> Int? {
    name.lastIndex(of: "-").flatMap { Int(name[name.index(after: $0)...].prefix { $0.isNumber }) }
  }

  private mutating func open(_ path: RawPath, _ name: String) -> JournalFileReader? {
    do throws(JournalError) {
      var reader = try JournalFileReader(path)
      if let position = start.positions[name] { reader.resume(at: position) }
      return reader
    } catch {
      if path.status() != nil, unreadable.insert(name).inserted { problems.append("\(error); it is left out") }
      return nil
    }
  }

  private static func name(_ path: RawPath) -> String { String(decoding: path.lastComponent, as: UTF8.self) }
}
