// TypeMembers — the stored properties, elements and cases of a type, each with its type found when asked for.
//
// Offsets come from the metadata of the very type (generic, with a resilient superclass or not), names and types from its
// field records. Runs no program code; a field's type is found through the runtime, which may call metadata accessors.
private import Synchronization


/// A stored property of a class or struct, or an element of a tuple.
package struct StoredField: Sendable {
  /// How the field holds what it names.
  package enum Reference: Sendable { case value, weak, unowned, unmanaged }

  package let name: String
  /// Bytes from the start of the object or value.
  package let offset: Int
  package let isVar: Bool
  package let reference: Reference
  /// The class or struct that declares it; the tuple.
  package let owner: Metadata
  private var source: Source

  private enum Source: Sendable {
    case record(MangledBytes)
    case element(Metadata)
    case elementInForm(Metadata, ClosureForm)
    case none
  }

  /// The element of a tuple whose closures have this form.
  func element(in form: ClosureForm) -> StoredField {
    guard case .element(let metadata) = source else { return self }
    var field = self
    field.source = .elementInForm(metadata, form)
    return field
  }

  /// The field's type; of a weak field the Optional it reads as. Found anew each time, by a table lookup after the first.
  package var type: Result<TypeInfo, TypeProblem> {
    switch source {
    case .element(let metadata): TypeResolver.shared.type(of: metadata)
    case .elementInForm(let metadata, .general): TypeResolver.shared.general(of: metadata)
    case .elementInForm(let metadata, let form): TypeResolver.shared.type(of: metadata).map { TypeResolver.shared.type($0, in: form) }
    case .none: .failure(.layout(name))
    case .record(let bytes): TypeResolver.shared.type(lyingInField: reference == .value ? bytes : bytes.dropLast(2), of: owner)
    }
  }

  fileprivate init(_ record: TypeDescriptor.Field, offset: Int, owner: Metadata, isSound: Bool) {
    name = record.name
    isVar = record.isVar
    self.offset = offset
    self.owner = owner
    guard isSound, let bytes = record.typeName else { (reference, source) = (.value, .none); return }
    source = .record(bytes)
    reference = bytes.hasSuffix("Xw") ? .weak : bytes.hasSuffix("Xo") ? .unowned : bytes.hasSuffix("Xu") ? .unmanaged : .value
  }

  fileprivate init(element: Metadata, name: String, offset: Int, owner: Metadata) {
    self.name = name
    self.offset = offset
    self.owner = owner
    isVar = true
    reference = .value
    source = .element(element)
  }
}

/// A case of an enum. Its number, in `TypeInfo.cases` and for the runtime, counts those with a payload first.
package struct EnumCase: Sendable {
  package let name: String
  package let hasPayload: Bool
  /// The payload is in a box that the value refers to.
  package let isIndirect: Bool
  private let owner: Metadata
  private let bytes: MangledBytes?

  fileprivate init(_ record: TypeDescriptor.Field, owner: Metadata, hasPayload: Bool, isSound: Bool) {
    name = record.name
    isIndirect = record.isIndirectCase
    self.hasPayload = hasPayload
    self.owner = owner
    bytes = isSound ? record.typeName : nil
  }

  /// The payload's type; several associated values are a tuple.
  package var payloadType: Result<TypeInfo, TypeProblem>? {
    guard hasPayload else { return nil }
    guard let bytes else { return .failure(.layout(name)) }
    return TypeResolver.shared.type(lyingInField: bytes, of: owner)
  }
  /// nil for a case without payload, and where the type is not known.
  package var payload: TypeInfo? { try? payloadType?.get() }
}

extension Metadata {
  /// Stored properties of a struct or class (its own first, then each superclass's), elements of a tuple.
  package var storedFields: [StoredField] {
    switch kind {
    case .tuple:
      let labels = tupleLabels
      return tupleElements.enumerated().map { index, element in
        StoredField(element: element.metadata, name: labels[index] ?? "\(index)", offset: element.offset, owner: self)
      }
    case .structure, .classType:
      var fields: [StoredField] = []
      var owner: Metadata? = self
      while let metadata = owner {
        fields += metadata.ownStoredFields
        owner = metadata.superclass
      }
      return fields
    default: return []
    }
  }

  private var ownStoredFields: [StoredField] {
    guard let descriptor, let vector = descriptor.fieldOffsetVector else { return [] }
    let base = pointer + 8 * vector, fields = descriptor.fields
    guard Checked.isReadable(base, (descriptor.isClass ? 8 : 4) * fields.count) else { return [] }
    let isSound = hasSoundFields
    // Classes keep field offsets as words, structs as 32-bit numbers.
    return fields.enumerated().map { index, record in
      let offset =
        descriptor.isClass ? base.load(fromByteOffset: 8 * index, as: Int.self) : Int(base.load(fromByteOffset: 4 * index, as: UInt32.self))
      let isWithheld = record.typeName?.isWithheld(in: self) ?? false
      return StoredField(record, offset: offset, owner: self, isSound: isSound && !isWithheld)
    }
  }

  package var enumCases: [EnumCase] {
    switch kind {
    case .enumeration, .optional:
      guard let descriptor else { return [] }
      let payloads = descriptor.payloadCases, isSound = hasSoundFields
      return descriptor.fields.enumerated().map { number, record in
        let isWithheld = record.typeName?.isWithheld(in: self) ?? false
        return EnumCase(record, owner: self, hasPayload: number < payloads, isSound: isSound && !isWithheld)
      }
    default: return []
    }
  }
}

extension TypeInfo {
  /// As `Metadata.storedFields`, worked out once.
  package var fields: [StoredField] { members.fields }
  /// The cases of an enum, those with a payload first; worked out once.
  package var cases: [EnumCase] { members.cases }

  /// The number, in `cases`, of the case of the enum value at `memory`.
  package func caseNumber(of memory: UnsafeRawPointer) -> Int? {
    guard let tag = metadata.enumTag(memory), cases.indices.contains(tag) else { return nil }
    return tag
  }

  /// Gives `body` the payload of the enum value at `memory`, which stays as it is: nothing is retained, and the payload is
  /// valid inside only, unless the case is indirect (then it is in its box, for as long as the value lives).
  /// - Returns: nil for a case without payload, or one of unknown type.
  package func withPayload<R>(of memory: UnsafeRawPointer, _ body: (UnsafeRawPointer, TypeInfo) -> R) -> R? {
    var result: R?
    _ = borrowPayload(of: memory) { result = body($0, $1) }
    return result
  }

  /// As `withPayload`, for callers in other modules that are on the path of every call: a generic function is not specialised for them.
  /// - Returns: false for a case without payload, or one of unknown type.
  package func borrowPayload(of memory: UnsafeRawPointer, _ body: (UnsafeRawPointer, TypeInfo) -> Void) -> Bool {
    guard let number = caseNumber(of: memory), let payload = cases[number].payload else { return false }
    return withUnsafeTemporaryAllocation(byteCount: max(size, 8), alignment: max(alignment, 8)) { copy in
      // A copy of the bits alone: taking the case number out of the payload's spare bits destroys the enum value there.
      let bits = copy.baseAddress!
      bits.copyMemory(from: memory, byteCount: size)
      metadata.projectEnumData(bits)
      guard cases[number].isIndirect else {
        body(UnsafeRawPointer(bits), payload)
        return true
      }
      guard let box = UnsafeRawPointer(bitPattern: bits.load(as: UInt.self)), isBox(box, ofCase: number) else { return false }
      body(box + payload.boxOffset, payload)
      return true
    }
  }

  /// That the payload of a case is in a box its record alone says: the first value shows it.
  private func isBox(_ object: UnsafeRawPointer, ofCase number: Int) -> Bool {
    let bit: UInt64 = number < 64 ? 1 << UInt64(number) : 0
    if boxedCases.load(ordering: .relaxed) & bit != 0 { return true }
    // Metadata of boxes: a kind of its own for those of one type, and of generic ones.
    guard let metadata = Checked.word(object), let kind = Checked.word(metadata).map({ UInt(bitPattern: $0) }), kind == 0x400 || kind == 0x500 else {
      return false
    }
    boxedCases.bitwiseOr(bit, ordering: .relaxed)
    return true
  }

  /// Where a value lies in a heap box: behind the object's two words, at its own alignment.
  package var boxOffset: Int { (16 + alignment - 1) / alignment * alignment }

  /// Gives `body` what the existential at `memory` holds, with its own type; nil for an empty or unreadable one.
  /// Valid as long as the existential is.
  package func openExistential(_ memory: UnsafeRawPointer) -> (value: UnsafeRawPointer, type: TypeInfo)? {
    switch metadata.existentialForm {
    case nil: return nil
    case .error:
      guard let box = memory.loadUnaligned(as: UnsafeRawPointer?.self) else { return nil }
      // The runtime's SwiftError: object header, type, conformance, then the value at its alignment.
      guard case .success(let type) = TypeResolver.shared.general(of: Metadata(box.load(fromByteOffset: 16, as: UnsafeRawPointer.self))) else {
        return nil
      }
      return (box + (32 + type.alignment - 1) / type.alignment * type.alignment, type)
    case .reference:
      guard let object = memory.loadUnaligned(as: UnsafeRawPointer?.self) else { return nil }
      guard case .success(let type) = TypeResolver.shared.type(of: Metadata(object.load(as: UnsafeRawPointer.self))) else { return nil }
      return (memory, type)
    case .opaque:
      guard let dynamic = memory.load(fromByteOffset: 24, as: UnsafeRawPointer?.self) else { return nil }
      guard case .success(let type) = TypeResolver.shared.general(of: Metadata(dynamic)) else { return nil }
      // Values that fit the three words and can be moved bit by bit are inline; others are in a box.
      if type.size <= 24, type.alignment <= 8, type.metadata.isBitwiseTakable { return (memory, type) }
      return memory.load(as: UnsafeRawPointer?.self).map { ($0 + type.boxOffset, type) }
    }
  }
}

extension StoredField {
  package enum Problem: Error, Sendable {
    case noField(String, type: String, known: [String])
    case notReadable(String, type: String)
  }

  /// A field that lies in memory as its type says.
  package struct Readable: Sendable {
    package var offset: Int
    package var info: TypeInfo
  }

  /// The stored property `name` of a class (its own or an inherited one) or struct, or the tuple's element.
  package static func find(_ name: String, in type: Metadata) -> Result<Readable, Problem> {
    let fields = (try? TypeResolver.shared.type(of: type).get().fields) ?? type.storedFields
    guard let field = fields.first(where: { $0.name == name }) else {
      return .failure(.noField(name, type: typeName(type), known: fields.map(\.name)))
    }
    guard field.reference == .value, case .success(let info) = field.type else {
      return .failure(.notReadable(name, type: typeName(field.owner)))
    }
    return .success(Readable(offset: field.offset, info: info))
  }

  /// Names of all stored properties, inherited ones last.
  package static func names(in type: Metadata) -> [String] { type.storedFields.map(\.name) }

  private static func typeName(_ type: Metadata) -> String { (try? TypeResolver.shared.type(of: type).get().name) ?? "this type" }
}

extension StoredField.Problem: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noField(let name, let type, let known):
      "\(type) has no stored field '\(name)'" + (known.isEmpty ? "" : "; it has \(known.prefix(12).joined(separator: ", "))")
    case .notReadable(let name, let type): "field '\(name)' of \(type) cannot be read yet (weak, unowned, or of unknown layout)"
    }
  }
}
