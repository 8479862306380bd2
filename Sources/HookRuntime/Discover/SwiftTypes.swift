// SwiftTypes — the types an image declares, without running any of its code.
//
// Reads the sections swift5_type_metadata, swift5_protocols and
// swift5_protocol_conformances. Names are read at once; fields, cases and vtables
// when they are asked for.

/// Types, protocols and conformances of one image.
package struct SwiftTypes: Sendable {
  package let types: [TypeRecord]
  package let protocols: [ProtocolRecord]
  private let reader: MetadataReader

  /// From the file alone; relocations are applied on the way.
  package init(file: ELFFile) {
    self.init(MetadataReader(file: file))
  }

  /// From this process's memory. `images` must contain every image that `image` refers to.
  package init(image: LoadedImage, among images: LoadedImages) {
    self.init(MetadataReader(image: image, among: images))
  }

  private init(_ reader: MetadataReader) {
    var names = ContextNames(reader)
    types = Self.entries(reader, ["swift5_type_metadata", "swift5_type_metadata_2"]).compactMap { entry in
      // The low two bits say how: 0 directly, 1 through a pointer.
      guard entry.bits <= 1, case .address(let at)? = reader.target(entry.address, isIndirect: entry.bits == 1) else { return nil }
      return TypeRecord(reader, at, &names)
    }
    protocols = Self.entries(reader, ["swift5_protocols"]).compactMap { entry in
      guard case .address(let at)? = reader.target(entry.address, isIndirect: entry.bits & 1 == 1) else { return nil }
      return ProtocolRecord(reader, at, &names)
    }
    self.reader = reader
  }

  /// All conformances the image declares. Reads them at each access: there are several times as many as types.
  package var conformances: [ConformanceRecord] {
    var names = ContextNames(reader)
    return Self.entries(reader, ["swift5_protocol_conformances"]).compactMap {
      ConformanceRecord(reader, $0.address, &names)
    }
  }

  /// The relative references of some sections, with their low two bits apart.
  private static func entries(_ reader: MetadataReader, _ names: [String]) -> [(address: UInt64, bits: Int32)] {
    var found: [(address: UInt64, bits: Int32)] = []
    var seen: Set<UInt64> = []
    for name in names {
      guard let section = reader.section(name), let view = reader.view(at: section.start)?.slice(0, section.size) else { continue }
      found.reserveCapacity(found.count + view.count / 4)
      seen.reserveCapacity(found.count + view.count / 4)
      for at in stride(from: 0, to: view.count - 3, by: 4) {
        let offset: Int32 = view.load(at)!  // the stride stays inside
        // Linkers may pad between the contributions of two objects.
        if offset == 0 { continue }
        let entry = (address: section.start &+ UInt64(at) &+ UInt64(bitPattern: Int64(offset & ~3)), bits: offset & 3)
        // Parts compiled apart and linked together may name one descriptor twice.
        if seen.insert(entry.address << 2 | UInt64(entry.bits)).inserted { found.append(entry) }
      }
    }
    return found
  }
}

/// One class, struct or enum.
package struct TypeRecord: Sendable {
  package enum Kind: Sendable, Equatable { case `class`, `struct`, `enum` }

  package let kind: Kind
  /// Module and nested path: "Shop.Cart.Line". Types nested in an extension are named after the extended type.
  package let name: String
  /// The module whose code declares it.
  package let module: String
  /// Private, fileprivate or local, or nested in such a declaration: other types may have the same name.
  package let isPrivate: Bool
  package let isInExtension: Bool
  package let isGeneric: Bool
  /// Virtual addresses, without load bias.
  package let descriptor: UInt64
  /// The function that returns its metadata. Calling it may run code of the program.
  package let accessor: UInt64?

  private let flags: UInt32
  private let reader: MetadataReader

  init?(_ reader: MetadataReader, _ address: UInt64, _ names: inout ContextNames) {
    guard let flags: UInt32 = reader.load(address) else { return nil }
    switch flags & 0x1f {
    case ContextKind.class: kind = .class
    case ContextKind.struct: kind = .struct
    case ContextKind.enum: kind = .enum
    default: return nil
    }
    guard let name = names.name(of: address) else { return nil }
    self.name = name.text
    module = name.module
    isPrivate = name.isPrivate
    isInExtension = name.isInExtension
    isGeneric = flags & 0x80 != 0
    descriptor = address &- reader.bias
    accessor = reader.relative(at: address &+ 12).map { $0 &- reader.bias }
    self.flags = flags
    self.reader = reader
  }

  private var address: UInt64 { descriptor &+ reader.bias }

  /// One of the flags in the upper half.
  private func hasFlag(_ bit: UInt32) -> Bool { kind == .class && flags >> 16 & 1 << bit != 0 }

  /// The superclass comes from a module built for library evolution: its size is known at run time only.
  package var hasResilientSuperclass: Bool { hasFlag(13) }
  package var isActor: Bool { hasFlag(7) }

  /// The name of the superclass, without generic arguments; nil for a root class and for what is not a class.
  package var superclass: String? {
    guard kind == .class, let mangled = reader.relative(at: address &+ 20) else { return nil }
    var names = ContextNames(reader)
    return names.nominalName(ofMangled: mangled)
  }

  /// Stored properties, or the cases of an enum, in order of declaration (enums: cases with payload first).
  package var fields: [FieldRecord] {
    guard let table = reader.relative(at: address &+ 16), let rowSize: UInt16 = reader.load(table &+ 10),
      let count: UInt32 = reader.load(table &+ 12), rowSize >= 12, count < 1 << 20
    else { return [] }
    var names = ContextNames(reader)
    var fields: [FieldRecord] = []
    for index in 0..<UInt64(count) {
      guard let field = FieldRecord(reader, table &+ 16 &+ index &* UInt64(rowSize), &names) else { break }
      fields.append(field)
    }
    return fields
  }

  /// The class's own vtable entries, in slot order; entries it inherits or overrides are not among them.
  package var vtable: [VTableEntry] { layout?.entries(reader) ?? [] }

  /// The first slot of `vtable`, counted in words from the start of the class metadata; nil when it is known at run time
  /// only (resilient superclass).
  package var vtableOffset: Int? { hasResilientSuperclass ? nil : firstSlot }

  /// The offset where it is known at run time only: counted from where the class's own members begin, which the word at the virtual
  /// address `bounds` says then, in bytes from the start of the metadata.
  package var vtableBehindMembers: (bounds: UInt64, offset: Int)? {
    guard hasResilientSuperclass, let firstSlot, let bounds = reader.relative(at: address &+ 24) else { return nil }
    return (bounds &- reader.bias, firstSlot)
  }

  private var firstSlot: Int? { layout?.vtable.flatMap { reader.load($0, as: UInt32.self).map(Int.init) } }

  /// Where the descriptor's trailing parts lie.
  private var layout: ClassLayout? { kind == .class ? ClassLayout(reader, address, flags) : nil }

  /// The entries of its ancestors' vtables that the class fills anew.
  package var overrides: [OverrideEntry] { layout?.overrides(reader) ?? [] }

  /// How the class's metadata comes to be. Without a record: it lies in the image, complete but for relocations.
  package enum MetadataOrigin: Sendable, Equatable {
    case image
    /// One for each set of generic arguments.
    case instantiated
    /// Made at first use; the runtime keeps it in the word at this virtual address. It becomes what lies in the image
    /// (`inPlace`), where no superclass is from a module built for evolution: its table is filled already.
    case firstUse(cache: UInt64, inPlace: UInt64?)
    case foreign
  }
  package var metadataOrigin: MetadataOrigin {
    if isGeneric { return .instantiated }
    switch flags >> 16 & 3 {
    case 1:
      guard let record = layout?.initialization, let cache = reader.relative(at: record) else { return .foreign }
      let metadata = hasResilientSuperclass ? nil : reader.relative(at: record + 4)
      return .firstUse(cache: cache &- reader.bias, inPlace: metadata.map { $0 &- reader.bias })
    case 2: return .foreign
    default: return .image
    }
  }
}

/// A stored property or an enum case.
package struct FieldRecord: Sendable {
  package let name: String
  package let isVar: Bool
  /// An `indirect` enum case.
  package let isIndirect: Bool
  /// Nil for an enum case without payload.
  package let type: MangledTypeReference?

  init?(_ reader: MetadataReader, _ address: UInt64, _ names: inout ContextNames) {
    guard let flags: UInt32 = reader.load(address), let name = reader.relative(at: address &+ 8).flatMap(reader.string)
    else { return nil }
    self.name = name
    isVar = flags & 2 != 0
    isIndirect = flags & 1 != 0
    type = reader.relative(at: address &+ 4).flatMap { MangledTypeReference(reader, at: $0, names: &names) }
  }
}

/// One slot a class adds to the vtable.
package struct VTableEntry: Sendable {
  package enum Kind: UInt8, Sendable { case method, initializer, getter, setter, modify, read }

  /// What the slot holds at first.
  package enum Target: Sendable, Equatable {
    /// Virtual address.
    case address(UInt64)
    /// The runtime's "deleted method" function: calling it stops the process.
    case deleted
    /// Nothing: the compiler found that nobody calls it virtually. Metadata then holds the "deleted method" function.
    case null
    /// A function of another image.
    case external(String)
  }

  package let kind: Kind
  package let isInstance: Bool
  package let isDynamic: Bool
  /// Async for methods, initialisers, getters and setters; for modify and read: the newer kind of coroutine. The
  /// implementation is then a record and not code.
  package let isAsync: Bool
  /// Virtual address of the entry itself: the symbol there is the "method descriptor".
  package let descriptor: UInt64
  package let implementation: Target
}

/// One protocol.
package struct ProtocolRecord: Sendable {
  package let name: String
  package let module: String
  package let isPrivate: Bool
  /// Requirements that take a place in the witness table: methods, accessors, associated types, inherited protocols.
  package let requirementCount: Int
  package let isClassConstrained: Bool
  /// Virtual address.
  package let descriptor: UInt64

  init?(_ reader: MetadataReader, _ address: UInt64, _ names: inout ContextNames) {
    guard let flags: UInt32 = reader.load(address), flags & 0x1f == ContextKind.protocol,
      let name = names.name(of: address), let count: UInt32 = reader.load(address &+ 16)
    else { return nil }
    self.name = name.text
    module = name.module
    isPrivate = name.isPrivate
    requirementCount = Int(count)
    isClassConstrained = flags >> 16 & 1 == 0  // 1 means "any type"
    descriptor = address &- reader.bias
  }
}

/// One conformance. Names are nil where metadata does not tell them.
package struct ConformanceRecord: Sendable {
  package let type: String?
  package let protocolName: String?
  /// The type's own descriptor, where it lies in this image.
  package let typeDescriptor: UInt64?
  /// Virtual addresses.
  package let descriptor: UInt64
  package let witnessTable: UInt64?
  /// The table that code uses is made when the program runs: one for each set of generic arguments, or one alone where the
  /// protocol may grow.
  package let isTableMade: Bool

  init?(_ reader: MetadataReader, _ address: UInt64, _ names: inout ContextNames) {
    guard let flags: UInt32 = reader.load(address &+ 12) else { return nil }
    descriptor = address &- reader.bias
    isTableMade = flags & (1 << 16 | 1 << 17) != 0  // resilient witnesses, generic table
    witnessTable = reader.relative(at: address &+ 8).map { $0 &- reader.bias }
    protocolName = reader.relativeIndirectable(at: address).flatMap { names.name(of: $0) }
    let kind = flags >> 3 & 7  // 0 descriptor, 1 pointer to one; others name Objective-C classes
    guard kind <= 1, let place = reader.relative(at: address &+ 4), let target = reader.target(place, isIndirect: kind == 1) else {
      type = nil
      typeDescriptor = nil
      return
    }
    type = names.name(of: target)
    if case .address(let at) = target, let file = reader.file, file.view(at: at &- reader.bias) != nil {
      typeDescriptor = at &- reader.bias
    } else {
      typeDescriptor = nil
    }
  }
}

extension TypeRecord {
  /// The private discriminator ("_162F…") in the name of its metadata accessor; nil for types that are not private, and where
  /// the symbol is missing or does not spell it out.
  package func privateDiscriminator(_ symbols: SymbolTable) -> String? {
    guard isPrivate, let accessor else { return nil }
    for symbol in symbols.symbols(at: accessor) {
      let name = symbol.name
      for at in name.indices.dropLast(36) where name[at] == UInt8(ascii: "3") && name[at + 1] == UInt8(ascii: "3") {
        let identifier = UnsafeBufferPointer(rebasing: name[at + 2..<at + 35])
        if MangledIdentifiers.isDiscriminator(identifier) { return String(decoding: identifier, as: UTF8.self) }
      }
    }
    return nil
  }
}
