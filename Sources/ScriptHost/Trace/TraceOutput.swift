// TraceOutput — where trace lines go: one write per line, so that nothing is lost when the program dies.
private import Glibc
private import HookRuntime
internal import Journal

final class TraceOutput: @unchecked Sendable {
  // The descriptor never changes; writes of whole lines are serialised by `lock`.
  private let descriptor: Int32
  private let raisesSignals: Bool
  private let lock = RecursiveLock()

  /// - Parameter path: A file to write instead of stderr.
  init(path: [UInt8]?) {
    guard let path else {
      // A copy, so that a program that closes or redirects its stderr does not take the trace with it.
      descriptor = Self.ownStderr()
      raisesSignals = HostDescriptor.raisesSignals(descriptor)
      return
    }
    let opened = HostDescriptor.moved(
      (path + [0]).withUnsafeBufferPointer {
        $0.withMemoryRebound(to: CChar.self) { open($0.baseAddress!, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) }
      })
    if opened < 0 {
      // No number is high enough for it where few files may be open.
      let code = errno == EINVAL ? EMFILE : errno
      StandardError().write("scripthost: cannot write the trace to '\(RawPath(path))', \(systemMessage(code)); it goes to stderr\n")
    }
    descriptor = opened < 0 ? Self.ownStderr() : opened
    raisesSignals = HostDescriptor.raisesSignals(descriptor)
  }

  /// A second descriptor for it; where none is to be had, that of the program.
  private static func ownStderr() -> Int32 {
    let own = HostDescriptor.copy(of: STDERR_FILENO)
    return own < 0 ? STDERR_FILENO : own
  }

  func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      lock.withLock {
        var done = 0
        while done < bytes.count {
          let place = bytes.baseAddress! + done
          // `trace … | head` ends the trace, not the program.
          let n =
            raisesSignals
            ? withoutWriteSignals { Glibc.write(descriptor, place, bytes.count - done) }
            : Glibc.write(descriptor, place, bytes.count - done)
          if n < 0 && errno != EINTR { return }
          if n > 0 { done += n }
        }
      }
    }
  }
}
