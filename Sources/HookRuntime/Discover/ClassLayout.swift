// ClassLayout — the tables at the end of a class descriptor: generics, initialisation, vtable, overrides.
//
// swift/ABI/Metadata.h: each part is there when a flag of the descriptor says so, in this order.

/// A reference to something that may be another image's.
package enum ImageReference: Sendable, Equatable {
  /// Virtual address.
  case address(UInt64)
  /// The symbol that the loader looks up.
  case symbol(String)

  init(_ target: MetadataReader.Target, _ reader: MetadataReader) {
    switch target {
    case .address(let address): self = .address(address &- reader.bias)
    case .symbol(let name): self = .symbol(String(decoding: name, as: UTF8.self))
    }
  }
}

/// An entry of an ancestor's vtable that a class fills anew.
package struct OverrideEntry: Sendable {
  /// The descriptor of the class whose table has the entry.
  package let introducer: ImageReference
  /// The entry: where the introducer's `VTableEntry.descriptor` is.
  package let entry: ImageReference
  package let implementation: VTableEntry.Target
}

/// A class descriptor's trailing parts, as far as its override table.
struct ClassLayout {
  /// Address of the record of how metadata is initialised, where there is one.
  let initialization: UInt64?
  /// Address of the vtable header: UInt32 offset, UInt32 count; entries of eight bytes follow.
  let vtable: UInt64?
  /// Address of the override table: UInt32 count; entries of twelve bytes follow.
  private let overrideTable: UInt64?

  init?(_ reader: MetadataReader, _ address: UInt64, _ flags: UInt32) {
    let kindFlags = flags >> 16
    var at = address &+ 44
    if flags & 0x80 != 0 {
      guard let end = Self.skipGenerics(reader, at) else { return nil }
      at = end
    }
    if kindFlags & 1 << 13 != 0 { at &+= 4 }  // resilient superclass
    initialization = kindFlags & 3 == 0 ? nil : at
    switch kindFlags & 3 {
    case 1: at &+= 12  // singleton initialisation: cache, pattern or metadata, completion
    case 2: at &+= 4  // foreign initialisation: completion
    default: break
    }
    vtable = kindFlags & 1 << 15 != 0 ? at : nil
    if let vtable {
      guard let count: UInt32 = reader.load(vtable &+ 4), count < 1 << 20 else { return nil }
      at = vtable &+ 8 &+ 8 * UInt64(count)
    }
    overrideTable = kindFlags & 1 << 14 != 0 ? at : nil
  }

  /// The end of a type's generic parameters, requirements, packs and values.
  private static func skipGenerics(_ reader: MetadataReader, _ start: UInt64) -> UInt64? {
    // Instantiation cache and pattern, then the counts.
    guard let parameters: UInt16 = reader.load(start &+ 8), let requirements: UInt16 = reader.load(start &+ 10),
      let flags: UInt16 = reader.load(start &+ 14)
    else { return nil }
    var at = start &+ 16
    at = (at &+ UInt64(parameters) &+ 3) & ~3
    at &+= UInt64(requirements) * 12
    if flags & 1 != 0 {  // packs
      guard let packs: UInt16 = reader.load(at) else { return nil }
      at &+= 4 + UInt64(packs) * 8
    }
    if flags & 2 != 0 {  // conditional conformances to ~Copyable and ~Escapable
      guard let set: UInt16 = reader.load(at) else { return nil }
      let counts = UInt64(set.nonzeroBitCount)
      // Counts are running totals: the last is the number of requirements.
      guard let total: UInt16 = counts == 0 ? 0 : reader.load(at &+ 2 * counts) else { return nil }
      at = (at &+ 2 &+ 2 * counts &+ 3) & ~3
      at &+= UInt64(total) * 12
    }
    if flags & 4 != 0 {  // integer parameters
      guard let values: UInt32 = reader.load(at) else { return nil }
      at &+= 4 + UInt64(values) * 4
    }
    return at
  }

  func entries(_ reader: MetadataReader) -> [VTableEntry] {
    guard let vtable, let count: UInt32 = reader.load(vtable &+ 4), count < 1 << 20 else { return [] }
    var entries: [VTableEntry] = []
    for index in 0..<UInt64(count) {
      let at = vtable &+ 8 &+ index &* 8
      guard let flags: UInt32 = reader.load(at), let kind = VTableEntry.Kind(rawValue: UInt8(flags & 0xf)) else { break }
      entries.append(
        VTableEntry(
          kind: kind, isInstance: flags & 0x10 != 0, isDynamic: flags & 0x20 != 0, isAsync: flags & 0x40 != 0,
          descriptor: at &- reader.bias, implementation: Self.implementation(reader, at &+ 4)))
    }
    return entries
  }

  private static func implementation(_ reader: MetadataReader, _ at: UInt64) -> VTableEntry.Target {
    guard let target = reader.relative(at: at) else { return .null }
    if let symbol = reader.importStub(at: target) {
      return symbol.starts(withBytes: "swift_deleted") ? .deleted : .external(String(decoding: symbol, as: UTF8.self))
    }
    let address = target &- reader.bias
    return reader.deletedMethodStubs.contains(address) ? .deleted : .address(address)
  }

  func overrides(_ reader: MetadataReader) -> [OverrideEntry] {
    guard let overrideTable, let count: UInt32 = reader.load(overrideTable), count < 1 << 20 else { return [] }
    return (0..<UInt64(count)).compactMap { index in
      let at = overrideTable &+ 4 &+ 12 * index
      guard let introducer = reader.relativeIndirectable(at: at), let entry = reader.relativeIndirectable(at: at &+ 4) else { return nil }
      return OverrideEntry(
        introducer: .init(introducer, reader), entry: .init(entry, reader), implementation: Self.implementation(reader, at &+ 8))
    }
  }
}
