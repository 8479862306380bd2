// JournalSegment — one stretch of the journal: a header, and units that threads take.
//
// Invariant: a file that has a segment's name has its header. A segment is made,
// and made anew, under another name, so that a reader or a kill never meets one
// without a header.
//
// A segment used again has a new number and a new seed, so that none of its old
// records counts any more. Its units keep their old bytes until a thread takes
// them; until then each begins with a word that tells readers to leave it alone.
internal import Glibc
internal import Synchronization

/// A mapped segment. Its memory stays valid as long as the object lives; the journal keeps it
/// while a thread owns a unit of it.
// Unchecked: the constants are safe, the counters are only touched under the journal's lock, and
// the memory follows the rules of Journal.
final class JournalSegment: @unchecked Sendable {
  /// What its journal writes into all headers.
  struct About {
    let identity: JournalIdentity
    let start: JournalStart
  }

  /// What has to be done to a unit before a thread writes into it.
  private enum Pages {
    /// The kernel has none of its pages yet.
    case missing
    /// They are there, and zero.
    case zero
    /// They are there, with records of another time.
    case used
  }

  /// Number of the segment in its journal, from 0.
  let index: Int
  /// When it was made, CLOCK_MONOTONIC.
  let made = clockNanoseconds(CLOCK_MONOTONIC)
  /// Start value of all checksums.
  let seed = UInt64.random(in: .min ... .max)
  private let pages: Pages
  private let mapping: JournalMapping
  /// Units given to threads so far.
  private var unitsGiven = 0
  /// Whether the file was seen not to be in its place: no more units are taken.
  var isLost = false
  /// Units of this segment that a thread (or the pool of states) still holds.
  var unitsHeld = 0

  /// Start of the mapping: the header.
  var base: UnsafeMutableRawPointer { mapping.base }
  /// Bytes mapped.
  var size: Int { mapping.size }

  /// Units in a segment with this number: small at first, so that a short run leaves a small file, and never so many
  /// that fewer than four such segments are within `limit`.
  static func units(at index: Int, limit: Int) -> Int {
    min(1 << (2 * min(index, 5)), 128, max(limit / 4 / RecordFormat.unitSize, 1))
  }

  /// Bytes of a segment.
  static func size(units: Int) -> Int { RecordFormat.headerSize + units * RecordFormat.unitSize }

  /// Creates and maps a segment; an error is an errno value.
  init(index: Int, file: RawPath?, units: Int, on fileSystem: JournalFileSystem, _ about: About) throws(JournalSegmentError) {
    self.index = index
    pages = file != nil && fileSystem.mayPrefill ? .zero : .missing
    mapping = try JournalMapping(file: file.map(Self.unfinished), size: Self.size(units: units), on: fileSystem)
    writeHeader(about)
    if let file { try putInPlace(file) }
  }

  /// Uses the memory and the file of `other`, of which no thread has a unit, for a new segment. `other` is no segment any
  /// more, also when this fails.
  init(insteadOf other: JournalSegment, index: Int, file: RawPath?, _ about: About) throws(JournalSegmentError) {
    self.index = index
    pages = .used
    mapping = other.mapping
    if let file { try mapping.move(to: Self.unfinished(file)) }
    for unit in stride(from: RecordFormat.headerSize, to: size, by: RecordFormat.unitSize) {
      base.storeBytes(of: RecordFormat.notBegun, toByteOffset: unit, as: UInt64.self)
    }
    writeHeader(about)
    mapping.touch()
    if let file { try putInPlace(file) }
  }

  private static func unfinished(_ file: RawPath) -> RawPath { RawPath(file.bytes + JournalFile.unfinishedSuffix) }

  /// Gives the finished file its name.
  private func putInPlace(_ file: RawPath) throws(JournalSegmentError) {
    do { try mapping.move(to: file) } catch {
      mapping.unlinkFile()
      throw error
    }
  }

  private func writeHeader(_ about: About) {
    typealias Header = RecordFormat.Header
    let identity = about.identity
    var text = identity.bootID.utf8 + [0] + identity.buildID.utf8 + [0] + identity.program.bytes + [0]
    text = Array(text.prefix(Header.maximumText))
    base.storeBytes(of: RecordFormat.version, toByteOffset: Header.version, as: UInt32.self)
    base.storeBytes(of: UInt32(identity.pid), toByteOffset: Header.pid, as: UInt32.self)
    base.storeBytes(of: about.start.wall, toByteOffset: Header.startWall, as: UInt64.self)
    base.storeBytes(of: about.start.monotonic, toByteOffset: Header.startMonotonic, as: UInt64.self)
    base.storeBytes(of: seed, toByteOffset: Header.seed, as: UInt64.self)
    base.storeBytes(of: UInt32(index), toByteOffset: Header.segment, as: UInt32.self)
    base.storeBytes(of: UInt32(text.count), toByteOffset: Header.textLength, as: UInt32.self)
    text.withUnsafeBytes { (base + Header.text).copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
    base.storeBytes(of: RecordFormat.magic, toByteOffset: Header.magic, as: UInt64.self)
    base.storeBytes(
      of: RecordFormat.headerChecksum(UnsafeRawBufferPointer(start: base, count: RecordFormat.headerSize)),
      toByteOffset: Header.checksum, as: UInt64.self)
  }

  /// The offset of a fresh unit, or nil when all are given. It is to be prepared before it is written.
  func takeUnit() -> Int? {
    guard Self.size(units: unitsGiven + 1) <= size else { return nil }
    defer { unitsGiven += 1 }
    unitsHeld += 1
    return RecordFormat.headerSize + unitsGiven * RecordFormat.unitSize
  }

  /// Makes a unit's memory ready for records; by the thread that took it, without the lock.
  func prepare(unit offset: Int) {
    let unit = base + offset
    switch pages {
    case .missing:
      // One call for all pages costs less than a fault for each.
      let populateWrite: Int32 = 23  // MADV_POPULATE_WRITE, Linux 5.14; older kernels refuse, and fault
      madvise(unit, RecordFormat.unitSize, populateWrite)
    case .zero: break
    case .used:
      // From the end on, so that the first records find their lines in the nearest cache.
      for page in stride(from: RecordFormat.unitSize - 4096, to: 0, by: -4096) { memset(unit + page, 0, 4096) }
      memset(unit + 8, 0, 4096 - 8)
      // Memory of a unit is 8-byte aligned; only now may readers look for records.
      unit.assumingMemoryBound(to: Atomic<UInt64>.self).pointee.store(0, ordering: .releasing)
    }
  }

  /// Whether the file still is where it was made; memory always is.
  var isInPlace: Bool { mapping.isInPlace }
  /// Whether it may be used again: nothing was done to its file.
  var isWhole: Bool { mapping.isWhole }

  /// Removes the file from its directory, unless something else has taken its place.
  func unlinkFile() { mapping.unlinkFile() }

  /// Stores the journal's count of dropped records where the reader finds it.
  func note(dropped: UInt64) {
    base.storeBytes(of: dropped, toByteOffset: RecordFormat.Header.dropped, as: UInt64.self)
  }
}

/// The system refused to make or map a segment.
struct JournalSegmentError: Error {
  /// errno
  let code: Int32
}

extension RecordFormat {
  /// Checksum of a header, of all but the two words that hold the checksum and the drop counter.
  static func headerChecksum(_ header: UnsafeRawBufferPointer) -> UInt64 {
    var state: UInt64 = 0
    for offset in stride(from: 0, to: headerSize, by: 8) where offset != Header.checksum && offset != Header.dropped {
      state = mix(state, header.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    return state
  }
}
