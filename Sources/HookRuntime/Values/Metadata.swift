// Metadata — the one owner of raw reads from Swift type metadata in this process.
//
// Layouts: swift/ABI/Metadata.h and MetadataValues.h of the Swift 6.3 runtime. Nothing here runs code of the
// program except metadata accessors, which are only called for types a signature names (never while scanning).
//
// What is followed from a descriptor on is looked at before it is read (`Checked`): an image may be damaged where the program itself never looks.
private import CHookTrampoline
private import Glibc
private import Synchronization

/// Reads that do not trust the addresses they are given.
enum Checked {
  /// So many records in one list are believed.
  static let mostRecords = 1 << 16
  /// Names are shorter.
  static let longestName = 1 << 16
  /// Contexts nest less deep.
  static let deepestContext = 64

  static func isReadable(_ pointer: UnsafeRawPointer, _ count: Int) -> Bool { count >= 0 && hkt_is_readable(pointer, count) }
  static func word(_ pointer: UnsafeRawPointer) -> UnsafeRawPointer? {
    isReadable(pointer, 8) ? pointer.loadUnaligned(as: UnsafeRawPointer?.self) : nil
  }
  /// The bytes of a text that ends with a zero; nil where it does not end.
  static func text(_ pointer: UnsafeRawPointer) -> String? {
    let count = hkt_readable_bytes(pointer, longestName)
    let bytes = UnsafeRawBufferPointer(start: pointer, count: count)
    guard let end = bytes.firstIndex(of: 0) else { return nil }
    return String(decoding: UnsafeRawBufferPointer(rebasing: bytes[..<end]), as: UTF8.self)
  }
  /// The relative address at `offset` from `base`; nil for none.
  /// - Parameter mask: the bits of the distance that are none of it are clear.
  static func relative(_ base: UnsafeRawPointer, _ offset: Int, mask: Int32 = -1) -> UnsafeRawPointer? {
    guard isReadable(base + offset, 4) else { return nil }
    let distance = (base + offset).loadUnaligned(as: Int32.self) & mask
    return distance == 0 ? nil : base + offset + Int(distance)
  }
  /// A context descriptor begins there: of a module, extension, anonymous context, protocol, opaque type, or nominal type. What is around it
  /// leads to a module.
  static func isContext(_ pointer: UnsafeRawPointer) -> Bool {
    let address = UInt(bitPattern: pointer)
    if contexts.withLock({ $0.contains(address) }) { return true }
    var each = pointer
    for _ in 0..<deepestContext {
      guard UInt(bitPattern: each) % 4 == 0, isReadable(each, 16) else { return false }
      let flags = each.load(as: UInt32.self), kind = flags & 0x1F
      // Bits 8 to 15, once a version, are zero.
      guard kind <= 4 || (16...18).contains(kind), flags & 0xFF00 == 0, isNamed(each, kind) else { return false }
      if kind == 0 {
        contexts.withLock { _ = $0.insert(address) }
        return true
      }
      guard let place = relative(each, 4, mask: ~1) else { return false }
      let distance = (each + 4).load(as: Int32.self)
      guard let parent = distance & 1 == 0 ? place : word(place) else { return false }
      each = parent
    }
    return false
  }
  /// What was found to be one.
  private static let contexts = Mutex<Set<UInt>>([])

  /// The context has the name that its kind has, and a type the function that finds its metadata.
  private static func isNamed(_ context: UnsafeRawPointer, _ kind: UInt32) -> Bool {
    guard kind == 0 || kind == 3 || kind >= 16 else { return true }
    guard let name = relative(context, 8), isReadable(name, 1), text(name)?.isEmpty == false else { return false }
    guard kind >= 16, let accessor = relative(context, 12) else { return kind < 16 || isReadable(context, 28) }
    // Of types made here the accessor lies in no image either.
    return isReadable(context, 28) && (hkt_is_image_code(accessor) || !hkt_is_image_memory(context))
  }
}

/// A pointer to type metadata. The runtime never frees metadata, so it is valid for ever.
package struct Metadata: Hashable, @unchecked Sendable {
  package let pointer: UnsafeRawPointer

  /// The type the runtime finds for a mangled name (symbolic references allowed).
  package static func named(
    _ name: UnsafeRawPointer, _ count: Int, context: UnsafeRawPointer? = nil, arguments: UnsafeRawPointer? = nil
  ) -> Metadata? {
    // Mangled names are bytes; the entry point only spells them as UInt8.
    _getTypeByMangledNameInContext(
      name.assumingMemoryBound(to: UInt8.self), UInt(count), genericContext: context, genericArguments: arguments
    ).map { Metadata($0) }
  }

  package enum Kind: Sendable {
    case classType, structure, enumeration, optional, foreignClass, opaque, tuple, function, existential
    case metatype, existentialMetatype, extendedExistential, other(Int)
  }

  package init(_ pointer: UnsafeRawPointer) { self.pointer = pointer }
  /// The layout of `Any.Type` is one metadata pointer.
  package init(_ type: Any.Type) { pointer = unsafeBitCast(type, to: UnsafeRawPointer.self) }
  package var type: Any.Type { unsafeBitCast(pointer, to: Any.Type.self) }

  package var kind: Kind {
    let word = pointer.load(as: UInt.self)
    if word > 0x7FF || word == 0 { return .classType }
    switch word {
    case 0x200: return .structure
    case 0x201: return .enumeration
    case 0x202: return .optional
    case 0x203: return .foreignClass
    case 0x300: return .opaque
    case 0x301: return .tuple
    case 0x302: return .function
    case 0x303: return .existential
    case 0x304: return .metatype
    case 0x306: return .existentialMetatype
    case 0x307: return .extendedExistential
    default: return .other(Int(word))
    }
  }

  /// Swift's spelling, qualified. Where a type is private the runtime writes an address that says nothing; it is left out.
  package var name: String {
    var name = _typeName(type, qualified: true)
    while let start = name.firstRange(of: "(unknown context at "), let end = name[start.upperBound...].firstRange(of: ").") {
      name.removeSubrange(start.lowerBound..<end.upperBound)
    }
    return name
  }

  // MARK: Value witnesses (the table's address precedes the metadata)

  private var witnesses: UnsafeRawPointer { pointer.load(fromByteOffset: -8, as: UnsafeRawPointer.self) }
  package var size: Int { witnesses.load(fromByteOffset: 64, as: Int.self) }
  package var stride: Int { witnesses.load(fromByteOffset: 72, as: Int.self) }
  private var witnessFlags: UInt32 { witnesses.load(fromByteOffset: 80, as: UInt32.self) }
  package var alignment: Int { Int(witnessFlags & 0xFF) + 1 }
  /// Bit patterns that are no value of the type.
  package var extraInhabitants: Int { Int(witnesses.load(fromByteOffset: 84, as: UInt32.self)) }
  /// No retain or release is needed to copy or destroy a value.
  package var isTrivial: Bool { witnessFlags & 0x1_0000 == 0 }
  package var isBitwiseTakable: Bool { witnessFlags & 0x10_0000 == 0 }
  /// Values must be borrowed where they lie: they always go by address.
  package var isAddressOnly: Bool { !isBitwiseTakable || witnessFlags & 0x100_0000 != 0 }
  /// Generic types whose layout is worked out when the program runs do not always have the flag; their witness says it.
  package var isCopyable: Bool {
    if witnessFlags & 0x80_0000 != 0 || copyTraps { return false }
    switch kind {
    case .structure, .enumeration, .optional:
      // Most generic types are copied whatever they are made with, as `UnsafePointer` is; of others their arguments decide (`Result`).
      guard let context = descriptor?.genericContext, context.isConditionallyInvertible else { return true }
      return genericArgumentMetadata.allSatisfy { $0?.isCopyable ?? true }
    default: return true
    }
  }

  /// The witness that would copy ends the program: `ud2`, perhaps with a frame set up before it.
  private var copyTraps: Bool {
    // Witness 2 of every table is `initializeWithCopy(T *, T *, self)`.
    guard let code = UnsafePointer<UInt8>(bitPattern: witnesses.load(fromByteOffset: 16, as: UInt.self)) else { return false }
    // push rbp; mov rbp, rsp: shorter functions than what is read of each are not possible.
    let start = code[0] == 0x55 && code[1] == 0x48 && code[2] == 0x89 && code[3] == 0xE5 ? 4 : 0
    return code[start] == 0x0F && code[start + 1] == 0x0B
  }

  private typealias Destroy = @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer) -> Void
  private typealias Copy = @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer, UnsafeRawPointer) -> UnsafeMutableRawPointer

  /// Ends the value at `memory`.
  package func destroy(_ memory: UnsafeMutableRawPointer) {
    // Witness 1 of every table is `destroy(T *, self)`.
    unsafeBitCast(witnesses.load(fromByteOffset: 8, as: UInt.self), to: Destroy.self)(memory, pointer)
  }
  /// Makes a new value at `memory` equal to the one at `source`.
  package func initialize(_ memory: UnsafeMutableRawPointer, copying source: UnsafeRawPointer) {
    // Witness 2 of every table is `initializeWithCopy(T *, T *, self)`.
    _ = unsafeBitCast(witnesses.load(fromByteOffset: 16, as: UInt.self), to: Copy.self)(memory, source, pointer)
  }
  private typealias EnumTag = @convention(c) (UnsafeRawPointer, UnsafeRawPointer) -> UInt32
  /// The case number of the enum value at `memory`: payload cases first, in declaration order.
  package func enumTag(_ memory: UnsafeRawPointer) -> Int? {
    guard witnessFlags & 0x20_0000 != 0 else { return nil }
    // Enum witnesses follow the 11 words (88 bytes) of the common table: getEnumTag first.
    return Int(unsafeBitCast(witnesses.load(fromByteOffset: 88, as: UInt.self), to: EnumTag.self)(memory, pointer))
  }

  private typealias ProjectData = @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer) -> Void
  /// Turns the enum value at `memory` into its case's payload.
  package func projectEnumData(_ memory: UnsafeMutableRawPointer) {
    guard witnessFlags & 0x20_0000 != 0 else { return }
    // The second enum witness, destructiveProjectEnumData.
    unsafeBitCast(witnesses.load(fromByteOffset: 96, as: UInt.self), to: ProjectData.self)(memory, pointer)
  }

  private typealias InjectTag = @convention(c) (UnsafeMutableRawPointer, UInt32, UnsafeRawPointer) -> Void
  /// Turns memory that holds the case's payload (if it has one) into a value of the case.
  package func injectEnumTag(_ memory: UnsafeMutableRawPointer, _ tag: Int) {
    // The third enum witness, destructiveInjectEnumTag.
    unsafeBitCast(witnesses.load(fromByteOffset: 104, as: UInt.self), to: InjectTag.self)(memory, UInt32(tag), pointer)
  }

  // MARK: Descriptors

  /// The nominal type descriptor of a struct, enum or class.
  package var descriptor: TypeDescriptor? {
    switch kind {
    case .structure, .enumeration, .optional:
      TypeDescriptor(pointer.load(fromByteOffset: 8, as: UnsafeRawPointer.self))
    case .classType:
      // Class metadata on platforms without Objective-C: kind, superclass, flags…, description at +40.
      pointer.load(fromByteOffset: 40, as: UnsafeRawPointer?.self).map(TypeDescriptor.init)
    default: nil
    }
  }

  /// The class and those it inherits from, the nearest first.
  var classChain: [Metadata] { Array(sequence(first: self) { $0.superclass }) }

  /// The class's superclass.
  package var superclass: Metadata? {
    guard case .classType = kind else { return nil }
    return pointer.load(fromByteOffset: 8, as: UnsafeRawPointer?.self).map(Metadata.init)
  }

  /// True when this class is `other` or inherits from it.
  package func isSubclass(of other: Metadata) -> Bool {
    var each: Metadata? = self
    while let metadata = each {
      if metadata.pointer == other.pointer { return true }
      each = metadata.superclass
    }
    return false
  }

  /// The labels of a tuple's elements, nil for none.
  package var tupleLabels: [String?] {
    let count = pointer.load(fromByteOffset: 8, as: Int.self)
    guard let text = pointer.load(fromByteOffset: 16, as: UnsafePointer<CChar>?.self) else { return Array(repeating: nil, count: count) }
    // Each label is followed by a space.
    let labels = String(cString: text).split(separator: " ", omittingEmptySubsequences: false).map { $0.isEmpty ? nil : String($0) }
    return (0..<count).map { $0 < labels.count ? labels[$0] : nil }
  }

  package var tupleElements: [(metadata: Metadata, offset: Int)] {
    let count = pointer.load(fromByteOffset: 8, as: Int.self)
    return (0..<count).map { i in
      (
        Metadata(pointer.load(fromByteOffset: 24 + 16 * i, as: UnsafeRawPointer.self)),
        // 32 bits wide outside Darwin, and the runtime leaves what follows as it was.
        Int(pointer.load(fromByteOffset: 32 + 16 * i, as: UInt32.self))
      )
    }
  }

  /// Existential metadata: flags word at +8 — bits 0-23 witness tables, bit 31 set: not class bound, bits 24-29 special protocol (1: Error).
  package var existential: (witnessTables: Int, isClassBound: Bool, isError: Bool) {
    let flags = pointer.load(fromByteOffset: 8, as: UInt32.self)
    return (Int(flags & 0xFF_FFFF), flags & 0x8000_0000 == 0, (flags >> 24) & 0x3F == 1)
  }

  /// How values of an existential type are stored.
  package enum ExistentialForm: Sendable { case opaque, reference, error }
  /// nil for a type that is no existential.
  package var existentialForm: ExistentialForm? {
    switch kind {
    case .existential: return existential.isError ? .error : existential.isClassBound ? .reference : .opaque
    case .extendedExistential:
      // The shape at +8 begins with flags: the low byte is the kind of container (0 opaque, 1 class, 2 metatype).
      switch extendedExistentialFlags & 0xFF {
      case 0: return .opaque
      case 1: return .reference
      default: return nil
      }
    default: return nil
    }
  }

  /// Flags of an extended existential's shape.
  package var extendedExistentialFlags: UInt32 {
    pointer.load(fromByteOffset: 8, as: UnsafeRawPointer.self).load(as: UInt32.self)
  }

  /// The protocols of an existential type.
  package var protocols: [ProtocolDescriptor] {
    guard case .existential = kind else { return [] }
    let count = Int(pointer.load(fromByteOffset: 12, as: UInt32.self))
    let hasSuperclass = pointer.load(fromByteOffset: 8, as: UInt32.self) & 0x4000_0000 != 0
    // The low bit would mark an Objective-C protocol.
    return (0..<count).map {
      ProtocolDescriptor(pointer.load(fromByteOffset: (hasSuperclass ? 24 : 16) + 8 * $0, as: UnsafeRawPointer.self))
    }
  }

  /// Function metadata: convention in bits 16-23 of the flags (0 swift, 1 block, 2 thin, 3 C).
  package var functionConvention: Int { Int(pointer.load(fromByteOffset: 8, as: Int.self) >> 16 & 0xFF) }

  /// The metatype's instance type.
  package var instanceType: Metadata { Metadata(pointer.load(fromByteOffset: 8, as: UnsafeRawPointer.self)) }

  /// Where the generic arguments of a nominal type begin, for the runtime's type resolver.
  package var genericArguments: UnsafeRawPointer? {
    guard let descriptor, descriptor.isGeneric else { return nil }
    switch kind {
    case .structure, .enumeration, .optional: return pointer + 16
    case .classType: return descriptor.classGenericArgumentOffset.map { pointer + 8 * $0 }
    default: return nil
    }
  }
}

/// A nominal type descriptor in memory.
package struct TypeDescriptor: Hashable, @unchecked Sendable {
  // Descriptors live in read-only image data; images that are hooked are never unloaded.
  package let pointer: UnsafeRawPointer
  package init(_ pointer: UnsafeRawPointer) { self.pointer = pointer }

  package var flags: UInt32 { pointer.load(as: UInt32.self) }
  package var isClass: Bool { flags & 0x1F == 16 }
  package var isStruct: Bool { flags & 0x1F == 17 }
  package var isGeneric: Bool { flags & 0x80 != 0 }
  private var hasResilientSuperclass: Bool { flags & 0x2000_0000 != 0 }

  /// Follows a relative reference of the descriptor; nil for none.
  private func relative(_ offset: Int) -> UnsafeRawPointer? {
    Checked.relative(pointer, offset)
  }

  /// The metadata accessor.
  var accessor: UnsafeRawPointer? { relative(12) }
  private typealias Accessor = @convention(c) (UInt) -> UnsafeRawPointer

  /// Calls the metadata accessor of a non-generic type (blocking until the metadata is complete).
  package func metadata() -> Metadata? {
    guard !isGeneric, let accessor = relative(12) else { return nil }
    // Of types made here the accessor lies in no image either.
    guard hkt_is_image_code(accessor) || !hkt_is_image_memory(pointer) else { return nil }
    // Accessors of non-generic types take the request word in rdi and return {metadata, state} in rax and rdx;
    // the C convention agrees on both registers that are looked at.
    return Metadata(unsafeBitCast(accessor, to: Accessor.self)(0))
  }

  /// Enum descriptors: payload cases in the low 24 bits at +20, empty cases at +24.
  package var payloadCases: Int { Int(pointer.load(fromByteOffset: 20, as: UInt32.self) & 0xFF_FFFF) }
  package var emptyCases: Int { Int(pointer.load(fromByteOffset: 24, as: UInt32.self)) }

  /// How many stored properties a struct or class declares.
  package var fieldCount: Int { Int(pointer.load(fromByteOffset: isClass ? 36 : 20, as: UInt32.self)) }

  /// Offset, in words of the metadata, of the field offset vector.
  package var fieldOffsetVector: Int? {
    if isStruct {
      let words = pointer.load(fromByteOffset: 24, as: UInt32.self)
      return words == 0 ? nil : Int(words)
    }
    guard isClass else { return nil }
    let words = Int(pointer.load(fromByteOffset: 40, as: UInt32.self))
    // With a resilient superclass it counts from where the class's own members begin.
    return hasResilientSuperclass ? resilientMembersOffset.map { $0 + words } : words
  }

  /// Words from the metadata to the immediate members of a class with a resilient superclass; known once it was used.
  private var resilientMembersOffset: Int? {
    // The runtime's StoredClassMetadataBounds: the offset in bytes, 0 until computed.
    guard let bounds = relative(24), let bytes = Checked.word(bounds).map({ Int(bitPattern: $0) }), bytes != 0 else { return nil }
    return bytes / 8
  }

  /// Where a class's immediate members begin, generic arguments first: at metadata words - immediate count (negative-size
  /// flag clear).
  package var classGenericArgumentOffset: Int? {
    guard isClass else { return nil }
    if hasResilientSuperclass { return resilientMembersOffset }
    let positiveWords = Int(pointer.load(fromByteOffset: 28, as: UInt32.self))
    let immediate = Int(pointer.load(fromByteOffset: 32, as: UInt32.self))
    let negative = flags & 0x1000_0000 != 0
    return negative ? -Int(pointer.load(fromByteOffset: 24, as: UInt32.self)) : positiveWords - immediate
  }

  /// The field descriptor's records: cases of an enum, stored properties of a struct or class.
  package var fields: [Field] {
    guard let fields = relative(16), Checked.isReadable(fields, 16) else { return [] }
    let recordSize = Int(fields.load(fromByteOffset: 10, as: UInt16.self))
    let count = Int(fields.load(fromByteOffset: 12, as: UInt32.self))
    guard recordSize == 12, count <= Checked.mostRecords, Checked.isReadable(fields + 16, 12 * count) else { return [] }
    return (0..<count).map { Field(fields + 16 + 12 * $0) }
  }

  package struct Field {
    let record: UnsafeRawPointer
    init(_ record: UnsafeRawPointer) { self.record = record }
    package var isIndirectCase: Bool { record.load(as: UInt32.self) & 1 != 0 }
    package var isVar: Bool { record.load(as: UInt32.self) & 2 != 0 }
    package var name: String {
      let distance = record.load(fromByteOffset: 8, as: Int32.self)
      return Checked.text(record + 8 + Int(distance)) ?? "?"
    }
    /// The mangled type name, nil for a case without payload.
    package var typeName: MangledBytes? {
      let distance = record.load(fromByteOffset: 4, as: Int32.self)
      return distance == 0 ? nil : MangledBytes(record + 4 + Int(distance))
    }
  }
}

/// A mangled type name in image data: NUL-terminated, with symbolic references (control byte and relative address).
package struct MangledBytes: Hashable, @unchecked Sendable {
  // Image data, never unloaded.
  package let pointer: UnsafeRawPointer
  package let count: Int

  private init(pointer: UnsafeRawPointer, count: Int) {
    self.pointer = pointer
    self.count = count
  }
  package func dropLast(_ n: Int) -> MangledBytes { MangledBytes(pointer: pointer, count: max(0, count - n)) }
  /// The record of a field whose type cannot be copied: it refers to an accessor (byte 9) that returns `()`, for runtimes that do not know such
  /// types (GenReflection.cpp). A field of type `()` has its name.
  func isWithheld(in owner: Metadata) -> Bool {
    count == 5 && pointer.load(as: UInt8.self) == 9 && resolve(in: owner)?.type == Void.self
  }

  /// Empty where the name does not end, or refers to what cannot be what it says.
  package init(_ pointer: UnsafeRawPointer) {
    self.pointer = pointer
    let end = hkt_readable_bytes(pointer, Checked.longestName)
    var i = 0
    while i < end {
      let byte = pointer.load(fromByteOffset: i, as: UInt8.self)
      if byte == 0 {
        count = i
        return
      }
      if byte <= 0x17 {
        guard i + 5 <= end, Self.isSound(byte, pointer + i + 1) else { break }
        i += 5
      } else if byte <= 0x1F {
        i += 9
      } else {
        i += 1
      }
    }
    count = 0
  }

  /// What a reference of that kind leads to can be what it must be.
  private static func isSound(_ control: UInt8, _ place: UnsafeRawPointer) -> Bool {
    let target = place + Int(place.loadUnaligned(as: Int32.self))
    switch control {
    case 1: return Checked.isContext(target)
    case 2: return Checked.word(target).map(Checked.isContext) ?? false
    // A function that finds the type.
    case 9: return hkt_is_image_code(target)
    default: return Checked.isReadable(target, 4)
    }
  }

  package func hasSuffix(_ suffix: StaticString) -> Bool {
    let n = suffix.utf8CodeUnitCount
    return count >= n && memcmp(pointer + (count - n), suffix.utf8Start, n) == 0
  }

  /// The Builtin type this name spells, when it is one: `Bi64_`, `Bp`, `Bb`, `Bo`, `Bf64_`.
  package var builtin: Builtin? {
    guard count >= 2, pointer.load(as: UInt8.self) == UInt8(ascii: "B") else { return nil }
    switch pointer.load(fromByteOffset: 1, as: UInt8.self) {
    case UInt8(ascii: "p"), UInt8(ascii: "b"), UInt8(ascii: "o"), UInt8(ascii: "B"), UInt8(ascii: "O"): return .pointer
    case UInt8(ascii: "w"): return .integer(bits: 64)
    case UInt8(ascii: "i") where hasVectorSuffix, UInt8(ascii: "f") where hasVectorSuffix:
      let isFloat = pointer.load(fromByteOffset: 1, as: UInt8.self) == UInt8(ascii: "f")
      return vectorParts.map { .vector(elementSize: ($0.bits + 7) / 8, count: $0.count, isFloat: isFloat) }
    case UInt8(ascii: "j"), UInt8(ascii: "c"): return .pointer  // a job, a continuation
    case UInt8(ascii: "e"): return .executor
    case UInt8(ascii: "i"): return number.map { .integer(bits: $0) }
    case UInt8(ascii: "f"): return number.map { .float(bits: $0) }
    default: return nil
    }
  }
  package enum Builtin { case pointer, integer(bits: Int), float(bits: Int), vector(elementSize: Int, count: Int, isFloat: Bool), executor }

  /// A vector's name is its element's and a count: `Bf32_Bv4_`.
  private var vectorParts: (bits: Int, count: Int)? {
    let text = String(decoding: UnsafeRawBufferPointer(start: pointer, count: count), as: UTF8.self)
    let parts = text.split(separator: "_")
    guard parts.count == 2, text.hasSuffix("_"), parts[1].hasPrefix("Bv"), let bits = Int(parts[0].dropFirst(2)),
      let n = Int(parts[1].dropFirst(2))
    else { return nil }
    return (bits, n)
  }
  private var hasVectorSuffix: Bool { vectorParts != nil }

  private var number: Int? {
    var value = 0
    for i in 2..<count {
      let byte = pointer.load(fromByteOffset: i, as: UInt8.self)
      if byte == UInt8(ascii: "_") { return i == count - 1 ? value : nil }
      guard byte >= 48, byte <= 57 else { return nil }
      value = value * 10 + Int(byte - 48)
    }
    return nil
  }

  /// The type is found by calling a function, control byte 9.
  package var isAccessorReference: Bool { count > 0 && pointer.load(as: UInt8.self) == 9 }

  /// Only messages show it.
  package var text: String {
    String(decoding: UnsafeRawBufferPointer(start: pointer, count: count).map { $0 < 0x20 ? UInt8(ascii: "?") : $0 }, as: UTF8.self)
  }

  /// The metadata the runtime finds for this name in the context of `owner`.
  package func resolve(in owner: Metadata) -> Metadata? {
    guard count > 0 else { return nil }
    return Metadata.named(pointer, count, context: owner.descriptor?.pointer, arguments: owner.genericArguments)
  }
}

// MARK: Virtual tables

extension TypeDescriptor {
  /// The vtable descriptor of a class: {first word in the metadata, count}, then {flags, relative implementation} each.
  struct VirtualTable {
    fileprivate let header: UnsafeRawPointer
    /// Words from the start of the class metadata.
    let offset: Int
    var count: Int { Int(header.load(fromByteOffset: 4, as: UInt32.self)) }
    fileprivate var end: UnsafeRawPointer { entry(count) }

    func entry(_ index: Int) -> UnsafeRawPointer { header + 8 + 8 * index }
    /// 0 method, 1 initialiser, 2 getter, 3 setter, 4 modify, 5 read.
    func kind(_ index: Int) -> Int { Int(entry(index).load(as: UInt32.self) & 0xF) }
    /// 0 for a method nobody calls virtually.
    func implementation(_ index: Int) -> UInt {
      let place = entry(index) + 4
      let distance = place.load(as: Int32.self)
      return distance == 0 ? 0 : UInt(bitPattern: place + Int(distance))
    }
    /// The entry is an initialiser's.
    func isInitializer(_ index: Int) -> Bool { entry(index).load(as: UInt32.self) & 0xF == 1 }
    /// The entry at an address of this table.
    func index(of address: UnsafeRawPointer) -> Int? {
      let distance = address - entry(0)
      return distance >= 0 && distance < 8 * count && distance % 8 == 0 ? distance / 8 : nil
    }
  }

  struct Override {
    /// Descriptor of the class whose table has the entry.
    let introducer: UnsafeRawPointer
    /// The entry that is overridden.
    let entry: UnsafeRawPointer
    let implementation: UInt
  }

  private var classFlags: UInt32 { flags >> 16 }

  /// What comes after the fixed part of a class descriptor and before its tables; nil where it has a form not read here.
  private var tables: UnsafeRawPointer? {
    guard isClass, Checked.isReadable(pointer, 72) else { return nil }
    var at = pointer + 44
    if isGeneric {
      // Instantiation cache and pattern, then counts of parameters, requirements, key arguments, and flags.
      let parameters = Int(at.load(fromByteOffset: 8, as: UInt16.self))
      let requirements = Int(at.load(fromByteOffset: 10, as: UInt16.self))
      guard at.load(fromByteOffset: 14, as: UInt16.self) == 0 else { return nil }
      at += 16 + (parameters + 3) / 4 * 4 + 12 * requirements
    }
    if classFlags & 1 << 13 != 0 { at += 4 }  // resilient superclass
    switch classFlags & 3 {
    case 1: at += 12  // singleton initialisation: cache, pattern, completion
    case 2: at += 4  // foreign initialisation: completion
    default: break
    }
    return at
  }

  /// Where the immediate members of a class with a superclass of unknown size begin, in words; 0 for other classes.
  private var firstMember: Int? {
    guard classFlags & 1 << 13 != 0 else { return 0 }
    // Stored class metadata bounds: byte offset of the immediate members first; 0 until the class is in use.
    guard let bounds = relative(24), let bytes = Checked.word(bounds).map({ Int(bitPattern: $0) }) else { return nil }
    return bytes / 8
  }

  var virtualTable: VirtualTable? {
    guard classFlags & 1 << 15 != 0, let header = tables, let first = firstMember, Checked.isReadable(header, 8) else { return nil }
    let table = VirtualTable(header: header, offset: first + Int(header.load(as: UInt32.self)))
    guard table.count <= Checked.mostRecords, Checked.isReadable(table.entry(0), 8 * table.count) else { return nil }
    return table
  }

  /// The override descriptors: a count, then relative references to class, entry (both may be indirect) and implementation.
  var overrides: [Override] {
    guard classFlags & 1 << 14 != 0, var at = tables else { return [] }
    if classFlags & 1 << 15 != 0 {
      guard let table = virtualTable ?? (Checked.isReadable(at, 8) ? VirtualTable(header: at, offset: 0) : nil), table.count <= Checked.mostRecords
      else { return [] }
      at = table.end
    }
    func target(_ place: UnsafeRawPointer) -> UnsafeRawPointer? {
      let distance = place.load(as: Int32.self)
      guard distance != 0 else { return nil }
      let target = place + Int(distance & ~1)
      return distance & 1 == 0 ? target : Checked.word(target)
    }
    guard Checked.isReadable(at, 4) else { return [] }
    let count = Int(at.load(as: UInt32.self))
    guard count <= Checked.mostRecords, Checked.isReadable(at + 4, 12 * count) else { return [] }
    return (0..<count).compactMap { index in
      let place = at + 4 + 12 * index
      guard let introducer = target(place), let entry = target(place + 4) else { return nil }
      let distance = (place + 8).load(as: Int32.self)
      let implementation = distance == 0 ? 0 : UInt(bitPattern: place + 8 + Int(distance))
      return Override(introducer: introducer, entry: entry, implementation: implementation)
    }
  }

  /// An actor's methods run on its executor.
  package var isActor: Bool { isClass && classFlags & 1 << 7 != 0 }
}

extension Metadata {
  /// Bytes of an instance: class metadata has {flags, address point, size} at +16.
  package var instanceSize: Int { Int(pointer.load(fromByteOffset: 24, as: UInt32.self)) }
}
