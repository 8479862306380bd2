// JournalSegment — one mapped stretch of the journal: a file, or plain memory.
//
// The only place that maps journal memory. The whole file is allocated before it
// is mapped, because writing to a hole on a full disk would stop the program with
// SIGBUS; it is readable only, also by its owner, because cutting a mapped file
// short would do the same. No descriptor stays open: programs close and count theirs.
internal import Glibc

/// A mapped segment. Its memory stays valid as long as the object lives; the journal keeps it
/// while a thread owns a unit of it.
// Unchecked: the constants are safe, the counters are only touched under the journal's lock, and
// the memory follows the rules of Journal.
final class JournalSegment: @unchecked Sendable {
  /// Start of the mapping: the header.
  let base: UnsafeMutableRawPointer
  /// Bytes mapped.
  let size: Int
  /// Number of the segment in its journal, from 0.
  let index: Int
  /// Start value of all checksums.
  let seed: UInt64
  /// The file, nil for memory.
  let file: RawPath?
  private let inode: UInt64
  /// Units given to threads so far.
  private var unitsGiven = 0
  /// Units of this segment that a thread (or the pool of states) still holds.
  var unitsHeld = 0

  /// Units in a segment with this number: small at first, so that a short run leaves a small file.
  static func units(at index: Int) -> Int { min(1 << (2 * min(index, 5)), 128) }

  /// Creates and maps a segment; an error is an errno value.
  init(index: Int, file: RawPath?, units: Int, identity: JournalIdentity, start: JournalStart) throws(JournalSegmentError) {
    self.index = index
    self.file = file
    size = RecordFormat.headerSize + units * RecordFormat.unitSize
    // A reader, or a kill, must never meet a file without its header.
    let unfinished = file.map { RawPath($0.bytes + JournalFile.unfinishedSuffix) }
    (base, inode) = try Self.map(file: unfinished, size: size)
    seed = UInt64.random(in: .min ... .max)
    writeHeader(identity, start)
    try putInPlace(unfinished)
  }

  /// Gives the finished file its name.
  private func putInPlace(_ unfinished: RawPath?) throws(JournalSegmentError) {
    guard let unfinished, let file else { return }
    guard unfinished.withCString({ from in file.withCString { rename(from, $0) } }) != 0 else { return }
    let code = errno
    _ = unfinished.withCString { unlink($0) }
    throw JournalSegmentError(code: code)
  }

  deinit { munmap(base, size) }

  private static func map(file: RawPath?, size: Int) throws(JournalSegmentError) -> (UnsafeMutableRawPointer, UInt64) {
    guard let file else {
      let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      guard memory != MAP_FAILED, let memory else { throw JournalSegmentError(code: errno) }
      return (memory, 0)
    }
    let descriptor = file.withCString { open($0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o400) }
    guard descriptor >= 0 else { throw JournalSegmentError(code: errno) }
    defer { close(descriptor) }
    let code = withoutWriteSignals { posix_fallocate(descriptor, 0, off_t(size)) }
    var status = stat()
    guard code == 0, fstat(descriptor, &status) == 0 else {
      _ = file.withCString { unlink($0) }
      throw JournalSegmentError(code: code == 0 ? errno : code)
    }
    let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    guard memory != MAP_FAILED, let memory else {
      let code = errno
      _ = file.withCString { unlink($0) }
      throw JournalSegmentError(code: code)
    }
    return (memory, UInt64(status.st_ino))
  }

  private func writeHeader(_ identity: JournalIdentity, _ start: JournalStart) {
    typealias Header = RecordFormat.Header
    var text = identity.bootID.utf8 + [0] + identity.buildID.utf8 + [0] + identity.program.bytes + [0]
    text = Array(text.prefix(Header.maximumText))
    base.storeBytes(of: RecordFormat.version, toByteOffset: Header.version, as: UInt32.self)
    base.storeBytes(of: UInt32(identity.pid), toByteOffset: Header.pid, as: UInt32.self)
    base.storeBytes(of: start.wall, toByteOffset: Header.startWall, as: UInt64.self)
    base.storeBytes(of: start.monotonic, toByteOffset: Header.startMonotonic, as: UInt64.self)
    base.storeBytes(of: seed, toByteOffset: Header.seed, as: UInt64.self)
    base.storeBytes(of: UInt32(index), toByteOffset: Header.segment, as: UInt32.self)
    base.storeBytes(of: UInt32(text.count), toByteOffset: Header.textLength, as: UInt32.self)
    text.withUnsafeBytes { (base + Header.text).copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
    base.storeBytes(of: RecordFormat.magic, toByteOffset: Header.magic, as: UInt64.self)
    base.storeBytes(
      of: RecordFormat.headerChecksum(UnsafeRawBufferPointer(start: base, count: RecordFormat.headerSize)),
      toByteOffset: Header.checksum, as: UInt64.self)
  }

  /// The offset of a fresh unit, or nil when all are given.
  func takeUnit() -> Int? {
    guard RecordFormat.headerSize + (unitsGiven + 1) * RecordFormat.unitSize <= size else { return nil }
    defer { unitsGiven += 1 }
    unitsHeld += 1
    return RecordFormat.headerSize + unitsGiven * RecordFormat.unitSize
  }

  /// Has the kernel bring in a unit's pages at once, which costs a third of one fault per page.
  static func populate(_ unit: UnsafeMutableRawPointer) {
    let populateWrite: Int32 = 23  // MADV_POPULATE_WRITE, Linux 5.14; older kernels refuse, and fault
    madvise(unit, RecordFormat.unitSize, populateWrite)
  }

  /// Whether the file still is where it was made; memory always is.
  var isInPlace: Bool {
    guard let file else { return true }
    return file.status().map { UInt64($0.st_ino) == inode } ?? false
  }

  /// Removes the file from its directory, unless something else has taken its place.
  func unlinkFile() {
    if let file, isInPlace { _ = file.withCString { unlink($0) } }
  }

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
