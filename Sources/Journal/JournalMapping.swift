// JournalMapping — the memory of a segment, and the file behind it.
//
// The only place that maps journal memory. The whole file is allocated before it
// is mapped, because writing to a hole on a full disk would stop the program with
// SIGBUS; it is readable only, also by its owner, because cutting a mapped file
// short would do the same. No descriptor stays open: programs close and count theirs.
//
// The kernel's work for a fresh page of a mapped file is most of what a record
// costs, so a file is written with zeros first: the kernel then has its pages in
// large pieces, and one fault maps a whole piece. A segment that would be removed
// is used again under another name, with all its pages (JournalSegment).
internal import Glibc
private import Synchronization

/// Mapped memory; valid as long as the object lives.
// Unchecked: the constants are safe, `file` is only touched under the journal's lock, and the
// memory follows the rules of Journal.
package final class JournalMapping: @unchecked Sendable {
  let base: UnsafeMutableRawPointer
  /// Bytes mapped.
  let size: Int
  /// The file, nil for memory.
  private(set) var file: RawPath?
  private let inode: UInt64

  /// Makes and maps a file that is not there yet, or memory; an error is an errno value.
  init(file: RawPath?, size: Int, on fileSystem: JournalFileSystem) throws(JournalSegmentError) {
    self.file = file
    self.size = size
    (base, inode) = if let file { try Self.map(file, size, fileSystem) } else { try Self.map(size) }
  }

  deinit {
    if file != nil { Self.watchers.withLock { $0 }?.forget(base) }
    munmap(base, size)
  }

  /// Who is notified of files that are mapped: a file may be cut short by somebody else, and writing to it is a fault then.
  package final class Watcher: Sendable {
    let note: @Sendable (UnsafeRawPointer, Int) -> Void
    let forget: @Sendable (UnsafeRawPointer) -> Void
    package init(note: @escaping @Sendable (UnsafeRawPointer, Int) -> Void, forget: @escaping @Sendable (UnsafeRawPointer) -> Void) {
      self.note = note
      self.forget = forget
    }
  }
  private static let watchers = Mutex<Watcher?>(nil)
  /// Before the first journal is opened.
  package static func watch(_ watcher: Watcher) { watchers.withLock { $0 = watcher } }

  /// Memory of that many bytes, page by page, and where it begins in the file.
  private static func map(_ size: Int) throws(JournalSegmentError) -> (UnsafeMutableRawPointer, UInt64) {
    let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard memory != MAP_FAILED, let memory else { throw JournalSegmentError(code: errno) }
    return (memory, 0)
  }

  private static func map(
    _ file: RawPath, _ size: Int, _ fileSystem: JournalFileSystem
  ) throws(JournalSegmentError) -> (UnsafeMutableRawPointer, UInt64) {
    let descriptor = file.withCString { open($0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o400) }
    guard descriptor >= 0 else { throw JournalSegmentError(code: errno) }
    defer { close(descriptor) }
    if !fileSystem.mayPrefill { keepInPlace(descriptor) }
    let code = withoutWriteSignals { () -> Int32 in
      let code = posix_fallocate(descriptor, 0, off_t(size))
      if code == 0, fileSystem.mayPrefill { fill(descriptor, size) }
      return code
    }
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
    watchers.withLock { $0 }?.note(memory, size)
    return (memory, UInt64(status.st_ino))
  }

  /// Asks a file system that copies on write, such as btrfs, not to do so for this file, which is empty yet; others refuse.
  private static func keepInPlace(_ descriptor: Int32) {
    let getFlags: UInt = 0x8008_6601  // FS_IOC_GETFLAGS
    let setFlags: UInt = 0x4008_6602  // FS_IOC_SETFLAGS
    let noCopyOnWrite = 0x0080_0000  // FS_NOCOW_FL
    var flags = 0
    guard ioctl(descriptor, getFlags, &flags) == 0 else { return }
    flags |= noCopyOnWrite
    _ = ioctl(descriptor, setFlags, &flags)
  }

  /// Writes zeros; what is not written is only slower later.
  private static func fill(_ descriptor: Int32, _ size: Int) {
    let page = 4096
    // A piece is what one fault maps, and so what a program's memory grows by ahead of its records.
    let pages = 64
    let zeros = UnsafeMutableRawPointer.allocate(byteCount: page, alignment: 16)
    defer { zeros.deallocate() }
    memset(zeros, 0, page)
    withUnsafeTemporaryAllocation(of: iovec.self, capacity: pages) { pieces in
      pieces.initialize(repeating: iovec(iov_base: zeros, iov_len: page))
      var done = 0
      while done < size {
        let written = writev(descriptor, pieces.baseAddress, Int32(min(pages, (size - done) / page)))
        guard written > 0, written % page == 0 else { return }
        done += written
      }
    }
  }

  /// Gives the file another name, of a file that is not there or of no account.
  func move(to other: RawPath) throws(JournalSegmentError) {
    guard let file else { return }
    guard file.withCString({ from in other.withCString { rename(from, $0) } }) == 0 else { throw JournalSegmentError(code: errno) }
    self.file = other
  }

  /// Makes the file look as new as it is: stores into memory change no times. Pruning goes by them.
  func touch() {
    _ = file?.withCString { utimensat(AT_FDCWD, $0, nil, 0) }
  }

  /// Whether the file still is where it was put, and as long as it was; memory always is.
  var isInPlace: Bool { file == nil || status.map { Int($0.st_size) == size } ?? false }

  /// Whether, besides, it still has its blocks: writing to it needs no others.
  var isWhole: Bool { file == nil || status.map { Int($0.st_size) == size && Int($0.st_blocks) * 512 >= size } ?? false }

  /// Removes the file from its directory, unless something else has taken its place.
  func unlinkFile() {
    if let file, status != nil { _ = file.withCString { unlink($0) } }
  }

  /// About the file, when what has its name is still the file that was mapped.
  private var status: stat? { file?.status().flatMap { UInt64($0.st_ino) == inode ? $0 : nil } }
}

/// What a file system does when a file is written for the second time. When it takes other blocks for it, a full disk stops
/// a program that writes to mapped memory, with SIGBUS.
enum JournalFileSystem {
  /// Writes the same blocks: ext2 to ext4, and tmpfs.
  case inPlace
  /// Does so while no copy of the file shares them: XFS, where `cp` makes such copies.
  case inPlaceUnlessCopied
  /// Takes other blocks, or it is not known.
  case other

  /// Of a directory; memory is written in place.
  init(of directory: RawPath?) {
    switch directory.map(Self.kind) {
    case nil, 0xef53, 0x0102_1994: self = .inPlace
    case 0x5846_5342: self = .inPlaceUnlessCopied
    default: self = .other
    }
  }

  /// The kind as the kernel numbers them; 0 when it does not tell.
  private static func kind(_ directory: RawPath) -> Int {
    // The symbol has this type, and stores less than 256 bytes, the first word of which is the kind; its header shows
    // it only to other languages.
    guard let symbol = dlsym(nil, "statfs") else { return 0 }
    let statfs = unsafeBitCast(symbol, to: (@convention(c) (UnsafePointer<CChar>, UnsafeMutableRawPointer) -> Int32).self)
    return withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { about in
      directory.withCString { statfs($0, about.baseAddress!) } == 0 ? about.load(as: Int.self) : 0
    }
  }

  /// Whether the pages of a new file may be made with it, by writing zeros: nobody has a copy yet.
  var mayPrefill: Bool { self != .other }
  /// Whether a file may be used again.
  var mayUseAgain: Bool { self == .inPlace }
}
