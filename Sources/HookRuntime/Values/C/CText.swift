// CText — reads and makes C strings of the program.
//
// A pointer that a program passes to the kernel may be wrong: the kernel answers EFAULT. Whoever looks at it as well must not
// crash where the program would not, so texts are read by hkt_peek, which fails the same way.
private import CHookTrampoline
private import Glibc
private import Synchronization

package enum CText {
  /// Bytes of a text that are looked at; longer ones are cut.
  package static let longest = 1 << 20

  /// Gives `body` the bytes before the NUL; nil for NULL and for memory that cannot be read. Valid only inside.
  package static func withBytes<R>(_ address: UInt, _ body: (UnsafeRawBufferPointer) -> R) -> R? {
    guard address != 0 else { return nil }
    // Most texts are short: one read to the end of the page, at most.
    let first = min(256, 4096 - Int(address & 4095))
    return withUnsafeTemporaryAllocation(byteCount: 256, alignment: 16) { buffer -> R?? in
      guard read(address, first, into: buffer.baseAddress!) else { return .some(nil) }
      guard let end = memchr(buffer.baseAddress!, 0, first) else { return nil }
      return .some(
        body(UnsafeRawBufferPointer(start: buffer.baseAddress!, count: UnsafeRawPointer(end) - UnsafeRawPointer(buffer.baseAddress!))))
    } ?? long(address, body)
  }

  /// Gives `body` a text that goes on into other pages, read piece by piece; nil where it has no end.
  private static func long<R>(_ address: UInt, _ body: (UnsafeRawBufferPointer) -> R) -> R? {
    var bytes: [UInt8] = []
    var at = address
    while bytes.count < longest {
      let count = 4096 - Int(at & 4095)
      let old = bytes.count
      bytes.append(contentsOf: repeatElement(0, count: count))
      let end: Int? = bytes.withUnsafeMutableBytes { buffer in
        let part = buffer.baseAddress! + old
        guard read(at, count, into: part) else { return -1 }
        return memchr(part, 0, count).map { UnsafeRawPointer($0) - UnsafeRawPointer(part) }
      }
      if let end {
        if end < 0 { return nil }
        bytes.removeLast(count - end)
        break
      }
      at += UInt(count)
    }
    return bytes.prefix(longest).withUnsafeBytes(body)
  }

  /// Copies bytes that may be gone; false where they are.
  private static func read(_ address: UInt, _ count: Int, into memory: UnsafeMutableRawPointer) -> Bool {
    hkt_peek(UInt64(address), memory, count)
  }

  /// The text as a C string that is never freed; equal texts are one. For results, whose callers nobody sees letting go.
  package static func forever(_ bytes: UnsafeRawBufferPointer) -> UInt {
    let key = Array(bytes)
    return kept.withLock { kept in
      if let known = kept[key] { return known }
      let made = UInt(bitPattern: copy(bytes))
      kept[key] = made
      return made
    }
  }
  private static let kept = Mutex<[[UInt8]: UInt]>([:])

  /// A copy with a NUL behind it; freed with `deallocate`.
  package static func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutableRawPointer {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes.count + 1, alignment: 16)
    if let base = bytes.baseAddress { memory.copyMemory(from: base, byteCount: bytes.count) }
    memory.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
    return memory
  }
}
