import Glibc

/// A file mapped read-only for as long as this object lives.
///
/// The mapping follows the file: if another process truncates it meanwhile, reading past the new end raises SIGBUS.
/// Programs and libraries are replaced by rename, which leaves a mapping intact; that is what we rely on.
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
  init(path: String, flags: Int32 = 0, populate: Bool = false) throws(Failure) {
    // Non-blocking, so that a named pipe in the place of a program does not hang us.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags)
    guard descriptor >= 0 else { throw .open(errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .open(errno) }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw .directory
    default: throw .notRegular
    }
    self.status = status
    let size = Int(status.st_size)
    guard size > 0 else {
      view = .empty
      return
    }
    let mapped = mmap(nil, size, PROT_READ, MAP_PRIVATE | (populate ? MAP_POPULATE : 0), descriptor, 0)
    guard let mapped, mapped != MAP_FAILED else { throw .map(errno) }
    view = ByteView(base: mapped, count: size)
  }

  deinit {
    if view.count > 0 { munmap(UnsafeMutableRawPointer(mutating: view.base), view.count) }
  }
}
