// SummedFile — small state on disk: lines of text with a sum at their end, replaced as a whole.
private import Glibc
internal import Journal

/// Reads and replaces such files. Any thread; of two processes the later one's text stands.
enum SummedFile {
  /// The bytes of the file, at most 1 MiB; nil where it cannot be opened.
  static func bytes(of path: RawPath) -> [UInt8]? {
    let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      while bytes.count < 1 << 20 {
        let count = Glibc.read(descriptor, buffer.baseAddress!, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return }
        bytes += buffer[..<count]
      }
    }
    return bytes
  }

  /// FNV-1a: against torn and damaged files, not against forged ones.
  static func sum(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  /// The text with the line of its sum.
  static func sealed(_ text: String) -> [UInt8] { Array((text + "sum \(String(sum(text.utf8), radix: 16))\n").utf8) }

  /// The lines behind the first one, which must be `title`; nil when the file is damaged or another one.
  static func lines(_ bytes: [UInt8], title: String) -> [Substring]? {
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.hasPrefix(title + "\n"), text.hasSuffix("\n"), let last = text.dropLast().lastIndex(of: "\n") else { return nil }
    let body = text[...last]
    guard text[text.index(after: last)...] == "sum \(String(sum(body.utf8), radix: 16))\n" else { return nil }
    return body.split(separator: "\n").dropFirst().map { $0 }
  }

  /// Replaces the file; false with errno set.
  static func replace(_ path: RawPath, with text: [UInt8]) -> Bool {
    guard path.parent.makeDirectories() else { return false }
    let beside = RawPath(path.bytes + Array(".\(getpid())".utf8))
    let descriptor = beside.withCString { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600) }
    guard descriptor >= 0 else { return false }
    let isWritten = withoutWriteSignals { text.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } == text.count }
    let isSynced = isWritten && fdatasync(descriptor) == 0
    close(descriptor)
    let isPut = isSynced && beside.withCString { from in path.withCString { rename(from, $0) } } == 0
    if !isPut {
      let code = errno
      _ = beside.withCString { unlink($0) }
      errno = code
    }
    return isPut
  }

  /// The file of one program in a folder of the state directory.
  /// - Parameter program: its absolute path.
  static func place(_ state: RawPath, _ folder: String, program: RawPath, ending: String) -> RawPath {
    state.appending(folder).appending(program.lastComponent + Array("-\(String(sum(program.bytes), radix: 16)).\(ending)".utf8))
  }
}
