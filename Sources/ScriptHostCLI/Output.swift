// Output — text for people and programs; a closed pipe ends the command quietly.
internal import Glibc

/// stdout and stderr of the command.
enum Output {
  // Only the main thread of the command, which is its only one, prints.
  private nonisolated(unsafe) static var buffer: [UInt8] = []

  /// Prints a line; stdout is buffered, so call `flush` before waiting and at the end.
  static func line(_ text: String) { self.text(text + "\n") }

  /// Prints text as it is.
  static func text(_ text: String) {
    buffer += text.utf8
    if buffer.count >= 65_536 { flush() }
  }

  /// Writes out what is buffered.
  static func flush() {
    var done = 0
    while done < buffer.count {
      let written = buffer.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress! + done, $0.count - done) }
      if written < 0, errno == EINTR { continue }
      if written <= 0 { exit(errno == EPIPE ? 0 : 1) }
      done += written
    }
    buffer.removeAll(keepingCapacity: true)
  }

  /// Prints one sentence on stderr.
  static func note(_ sentence: String) {
    flush()
    var line = "scripthost: " + sentence + "\n"
    _ = line.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
