// ConsoleHistory — the inputs of earlier sessions of the console, in a file of the state directory that only its owner reads. Each is one line
// of the file: U+001E stands between the lines of one input.
internal import Glibc
internal import Journal

/// One thread. Where the file cannot be used, history lasts as long as the session.
struct ConsoleHistory {
  private let file: RawPath?
  /// The file is cut to this many lines, when it has twice as many.
  private static let most = 1000
  /// No key types it.
  private static let lineMark = "\u{1E}"

  /// - Parameter state: nil: nothing is kept.
  init(state: RawPath?) {
    guard let state, state.makeDirectories() else {
      file = nil
      return
    }
    file = state.appending("console-history")
  }

  /// What was typed in earlier sessions, oldest first.
  func load() -> [String] {
    guard let file, let text = Self.read(file) else { return [] }
    let lines = text.split(separator: "\n").map(String.init)
    if lines.count > 2 * Self.most { cut(Array(lines.suffix(Self.most))) }
    return lines.suffix(Self.most).map { $0.replacing(Self.lineMark, with: "\n") }
  }

  /// Keeps an input at once; one that begins with a space is not kept, as in shells. Several consoles may share the file.
  func add(_ line: String) {
    guard let file, !line.hasPrefix(" ") else { return }
    Self.write(line.replacing("\n", with: Self.lineMark) + "\n", to: file, O_APPEND)
  }

  private func cut(_ lines: [String]) {
    guard let file else { return }
    let fresh = RawPath("\(file.description).\(getpid())")
    guard Self.write(lines.joined(separator: "\n") + "\n", to: fresh, O_TRUNC) else { return }
    _ = fresh.withCString { from in file.withCString { rename(from, $0) } }
  }

  private static func read(_ file: RawPath) -> String? {
    let descriptor = file.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    // A file that grew beyond all use is not read whole.
    while bytes.count < 16 << 20 {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @discardableResult
  private static func write(_ text: String, to file: RawPath, _ flag: Int32) -> Bool {
    let descriptor = file.withCString { open($0, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flag, 0o600) }
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    // One write, so that lines of several consoles do not mix.
    return Glibc.write(descriptor, bytes, bytes.count) == bytes.count
  }
}
