// NameHash — a number for a mangled name, where thousands are looked for at once.
//
// Names are long, and those of one type differ at their ends alone: they are taken eight bytes at a time. Nobody chooses them
// against us, so no secret goes in.

enum NameHash {
  static func of(_ name: String) -> UInt64 {
    var name = name
    return name.withUTF8 { of(UnsafeRawBufferPointer($0)) }
  }

  static func of(_ name: UnsafeRawBufferPointer) -> UInt64 {
    var hash = UInt64(name.count)
    func mix(_ word: UInt64) {
      hash = (hash ^ word) &* 0x9e37_79b9_7f4a_7c15
      hash ^= hash >> 29
    }
    let whole = name.count & ~7
    for offset in stride(from: 0, to: whole, by: 8) { mix(name.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
    for offset in whole..<name.count { mix(UInt64(name[offset])) }
    return hash
  }
}
