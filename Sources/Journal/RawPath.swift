// RawPath — a path as the kernel has it: bytes without a NUL, not text.
package import Glibc

/// A file path of any bytes.
package struct RawPath: Hashable, Sendable, CustomStringConvertible {
  /// The bytes, without a terminating NUL.
  package let bytes: [UInt8]

  /// Takes bytes up to the first NUL.
  package init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes.prefix { $0 != 0 }) }
  package init(_ text: String) { self.init(text.utf8) }

  /// For people: bytes that are no UTF-8 are shown as U+FFFD.
  package var description: String { String(decoding: bytes, as: UTF8.self) }

  /// Whether the path starts at the root.
  package var isAbsolute: Bool { bytes.first == UInt8(ascii: "/") }

  /// The part after the last slash.
  package var lastComponent: [UInt8] {
    Array(bytes[((bytes.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)...])
  }

  /// The directory part: "/" for what lies there, "." for a name alone.
  package var parent: RawPath {
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return RawPath(".") }
    return slash == 0 ? RawPath("/") : RawPath(bytes[..<slash])
  }

  /// The path with a component below it.
  package func appending(_ component: some Sequence<UInt8>) -> RawPath {
    RawPath(bytes + (bytes.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]) + Array(component))
  }
  package func appending(_ component: String) -> RawPath { appending(component.utf8) }

  /// The path as a C string, borrowed until `body` returns.
  package func withCString<R, E>(_ body: (UnsafePointer<CChar>) throws(E) -> R) throws(E) -> R {
    var text = bytes.map { CChar(bitPattern: $0) }
    text.append(0)
    return try text.withUnsafeBufferPointer { buffer throws(E) in try body(buffer.baseAddress!) }
  }

  /// What `stat` tells, following symbolic links, or nil with errno set.
  package func status() -> stat? {
    var result = stat()
    return withCString({ stat($0, &result) }) == 0 ? result : nil
  }

  /// Makes the directory and those above it, for the owner alone; false with errno set.
  package func makeDirectories() -> Bool {
    if let found = status() { return found.st_mode & S_IFMT == S_IFDIR || fail(ENOTDIR) }
    guard errno == ENOENT else { return false }
    if bytes.contains(UInt8(ascii: "/")), parent != self, !parent.makeDirectories() { return false }
    return withCString { mkdir($0, 0o700) } == 0 || errno == EEXIST
  }

  private func fail(_ code: Int32) -> Bool {
    errno = code
    return false
  }

  /// Names in the directory without "." and "..", in no order; empty when it cannot be read.
  package func directoryEntries() -> [[UInt8]] {
    guard let directory = withCString({ opendir($0) }) else { return [] }
    defer { closedir(directory) }
    var names: [[UInt8]] = []
    while let entry = readdir(directory) {
      // d_name is a C array inside the entry, ended by a NUL.
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: UInt8.self, capacity: 256) { Array(UnsafeBufferPointer(start: $0, count: strlen($0))) }
      }
      if name != Array(".".utf8), name != Array("..".utf8) { names.append(name) }
    }
    return names
  }
}

/// The words the system has for an error number.
package func systemMessage(_ code: Int32) -> String {
  String(cString: strerror(code)).lowercased()
}
