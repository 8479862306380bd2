// JournalReader — reads segments back: of this process, of running and of dead ones.
//
// The bytes are not trusted. A record counts when its checksum does; what lies
// between is skipped and counted. Files are read, not mapped: one that is cut
// short while we look must not stop the reader.
internal import Glibc

/// One record, with its payload still encoded.
package struct JournalRecord: Sendable, Equatable {
  package let kind: RecordKind
  package let flags: UInt8
  /// Unique in its session and rising on each thread; records are in order by (monotonic, sequence).
  package let sequence: UInt64
  /// CLOCK_MONOTONIC, nanoseconds.
  package let monotonic: UInt64
  /// Nanoseconds since 1970, UTC.
  package let wall: UInt64
  package let thread: UInt32
  package let payload: [UInt8]

  package init(
    kind: RecordKind, flags: UInt8, sequence: UInt64, monotonic: UInt64, wall: UInt64, thread: UInt32, payload: [UInt8]
  ) {
    self.kind = kind
    self.flags = flags
    self.sequence = sequence
    self.monotonic = monotonic
    self.wall = wall
    self.thread = thread
    self.payload = payload
  }

  /// Whether fields were left out because they did not fit.
  package var isCut: Bool { flags & RecordFormat.flagCut != 0 }

  /// The record's name: of the event, or the level of a log line.
  package var name: String {
    payload.withUnsafeBytes {
      var reader = FieldReader($0)
      return reader.name()
    }
  }

  /// The fields, decoded.
  package var fields: [Field] {
    payload.withUnsafeBytes {
      var reader = FieldReader($0)
      _ = reader.name()
      return reader.fields()
    }
  }

  /// Order within a session.
  package static func isEarlier(_ a: JournalRecord, _ b: JournalRecord) -> Bool {
    (a.monotonic, a.sequence) < (b.monotonic, b.sequence)
  }
}

/// What a segment's header tells.
package struct JournalSession: Sendable, Hashable {
  package let program: RawPath
  package let pid: Int32
  package let bootID: String
  package let buildID: String
  /// Wall and monotonic clock at the start, nanoseconds.
  package let startWall: UInt64
  package let startMonotonic: UInt64

  package init(program: RawPath, pid: Int32, bootID: String, buildID: String, startWall: UInt64, startMonotonic: UInt64) {
    self.program = program
    self.pid = pid
    self.bootID = bootID
    self.buildID = buildID
    self.startWall = startWall
    self.startMonotonic = startMonotonic
  }

  /// The program's name without its directory.
  package var programName: String { String(decoding: program.lastComponent, as: UTF8.self) }
}

/// What was found while reading.
package struct JournalDamage: Sendable, Equatable {
  /// Stretches inside a unit that hold no valid record.
  package var skipped = 0
  /// Records at the end of a unit that were being written when the process ended.
  package var torn = 0
  /// Records the writer dropped, by its own count.
  package var dropped: UInt64 = 0

  package init(skipped: Int = 0, torn: Int = 0, dropped: UInt64 = 0) {
    self.skipped = skipped
    self.torn = torn
    self.dropped = dropped
  }
}

/// Finds the records in the units of one segment.
enum JournalScan {
  /// The record at `offset` of `unit`, which starts at `start` in its segment; nil when there is none.
  static func record(
    in unit: UnsafeRawBufferPointer, at offset: Int, unitStart start: Int, seed: UInt64
  ) -> (record: JournalRecord, length: Int)? {
    func word(_ place: Int) -> UInt64 { unit.loadUnaligned(fromByteOffset: offset + place * 8, as: UInt64.self) }
    guard offset + RecordFormat.recordHeaderSize <= unit.count else { return nil }
    let first = word(0)
    let length = Int(first & 0xffff_ffff)
    let about = word(1)
    guard first != 0, length >= RecordFormat.recordHeaderSize, length % 8 == 0, length <= unit.count - offset,
      about >> 16 & 0xffff == RecordFormat.mark, let kind = RecordKind(rawValue: UInt8(truncatingIfNeeded: about))
    else { return nil }
    var sum = RecordFormat.Checksum(seed: seed, offset: start + offset, length: length)
    for place in (RecordFormat.recordHeaderSize / 8)..<(length / 8) { sum.add(word(place)) }
    guard sum.folded(with: (about, word(2), word(3), word(4))) == UInt32(first >> 32) else { return nil }
    let payload = unit[(offset + RecordFormat.recordHeaderSize)..<(offset + length)]
    return (
      JournalRecord(
        kind: kind, flags: UInt8(truncatingIfNeeded: about >> 8), sequence: word(2), monotonic: word(3), wall: word(4),
        thread: UInt32(truncatingIfNeeded: about >> 32), payload: Array(payload)), length
    )
  }

  /// What a reading of a unit came to.
  struct Reading {
    /// Where to go on when more may have been written.
    var offset: Int
    /// There is a record after a place that holds none, and the reading stopped before that place.
    var isAtGap = false
  }

  /// Reads a unit from `offset` on.
  /// - Parameters:
  ///   - isFinal: the writer is gone, so what is unfinished at the end counts as torn.
  ///   - stopsAtGap: a place without a record, with one after it, ends the reading. Bytes that were copied while a thread wrote may have the later
  ///     record alone; a second copy has both.
  static func unit(
    _ unit: UnsafeRawBufferPointer, from offset: Int, unitStart: Int, seed: UInt64, isFinal: Bool, stopsAtGap: Bool,
    damage: inout JournalDamage, into records: inout [JournalRecord]
  ) -> Reading {
    var offset = offset
    if unit.count >= 8, unit.loadUnaligned(as: UInt64.self) == RecordFormat.notBegun { return Reading(offset: offset) }
    while offset + RecordFormat.recordHeaderSize <= unit.count {
      if let (record, length) = record(in: unit, at: offset, unitStart: unitStart, seed: seed) {
        records.append(record)
        offset += length
        continue
      }
      let next = stride(from: offset + 8, through: unit.count - RecordFormat.recordHeaderSize, by: 8).first {
        self.record(in: unit, at: $0, unitStart: unitStart, seed: seed) != nil
      }
      guard let next else {
        let isUsed = unit[offset...].contains { $0 != 0 }
        if isFinal, isUsed { damage.torn += 1 }
        return Reading(offset: offset)
      }
      if stopsAtGap { return Reading(offset: offset, isAtGap: true) }
      damage.skipped += 1
      offset = next
    }
    return Reading(offset: offset)
  }

  /// All records of a whole segment in memory, with a header that is known to be good.
  static func all(in segment: UnsafeRawBufferPointer, seed: UInt64) -> (records: [JournalRecord], damage: JournalDamage) {
    var records: [JournalRecord] = []
    var damage = JournalDamage()
    for start in stride(from: RecordFormat.headerSize, to: segment.count, by: RecordFormat.unitSize) {
      let bytes = UnsafeRawBufferPointer(rebasing: segment[start..<min(start + RecordFormat.unitSize, segment.count)])
      let reading = unit(bytes, from: 0, unitStart: start, seed: seed, isFinal: true, stopsAtGap: true, damage: &damage, into: &records)
      if reading.isAtGap {
        _ = unit(bytes, from: reading.offset, unitStart: start, seed: seed, isFinal: true, stopsAtGap: false, damage: &damage, into: &records)
      }
    }
    return (records, damage)
  }
}

/// Reads one segment file, once or again and again while it is being written.
package struct JournalFileReader {
  package let path: RawPath
  package let session: JournalSession
  /// Number of the segment in its session.
  package let segment: Int
  private let seed: UInt64
  /// Per unit: how far it was read.
  private var progress: [Int] = []
  /// Of each unit, the bytes that were read: where a reader of the same file can go on.
  package var position: [Int] { progress }
  /// Goes on where another reader of this file stopped; to be called before the first `next`.
  package mutating func resume(at position: [Int]) { progress = position.map { min(max(0, $0), RecordFormat.unitSize) } }
  /// What was found so far.
  package private(set) var damage = JournalDamage()

  /// Opens the file and checks its header.
  package init(_ path: RawPath) throws(JournalError) {
    self.path = path
    guard let header = Self.read(path, offset: 0, count: RecordFormat.headerSize),
      header.count == RecordFormat.headerSize
    else { throw .notAJournal(path.description) }
    typealias Header = RecordFormat.Header
    func load<T: BitwiseCopyable>(_ offset: Int, _ type: T.Type) -> T {
      header.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }
    guard load(Header.magic, UInt64.self) == RecordFormat.magic else { throw .notAJournal(path.description) }
    let version = load(Header.version, UInt32.self)
    guard version == RecordFormat.version else { throw .otherVersion(path.description, found: version) }
    guard header.withUnsafeBytes(RecordFormat.headerChecksum) == load(Header.checksum, UInt64.self)
    else { throw .notAJournal(path.description) }
    let length = min(Int(load(Header.textLength, UInt32.self)), Header.maximumText)
    let texts = header[Header.text..<(Header.text + length)].split(separator: 0, omittingEmptySubsequences: false)
    session = JournalSession(
      program: RawPath(texts.count > 2 ? Array(texts[2]) : []),
      pid: Int32(bitPattern: load(Header.pid, UInt32.self)),
      bootID: texts.first.map { String(decoding: $0, as: UTF8.self) } ?? "",
      buildID: texts.count > 1 ? String(decoding: texts[1], as: UTF8.self) : "",
      startWall: load(Header.startWall, UInt64.self), startMonotonic: load(Header.startMonotonic, UInt64.self))
    segment = Int(load(Header.segment, UInt32.self))
    seed = load(Header.seed, UInt64.self)
  }

  /// The last call of `next` stopped before the end.
  package private(set) var hasMore = false

  /// Records written since the last call, in order.
  /// - Parameters:
  ///   - isFinal: as in `JournalScan.unit`.
  ///   - limit: no further unit is begun once there are so many; those of a thread are in order from call to call.
  package mutating func next(isFinal: Bool, atMost limit: Int = .max) -> [JournalRecord] {
    hasMore = false
    guard let file = File(path) else { return [] }
    damage.dropped = file.word(at: RecordFormat.Header.dropped) ?? damage.dropped
    var records: [JournalRecord] = []
    var number = 0
    while true {
      if number == progress.count { progress.append(0) }
      let start = RecordFormat.headerSize + number * RecordFormat.unitSize
      if progress[number] + RecordFormat.recordHeaderSize <= RecordFormat.unitSize {
        guard let first = file.word(at: start + progress[number]) else { break }
        // Where the next record would begin there is none yet, or the unit is not begun. What is unfinished counts at the end only.
        let isEmpty = first == 0 && !isFinal || first == RecordFormat.notBegun && progress[number] == 0
        if !isEmpty {
          if records.count >= limit {
            hasMore = true
            break
          }
          readUnit(number, start, file, isFinal: isFinal, into: &records)
        }
      }
      number += 1
    }
    return records.sorted(by: JournalRecord.isEarlier)
  }

  private mutating func readUnit(_ number: Int, _ start: Int, _ file: borrowing File, isFinal: Bool, into records: inout [JournalRecord]) {
    for stopsAtGap in [true, false] {
      let bytes = file.bytes(at: start, count: RecordFormat.unitSize)
      let reading = bytes.withUnsafeBytes {
        JournalScan.unit(
          $0, from: progress[number], unitStart: start, seed: seed, isFinal: isFinal, stopsAtGap: stopsAtGap, damage: &damage, into: &records)
      }
      progress[number] = reading.offset
      if !reading.isAtGap { break }
    }
    // Nothing comes any more.
    if isFinal { progress[number] = RecordFormat.unitSize }
  }

  /// Whether the process that wrote the file is still there (in this boot and namespace).
  package func isWriterAlive(bootID: String) -> Bool {
    session.bootID == bootID && (kill(session.pid, 0) == 0 || errno == EPERM)
  }

  /// Up to `count` bytes at `offset`; nil when the file cannot be read.
  private static func read(_ path: RawPath, offset: Int, count: Int) -> [UInt8]? { File(path)?.bytes(at: offset, count: count) }

  /// The file, open while it is read.
  private struct File: ~Copyable {
    private let descriptor: Int32

    init?(_ path: RawPath) {
      descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
      if descriptor < 0 { return nil }
    }
    deinit { close(descriptor) }

    /// The bytes from there on, as many of `count` as the file has.
    borrowing func bytes(at offset: Int, count: Int) -> [UInt8] {
      let descriptor = descriptor
      return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        while filled < count {
          let got = pread(descriptor, buffer.baseAddress! + filled, count - filled, off_t(offset + filled))
          if got < 0, errno == EINTR { continue }
          guard got > 0 else { break }
          filled += got
        }
      }
    }

    /// nil at the end of the file.
    borrowing func word(at offset: Int) -> UInt64? {
      var word: UInt64 = 0
      while true {
        let got = pread(descriptor, &word, 8, off_t(offset))
        if got < 0, errno == EINTR { continue }
        return got == 8 ? word : nil
      }
    }
  }
}

/// The boot id of the running kernel, empty when it cannot be read.
package func currentBootID() -> String {
  let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return "" }
  defer { close(descriptor) }
  let bytes = [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
    count = max(0, read(descriptor, buffer.baseAddress, 64))
  }
  return String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
}
