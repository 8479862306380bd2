// Descriptors — how the host writes without the program noticing: descriptors of its own are out
// of the program's numbers, a reader that went away and a size limit raise no signal, and the program's stderr is
// used only as long as it is the one the program was started with.
internal import Glibc
private import Synchronization

package enum HostDescriptor {
  /// Moves a descriptor of the host to a high number, closed on exec. The lowest free numbers are
  /// the program's: it may have been started with a closed stderr, and may count on what `open` answers.
  /// - Returns: The new number; -1 when there is no high one, and the descriptor is closed.
  package static func moved(_ descriptor: Int32) -> Int32 {
    guard descriptor >= 0 else { return descriptor }
    let moved = copy(of: descriptor)
    close(descriptor)
    return moved
  }

  /// A second descriptor for the same file, with a high number; -1 when there is none.
  package static func copy(of descriptor: Int32) -> Int32 {
    let high = fcntl(descriptor, F_DUPFD_CLOEXEC, 200)
    var limit = rlimit()
    if high >= 0 || getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) != 0 { return high }
    // Where few files may be open, the last numbers; those that follow the standard streams stay the program's.
    let end = Int32(clamping: limit.rlim_cur)
    return end < fewest ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, end - end / 4)
  }

  /// A program that may have no more files open than these keeps all of them.
  private static let fewest: Int32 = 16

  /// Whether a write can raise a signal: the file may have a reader that goes away, or its size is limited.
  package static func raisesSignals(_ descriptor: Int32) -> Bool {
    var limit = rlimit()
    let isLimited = getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) != 0 || limit.rlim_cur != rlim_t.max
    return isLimited || isStream(descriptor)
  }

  /// Whether the file is anything but an ordinary one: it may have no room for now.
  package static func isStream(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
  }
}

/// Runs writes of the host; SIGPIPE of a closed reader and SIGXFSZ of a size limit are taken back, so that
/// they never reach the program, and the thread is not cancelled in between. Keeps the errno of `body`.
package func withoutWriteSignals<R>(_ body: () -> R) -> R {
  var signals = sigset_t()
  var previous = sigset_t()
  var pending = sigset_t()
  var cancel: Int32 = 0
  pthread_setcancelstate(Int32(PTHREAD_CANCEL_DISABLE), &cancel)
  sigemptyset(&signals)
  sigaddset(&signals, SIGPIPE)
  sigaddset(&signals, SIGXFSZ)
  sigpending(&pending)
  // What waits already is the program's.
  for signal in [SIGPIPE, SIGXFSZ] where sigismember(&pending, signal) == 1 { sigdelset(&signals, signal) }
  pthread_sigmask(SIG_BLOCK, &signals, &previous)
  let result = body()
  let code = errno
  var none = timespec()
  while sigtimedwait(&signals, nil, &none) > 0 {}
  pthread_sigmask(SIG_SETMASK, &previous, nil)
  pthread_setcancelstate(cancel, nil)
  errno = code
  return result
}

/// The stderr the program was started with.
package struct StandardError: Sendable {
  private let device: dev_t
  private let inode: ino_t

  /// Notes which file stderr is; nothing is written later when it is closed now.
  package init() {
    let now = Self.identity
    (device, inode) = now ?? (0, 0)
  }

  private static func hasRoom() -> Bool {
    var place = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
    return poll(&place, 1, dropped.load(ordering: .relaxed) == 0 ? patience : 0) > 0
  }

  /// A pipe that can be written to has room for PIPE_BUF bytes.
  private static func writeInParts(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var written = 0
    while written < bytes.count {
      guard hasRoom() else {
        dropped.add(1, ordering: .relaxed)
        return written
      }
      let lost = dropped.exchange(0, ordering: .relaxed)
      if lost > 0 {
        var text = "scripthost: \(lost) messages were dropped, since stderr was not read\n"
        _ = text.withUTF8 { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
        continue
      }
      let count = Glibc.write(STDERR_FILENO, bytes.baseAddress! + written, min(bytes.count - written, Int(PIPE_BUF)))
      guard count > 0 else { return written }
      written += count
    }
    return written
  }

  private static var identity: (dev_t, ino_t)? {
    var status = stat()
    return fstat(STDERR_FILENO, &status) == 0 ? (status.st_dev, status.st_ino) : nil
  }

  /// Texts that a reader who does not read kept from being written, by all who write.
  private static let dropped = Atomic<Int>(0)
  /// How long one text waits for room, in milliseconds; the next ones do not wait until there is room again.
  private static let patience: Int32 = 200

  /// Writes one text in one piece. Never waits long: what a pipe or a terminal has no room for is dropped and counted, and the number
  /// is reported when there is room again. Dropped when the program has put another file in the place of its
  /// stderr: that file is the program's alone. Keeps errno.
  package func write(_ text: String) {
    let saved = errno
    defer { errno = saved }
    guard let now = Self.identity, now == (device, inode) else { return }
    var text = text
    text.withUTF8 { bytes in
      _ = withoutWriteSignals {
        HostDescriptor.isStream(STDERR_FILENO) ? Self.writeInParts(bytes) : Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
      }
    }
  }
}
