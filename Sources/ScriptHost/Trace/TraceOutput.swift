// TraceOutput — where trace lines go: one write per line, so that nothing is lost when the program dies.
private import Glibc
private import HookRuntime

final class TraceOutput: @unchecked Sendable {
  // The descriptor never changes; writes of whole lines are serialised by `lock`.
  private let descriptor: Int32
  private let lock = RecursiveLock()

  /// - Parameter path: A file to write instead of stderr.
  init(path: [UInt8]?) {
    guard let path else {
      // A copy, so that a program that closes or redirects its stderr does not take the trace with it.
      let copy = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 200)
      descriptor = copy >= 0 ? copy : STDERR_FILENO
      return
    }
    let opened = (path + [0]).withUnsafeBufferPointer {
      $0.withMemoryRebound(to: CChar.self) { open($0.baseAddress!, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) }
    }
    if opened < 0 {
      let text = "scripthost: cannot write the trace to '\(String(decoding: path, as: UTF8.self))' (errno \(errno)); it goes to stderr\n"
      _ = text.utf8.withContiguousStorageIfAvailable { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
    descriptor = opened < 0 ? STDERR_FILENO : opened
  }

  func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      lock.withLock {
        var done = 0
        while done < bytes.count {
          let n = Glibc.write(descriptor, bytes.baseAddress! + done, bytes.count - done)
          if n < 0 && errno != EINTR { return }
          if n > 0 { done += n }
        }
      }
    }
  }
}
