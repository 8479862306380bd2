// JournalSource — the records of all journals of a state directory, from where an exporter stopped.
//
// Files are read, never changed. What was read is delivered in order within each run. A cursor says how far each file was
// read; an exporter saves it once the receiver has taken what was read before, so each record is delivered at least once.
package import Journal

/// How far each journal file was read.
package struct ExportCursor: Sendable, Equatable {
  /// By file name: of each unit, the bytes that were read.
  package var positions: [String: [Int]] = [:]

  package init() {}
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

  /// What was recorded since the last call.
  /// - Parameter isFinal: nobody calls again: what is unfinished counts as torn.
  package mutating func poll(isFinal: Bool) -> [TelemetryItem] {
    var items: [TelemetryItem] = []
    let files = JournalFile.list(in: directory)
    let names = Set(files.map(Self.name))
    // A file that was pruned is not asked for again.
    for gone in readers.keys where !names.contains(gone) { readers[gone] = nil }
    for file in files {
      let name = Self.name(file)
      if readers[name] == nil { readers[name] = open(file, name) }
      guard var reader = readers[name], program == nil || program == reader.session.programName else { continue }
      let found = reader.next(isFinal: isFinal && !reader.isWriterAlive(bootID: bootID))
      let session = reader.session
      for record in found where record.wall >= since { items.append(TelemetryItem(record, in: session)) }
      readers[name] = reader
    }
    return items.sorted(by: TelemetryItem.isEarlier)
  }

  /// How far everything was read.
  package var cursor: ExportCursor {
    var cursor = ExportCursor()
    for (name, reader) in readers { cursor.positions[name] = reader.position }
    return cursor
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
