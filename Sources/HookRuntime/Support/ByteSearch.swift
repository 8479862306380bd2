// ByteSearch — whether a text holds another one, by bytes.
//
// The standard library's search goes by characters, which costs a thousand times as much; names and patterns are looked through for
// every hook.

extension StringProtocol {
  /// The bytes of `part`, which is ASCII, are among the text's.
  func holds(_ part: StaticString) -> Bool {
    let wanted = UnsafeBufferPointer(start: part.utf8Start, count: part.utf8CodeUnitCount)
    func search(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
      bytes.count >= wanted.count
        && (0...bytes.count - wanted.count).contains { start in
          bytes[start] == wanted[0] && wanted.indices.allSatisfy { bytes[start + $0] == wanted[$0] }
        }
    }
    return utf8.withContiguousStorageIfAvailable(search) ?? Array(utf8).withUnsafeBufferPointer(search)
  }
}
