/// A mangled type name as metadata spells it: text with references to descriptors in between.
package struct MangledTypeReference: Sendable {
  /// A reference inside a mangled name.
  package struct Symbolic: Sendable {
    /// Where its control byte stands in `bytes`; four address bytes follow, eight from kind 0x18 on.
    package let offset: Int
    /// 1 descriptor, 2 pointer to a descriptor, 9 accessor function …
    package let kind: UInt8
    /// The name of the descriptor; nil for what has none.
    package let name: String?
    /// The virtual address (of this image) it leads to; nil when that lies in another image.
    package let target: UInt64?
  }

  /// Up to but without the final NUL. Address bytes are as they were found and mean nothing elsewhere.
  package let bytes: [UInt8]
  package let symbolic: [Symbolic]

  private static let maximumSize = 1 << 16

  /// Reads the name at `address`; nil when it runs out of readable memory.
  init?(_ reader: MetadataReader, at address: UInt64, names: inout ContextNames, depth: Int = 0) {
    guard let view = reader.view(at: address), depth < 16 else { return nil }
    var symbolic: [Symbolic] = []
    var at = 0
    while true {
      guard let byte: UInt8 = view.load(at), at < Self.maximumSize else { return nil }
      if byte == 0 { break }
      guard byte < 0x20 else {
        at += 1
        continue
      }
      let size = byte < 0x18 ? 4 : 8
      symbolic.append(Self.resolve(reader, byte, address &+ UInt64(at), at, &names, depth))
      at += 1 + size
    }
    guard let whole = view.slice(0, UInt64(at)) else { return nil }
    bytes = Array(whole.raw)
    self.symbolic = symbolic
  }

  private static func resolve(
    _ reader: MetadataReader, _ kind: UInt8, _ address: UInt64, _ offset: Int, _ names: inout ContextNames, _ depth: Int
  ) -> Symbolic {
    // 0x18… are absolute and never written by the compiler into a file.
    guard kind < 0x18, let place = reader.relative(at: address &+ 1),
      let target = reader.target(place, isIndirect: kind == 2)
    else { return Symbolic(offset: offset, kind: kind, name: nil, target: nil) }
    let isDescriptor = kind == 1 || kind == 2
    var own: UInt64?
    if case .address(let found) = target { own = found &- reader.bias }
    return Symbolic(
      offset: offset, kind: kind, name: isDescriptor ? names.name(of: target, depth: depth + 1) : nil, target: own)
  }
}
