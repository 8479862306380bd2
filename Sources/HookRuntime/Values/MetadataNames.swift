// MetadataNames — the types that mangled names in metadata spell, as syntax: fields, requirements, generic arguments.
package import SwiftMangling

extension MangledBytes {
  /// The type as metadata spells it; private types by the address of their descriptor. nil for what cannot be read.
  package func syntax(_ parser: inout SymbolParser) -> TypeSyntax? {
    let bytes = UnsafeBufferPointer(start: pointer.assumingMemoryBound(to: UInt8.self), count: count)
    return parser.type(inMetadata: bytes, resolving: Self.reference)
  }

  /// Control byte 1: the descriptor is there; 2: a pointer to it.
  private static func reference(_ control: UInt8, _ target: UnsafeRawPointer) -> [(kind: NominalKind, address: UInt)]? {
    let address: UnsafeRawPointer
    switch control {
    case 1: address = target
    case 2:
      guard let pointed = Checked.word(target) else { return nil }
      address = pointed
    default: return nil
    }
    var path: [(kind: NominalKind, address: UInt)] = []
    var each: UnsafeRawPointer? = address
    var depth = 0
    while let context = each, depth < Checked.deepestContext, Checked.isContext(context) {
      depth += 1
      let kind: NominalKind? =
        switch context.load(as: UInt32.self) & 0x1F {
        case 3: .protocolType
        case 16: .classType
        case 17: .structure
        case 18: .enumeration
        default: nil
        }
      if let kind { path.insert((kind, UInt(bitPattern: context)), at: 0) }
      each = TypeDescriptor.enclosingType(of: context)
    }
    return path.isEmpty ? nil : path
  }
}

extension TypeDescriptor {
  /// How many generic parameters each nesting level declares, outermost first; levels without any do not count.
  package var genericLevels: [Int] {
    var totals: [Int] = []
    var each: UnsafeRawPointer? = pointer
    var depth = 0
    while let context = each, depth < Checked.deepestContext, Checked.isContext(context) {
      depth += 1
      let flags = context.load(as: UInt32.self)
      if flags & 0x80 != 0, let counts = Self.genericCounts(of: context, kind: flags & 0x1F) {
        totals.insert(Int(counts.load(as: UInt16.self)), at: 0)
      }
      each = Self.parent(of: context)
    }
    var levels: [Int] = []
    var previous = 0
    // Each context repeats the parameters of those around it.
    for total in totals where total > previous {
      levels.append(total - previous)
      previous = total
    }
    return levels
  }

  /// The next context outwards; of an extension the type it extends.
  fileprivate static func enclosingType(of context: UnsafeRawPointer) -> UnsafeRawPointer? {
    guard context.load(as: UInt32.self) & 0x1F == 1 else { return parent(of: context) }
    guard let name = Checked.relative(context, 8), Checked.isReadable(name, 5) else { return nil }
    let target = name + 1 + Int((name + 1).loadUnaligned(as: Int32.self))
    switch name.load(as: UInt8.self) {
    case 1: return target
    case 2: return Checked.word(target)
    default: return nil
    }
  }

  /// The type with that descriptor, or one around it, is private to a file or declared in a function: other types may have its name.
  package static func isInAnonymousContext(_ descriptor: UnsafeRawPointer) -> Bool {
    var each: UnsafeRawPointer? = descriptor
    var depth = 0
    while let context = each, depth < Checked.deepestContext, Checked.isContext(context) {
      depth += 1
      if context.load(as: UInt32.self) & 0x1F == 2 { return true }
      each = parent(of: context)
    }
    return false
  }

  /// The context around a context; nil for a module.
  private static func parent(of context: UnsafeRawPointer) -> UnsafeRawPointer? {
    let distance = context.load(fromByteOffset: 4, as: Int32.self)
    guard distance != 0 else { return nil }
    let target = context + 4 + Int(distance & ~1)
    return distance & 1 == 0 ? target : Checked.word(target)
  }

  /// Where the counts of the generic header are: behind the fixed part, for types behind cache and pattern too.
  private static func genericCounts(of context: UnsafeRawPointer, kind: UInt32) -> UnsafeRawPointer? {
    switch kind {
    case 1: context + 12  // extension: flags, parent, extended type
    case 2: context + 8  // anonymous: flags, parent
    case 16: context + 52
    case 17, 18: context + 36
    default: nil
    }
  }
}

extension TypeResolver {
  /// The descriptor of a nominal type, generic or not.
  package func descriptor(_ name: NominalName) -> TypeDescriptor? {
    if let address = name.reference { return UnsafeRawPointer(bitPattern: address).map(TypeDescriptor.init) }
    if let found = findDescriptor?(name) { return found }
    if let found = RuntimeTypes.descriptor(name.description) { return found }
    // A type that needs no arguments is found by its name.
    if let found = named(.nominal(name, kind: name.steps.last?.kind ?? .other, arguments: [])) { return found.descriptor }
    return TypeCatalog.shared.descriptor(name.description)
  }

  /// A requirement as metadata records it.
  func requirement(_ record: GenericContext.Requirement) -> GenericRequirement {
    let subject = syntax(record.subject) ?? .unknown("subject")
    let kind: GenericRequirement.Kind =
      switch record.kind {
      case .conformance(let proto): .conformance(proto.reference)
      case .sameType(let type): syntax(type).map { .sameType($0) } ?? .other
      case .superclass(let type): syntax(type).map { .superclass($0) } ?? .other
      case .classLayout: .classLayout
      case .other: .other
      }
    return GenericRequirement(subject: subject, kind: kind, description: "")
  }

  /// What a protocol asks of `Self`, or of one of its associated types.
  func conformances(of associatedType: String?, in proto: ProtocolDescriptor) -> [ProtocolDescriptor] {
    proto.signature.compactMap { record in
      guard case .conformance(let other) = record.kind else { return nil }
      switch syntax(record.subject) {
      case .genericParameter(0, 0)? where associatedType == nil: return other
      case .dependentMember(.genericParameter(0, 0), let name, _)? where name == associatedType: return other
      default: return nil
      }
    }
  }

  /// The protocol's requirements make its associated type a class.
  func asksForClass(_ proto: ProtocolDescriptor, _ associatedType: String) -> Bool {
    proto.signature.contains { record in
      guard case .dependentMember(.genericParameter(0, 0), associatedType, _)? = syntax(record.subject) else { return false }
      switch record.kind {
      case .classLayout, .superclass: return true
      case .conformance(let other): return other.isClassBound
      case .sameType, .other: return false
      }
    }
  }
}

extension ProtocolDescriptor {
  /// A name that leads to this very descriptor.
  package var reference: NominalName { NominalName(reference: UInt(bitPattern: pointer), kind: .protocolType) }
}
