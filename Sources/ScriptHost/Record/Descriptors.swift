// Descriptors — how the host writes without the program noticing: descriptors of its own are out
// of the program's numbers, a reader that went away raises no signal, and the program's stderr is
// used only as long as it is the one the program was started with.
internal import Glibc

enum HostDescriptor {
  /// Moves a descriptor of the host to a high number, closed on exec. The lowest free numbers are
  /// the program's: it may have been started with a closed stderr, and may count on what `open` answers.
  /// - Returns: The new number; -1 when the descriptor would have stood in for a standard stream.
  static func moved(_ descriptor: Int32) -> Int32 {
    guard descriptor >= 0 else { return descriptor }
    let moved = copy(of: descriptor)
    if moved < 0, descriptor > STDERR_FILENO { return descriptor }
    close(descriptor)
    return moved
  }

  /// A second descriptor for the same file, with a high number; -1 when there is none.
  static func copy(of descriptor: Int32) -> Int32 {
    let high = fcntl(descriptor, F_DUPFD_CLOEXEC, 200)
    // A low limit of open files leaves the lower place.
    return high >= 0 ? high : fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
  }

  /// Whether the file can have a reader that goes away.
  static func isStream(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
  }
}

/// Runs a write; SIGPIPE of a closed reader is taken back, so that it never reaches the program.
func withoutBrokenPipeSignal(_ body: () -> Int) -> Int {
  var pipeOnly = sigset_t()
  var previous = sigset_t()
  var pending = sigset_t()
  sigemptyset(&pipeOnly)
  sigaddset(&pipeOnly, SIGPIPE)
  sigpending(&pending)
  let wasPending = sigismember(&pending, SIGPIPE) == 1
  pthread_sigmask(SIG_BLOCK, &pipeOnly, &previous)
  let result = body()
  let code = errno
  if result < 0, code == EPIPE, !wasPending {
    var none = timespec()
    sigtimedwait(&pipeOnly, nil, &none)
  }
  pthread_sigmask(SIG_SETMASK, &previous, nil)
  errno = code
  return result
}

/// The stderr the program was started with.
struct StandardError: Sendable {
  private let device: dev_t
  private let inode: ino_t

  /// Notes which file stderr is; nothing is written later when it is closed now.
  init() {
    let now = Self.identity
    (device, inode) = now ?? (0, 0)
  }

  private static var identity: (dev_t, ino_t)? {
    var status = stat()
    return fstat(STDERR_FILENO, &status) == 0 ? (status.st_dev, status.st_ino) : nil
  }

  /// Writes one text in one piece. Dropped when the program has put another file in the place of its
  /// stderr: that file is the program's alone. Keeps errno.
  func write(_ text: String) {
    let saved = errno
    defer { errno = saved }
    guard let now = Self.identity, now == (device, inode) else { return }
    var text = text
    text.withUTF8 { bytes in
      _ = withoutBrokenPipeSignal { Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }
  }
}
