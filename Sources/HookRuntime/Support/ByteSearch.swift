// ByteSearch — whether a text holds another one, by bytes.
//
// The standard library's search goes by characters, which costs a thousand times as much; names and patterns are looked through for
// every hook.
private import Glibc

extension StringProtocol {
  /// The bytes of `part`, which is ASCII, are among the text's.
  package func holds(_ part: StaticString) -> Bool {
    let size = part.utf8CodeUnitCount
    func search(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
      guard size > 0, var rest = UnsafeRawPointer(bytes.baseAddress) else { return size == 0 }
      let end = rest + bytes.count
      while end - rest >= size, let found = memchr(rest, Int32(part.utf8Start[0]), end - rest - size + 1) {
        if memcmp(found, part.utf8Start, size) == 0 { return true }
        rest = UnsafeRawPointer(found) + 1
      }
      return false
    }
    return utf8.withContiguousStorageIfAvailable(search) ?? Array(utf8).withUnsafeBufferPointer(search)
  }
}
