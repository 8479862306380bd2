// StringBits — reads a Swift String's bytes from its two words without retaining or allocating.
//
// Layout: stdlib StringObject.swift (64-bit): word 0 count and flags (bit 60: the text follows the object's header),
// word 1 the object with discriminator bits 63-60 (bit 61: small, bit 60: foreign).
private import Glibc

package enum StringBits {
  /// The two words of an ASCII text of up to 15 bytes, which lies in them: nothing is to be ended of it. nil for other texts.
  package static func small(_ bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64)? {
    guard bytes.count <= 15 else { return nil }
    var words: (UInt64, UInt64) = (0, 0)
    withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: bytes) }
    guard (words.0 | words.1) & 0x8080_8080_8080_8080 == 0 else { return nil }
    // Bits 63 to 61: nothing to count, ASCII, small.
    return (words.0, words.1 | 0xE0 << 56 | UInt64(bytes.count) << 56)
  }

  /// The text has these bytes.
  static func are(_ text: String?, _ bytes: UnsafeRawBufferPointer) -> Bool {
    // A String is two words.
    guard let text, case let words = unsafeBitCast(text, to: (UInt64, UInt64).self) else { return false }
    return withUTF8(words.0, words.1) {
      $0.count == bytes.count && (bytes.isEmpty || memcmp($0.baseAddress!, bytes.baseAddress!, bytes.count) == 0)
    }
  }

  /// Gives `body` the UTF-8 bytes. They are valid only inside, while the owner of the string keeps it.
  @inline(__always)
  package static func withUTF8<R>(_ word0: UInt64, _ word1: UInt64, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    if word1 >> 61 & 1 == 1 {  // small: up to 15 bytes in the words themselves, count in bits 56-59
      return withUnsafeBytes(of: (word0, word1)) { body(UnsafeRawBufferPointer(rebasing: $0[..<Int(word1 >> 56 & 0xF)])) }
    }
    if let bytes = inObject(word0, word1) { return body(bytes) }
    // Shared and foreign strings: let the library read them. A String is these two words; the copy is retained.
    var copy = unsafeBitCast((word0, word1), to: String.self)
    return copy.withUTF8 { body(UnsafeRawBufferPointer($0)) }
  }

  /// The UTF-8 bytes of a native or literal string, nil for the other forms. Valid while the owner keeps the string.
  package static func inObject(_ word0: UInt64, _ word1: UInt64) -> UnsafeRawBufferPointer? {
    guard word1 >> 60 & 3 == 0, word0 >> 60 & 1 == 1, let object = UnsafeRawPointer(bitPattern: UInt(word1 & 0x0FFF_FFFF_FFFF_FFFF))
    else { return nil }
    // The text begins 32 bytes after the (biased) object address.
    return UnsafeRawBufferPointer(start: object + 32, count: Int(word0 & 0xFFFF_FFFF_FFFF))
  }

  /// The UTF-8 bytes of the string whose two words are at `words`, unless it is shared or foreign. Valid while the words
  /// stay and the owner keeps the string.
  package static func inRegisters(_ words: UnsafeRawPointer) -> UnsafeRawBufferPointer? {
    let word1 = words.load(fromByteOffset: 8, as: UInt64.self)
    if word1 >> 61 & 1 == 1 { return UnsafeRawBufferPointer(start: words, count: Int(word1 >> 56 & 0xF)) }
    return inObject(words.load(as: UInt64.self), word1)
  }
}
