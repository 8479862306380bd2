// GenericContext — the generic parameters and requirements a type's descriptor records, and the arguments in its metadata.
//
// Layout: swift/ABI/GenericContext.h (Swift 6.3). Parameters of enclosing types come first.

/// What a generic type is generic over.
package struct GenericContext: Sendable {
  package struct Parameter: Sendable {
    package enum Kind: UInt8, Sendable { case type, pack, value }
    package var kind: Kind
    /// Its argument is in the metadata; others are fixed by a same-type requirement.
    package var isKey: Bool
  }
  package struct Requirement: Sendable {
    package enum Kind: Sendable {
      case conformance(ProtocolDescriptor)
      case sameType(MangledBytes)
      case superclass(MangledBytes)
      /// `T: AnyObject`
      case classLayout
      case other
    }
    package var subject: MangledBytes
    package var kind: Kind
    /// A witness table for it is in the metadata, behind the arguments.
    package var isKey: Bool
  }
  package var parameters: [Parameter] = []
  package var requirements: [Requirement] = []
  /// Words of generic arguments in the metadata.
  package var keyArguments = 0
  package var hasPacks: Bool { parameters.contains { $0.kind == .pack } }
  /// Whether the type is `Copyable`, or `Escapable`, depends on its arguments.
  let isConditionallyInvertible: Bool

  /// - Parameter base: the counts, in the middle of the generic header.
  init?(countsAt base: UnsafeRawPointer) {
    guard Checked.isReadable(base, 8) else { return nil }
    func count(_ i: Int) -> Int { Int(base.load(fromByteOffset: 2 * i, as: UInt16.self)) }
    guard Checked.isReadable(base, 8 + (count(0) + 3) / 4 * 4 + 12 * count(1)) else { return nil }
    keyArguments = count(2)
    // GenericContextDescriptorFlags: bit 0 packs, bit 1 conditional inverted protocols, bit 2 values.
    isConditionallyInvertible = count(3) & 2 != 0
    for index in 0..<count(0) {
      let byte = base.load(fromByteOffset: 8 + index, as: UInt8.self)
      guard let kind = Parameter.Kind(rawValue: byte & 0x3F) else { return nil }
      parameters.append(Parameter(kind: kind, isKey: byte & 0x80 != 0))
    }
    var at = base + 8 + (count(0) + 3) / 4 * 4
    for _ in 0..<count(1) {
      guard let requirement = Requirement(at) else { return nil }
      requirements.append(requirement)
      at += 12
    }
  }
}

extension GenericContext.Requirement {
  init?(_ record: UnsafeRawPointer) {
    func relative(_ offset: Int) -> UnsafeRawPointer { record + offset + Int(record.load(fromByteOffset: offset, as: Int32.self)) }
    let flags = record.load(as: UInt32.self)
    isKey = flags & 0x80 != 0
    subject = MangledBytes(relative(4))
    switch flags & 0x1F {
    case 0:
      // A protocol reference: bit 0 says that a pointer to it is meant, bit 1 an Objective-C protocol.
      let distance = record.load(fromByteOffset: 8, as: Int32.self)
      guard distance & 2 == 0 else { return nil }
      let target = record + 8 + Int(distance & ~3)
      guard let descriptor = distance & 1 == 0 ? target : Checked.word(target), Checked.isContext(descriptor) else { return nil }
      kind = .conformance(ProtocolDescriptor(descriptor))
    case 1: kind = .sameType(MangledBytes(relative(8)))
    case 2: kind = .superclass(MangledBytes(relative(8)))
    case 0x1F: kind = .classLayout
    default: kind = .other
    }
  }
}

/// A protocol descriptor in memory.
package struct ProtocolDescriptor: Hashable, @unchecked Sendable {
  // Descriptors live in read-only image data; images that are hooked are never unloaded.
  package let pointer: UnsafeRawPointer
  package init(_ pointer: UnsafeRawPointer) { self.pointer = pointer }

  /// Follows a relative reference at an offset of the descriptor.
  private func relative(_ offset: Int) -> UnsafeRawPointer { pointer + offset + Int(pointer.load(fromByteOffset: offset, as: Int32.self)) }
  package var name: String { Checked.text(relative(8)) ?? "?" }

  /// Only classes conform. Bit 16 of a protocol's flags is set where they need not.
  package var isClassBound: Bool { pointer.load(as: UInt32.self) & 0x1_0000 == 0 }

  private var requirementsInSignature: Int { Int(pointer.load(fromByteOffset: 12, as: UInt32.self)) }
  /// What the protocol asks of `Self` and its associated types.
  package var signature: [GenericContext.Requirement] {
    guard Checked.isReadable(pointer + 24, 12 * requirementsInSignature) else { return [] }
    return (0..<requirementsInSignature).compactMap { GenericContext.Requirement(pointer + 24 + 12 * $0) }
  }
  /// The protocol's requirement records (8 bytes each): base protocols, associated types, methods.
  var requirements: UnsafeRawPointer { pointer + 24 + 12 * requirementsInSignature }
  /// How many there are: a conformance's table has one word before as many.
  var requirementCount: Int { Int(pointer.load(fromByteOffset: 16, as: UInt32.self)) }

  /// The requirement record of the associated type, and the base that records are counted from.
  package func associatedType(_ name: String) -> (record: UnsafeRawPointer, base: UnsafeRawPointer)? {
    let distance = pointer.load(fromByteOffset: 20, as: Int32.self)
    guard distance != 0 else { return nil }
    guard let names = Checked.text(relative(20))?.split(separator: " "), Checked.isReadable(requirements, 8 * requirementCount) else { return nil }
    guard let index = names.firstIndex(where: { $0 == name }) else { return nil }
    var seen = 0
    for i in 0..<requirementCount {
      let record = requirements + 8 * i
      // Kind 7: a function that finds an associated type's metadata.
      guard record.load(as: UInt32.self) & 0xF == 7 else { continue }
      // The base is one record in front, so that 0 stands for the table's own first word.
      if seen == index { return (record, requirements - 8) }
      seen += 1
    }
    return nil
  }
}

extension TypeDescriptor {
  /// nil for a type that is not generic.
  package var genericContext: GenericContext? {
    guard isGeneric else { return nil }
    // Behind the fixed part: instantiation cache and pattern, then the counts.
    return GenericContext(countsAt: pointer + (isClass ? 44 : 28) + 8)
  }
}

extension Metadata {
  /// The types a generic type was made with, those of enclosing types first; nil for a value or pack, or where a same-type
  /// requirement fixes it.
  package var genericArgumentMetadata: [Metadata?] {
    guard let context = descriptor?.genericContext, let arguments = genericArguments, !context.hasPacks else { return [] }
    var word = 0
    return context.parameters.map { parameter in
      guard parameter.isKey else { return nil }
      defer { word += 1 }
      // A type that is only half made may lack one.
      let argument = arguments.load(fromByteOffset: 8 * word, as: UnsafeRawPointer?.self)
      return parameter.kind == .type ? argument.map(Metadata.init) : nil
    }
  }
}
