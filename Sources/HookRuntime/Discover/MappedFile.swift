private import CHookTrampoline
import Glibc
import Synchronization

/// A file mapped read-only, for as long as this object lives or for ever.
///
/// The mapping follows the file: if another process truncates it meanwhile, reading past the new end raises SIGBUS, and finds zeros where
/// somebody answers that (hkt_mend_mapping). Programs and libraries are replaced by rename, which leaves a mapping intact.
final class MappedFile: @unchecked Sendable {  // the mapping is read-only and unmapped in deinit only
  let view: ByteView
  let status: stat

  enum Failure: Error {
    case open(Int32)
    case directory
    case notRegular
    case map(Int32)
  }

  /// - Parameters:
  ///   - flags: added to O_RDONLY | O_CLOEXEC.
  ///   - populate: read the whole file in now, for small files that will be read entirely.
  convenience init(path: String, flags: Int32 = 0, populate: Bool = false) throws(Failure) {
    let (descriptor, status) = try Self.openRegular(path, flags)
    defer { close(descriptor) }
    try self.init(descriptor, status, populate: populate)
  }

  /// The mapping of the file at `path` that is never undone: symbols, names and sections that point into it may be handed
  /// to anyone, and outlive every object. A file is mapped once, however often it is opened, so what remains for ever is one
  /// range of addresses (and clean, shared page cache) for each program or library that was ever looked at.
  static func forever(path: String) throws(Failure) -> MappedFile {
    let (descriptor, status) = try openRegular(path, 0)
    defer { close(descriptor) }
    let identity = [UInt64(status.st_dev), UInt64(status.st_ino), UInt64(status.st_size)]
    if let known = immortal.withLock({ $0[identity] }) { return known }
    let made = try MappedFile(descriptor, status, populate: false, at: HighPlace.take(Int(status.st_size)))
    immortal.withLock { known in
      // Another thread may have been faster: keep both, pointers into either may be about.
      known[identity + (known[identity] == nil ? [] : [UInt64(UInt(bitPattern: made.view.base))])] = made
    }
    return made
  }

  /// Gives the pages of all lasting mappings, and of those that were read in whole, back; they are read again from the page cache
  /// when somebody looks.
  static func releasePages() {
    immortal.withLock { known in
      for file in known.values where file.view.count > 0 { release(UnsafeMutableRawPointer(mutating: file.view.base), file.view.count) }
    }
    // Behind the lock, so that none of them is unmapped meanwhile.
    populated.withLock { for (base, size) in $0 { UnsafeMutableRawPointer(bitPattern: base).map { release($0, size) } } }
  }

  /// Lets the kernel take the pages away until they are read again.
  private static func release(_ base: UnsafeMutableRawPointer, _ size: Int) { madvise(base, size, MADV_DONTNEED) }

  /// The mappings that were read in whole: address and size.
  private static let populated = Mutex<[UInt: Int]>([:])

  /// The key is made of device, inode and size.
  private static let immortal = Mutex<[[UInt64]: MappedFile]>([:])

  private static func openRegular(_ path: String, _ flags: Int32) throws(Failure) -> (descriptor: Int32, status: stat) {
    // Non-blocking, so that a named pipe in the place of a program does not hang us.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags)
    guard descriptor >= 0 else { throw .open(errno) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      let code = errno
      close(descriptor)
      throw .open(code)
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return (descriptor, status)
    case S_IFDIR:
      close(descriptor)
      throw .directory
    default:
      close(descriptor)
      throw .notRegular
    }
  }

  /// - Parameter place: where it should be; anywhere when that is taken.
  private init(_ descriptor: Int32, _ status: stat, populate: Bool, at place: UnsafeMutableRawPointer? = nil) throws(Failure) {
    self.status = status
    let size = Int(status.st_size)
    guard size > 0 else {
      view = .empty
      return
    }
    let mapped = mmap(place, size, PROT_READ, MAP_PRIVATE | (populate ? MAP_POPULATE : 0), descriptor, 0)
    guard let mapped, mapped != MAP_FAILED else { throw .map(errno) }
    view = ByteView(base: mapped, count: size)
    hkt_note_mapping(mapped, size, false)
    if populate { Self.populated.withLock { $0[UInt(bitPattern: mapped)] = size } }
  }

  deinit {
    guard view.count > 0 else { return }
    Self.populated.withLock { _ = $0.removeValue(forKey: UInt(bitPattern: view.base)) }
    hkt_forget_mapping(view.base)
    munmap(UnsafeMutableRawPointer(mutating: view.base), view.count)
  }
}

/// Addresses above all images. Who looks at the process's mappings from outside (Swift's backtracer) takes the lowest one of a
/// file for the image: one of ours below it hides the names of its functions.
private enum HighPlace {
  /// Where the next one ends: below what the main thread's stack may grow to.
  private static let next = Mutex<UInt?>(top)

  private static var top: UInt? {
    var limit = rlimit()
    // The end of the stack, which the loader notes. Without a limit of the stack images are placed upwards, ours after them.
    guard getrlimit(__rlimit_resource_t(RLIMIT_STACK.rawValue), &limit) == 0, limit.rlim_cur < 1 << 30,
      let end = dlsym(nil, "__libc_stack_end")?.load(as: UInt.self)
    else { return nil }
    let room = max(UInt(limit.rlim_cur), 8 << 20) + (32 << 20)
    return end > room ? (end - room) & ~0xfff : nil
  }

  /// Room for so many bytes; nil where there may be none above the images.
  static func take(_ size: Int) -> UnsafeMutableRawPointer? {
    let image = UInt(bitPattern: #dsohandle)
    return next.withLock { next in
      guard let end = next, end > UInt(size) + image else { return nil }
      let place = (end - UInt(size)) & ~0xfff
      guard place > image else { return nil }
      next = place
      return UnsafeMutableRawPointer(bitPattern: place)
    }
  }
}
