// FieldCheck — whether the field records of a type name types that make up its layout.
//
// Records are what nothing but reflection reads: an image may be damaged there, and its program runs all the same. How values are laid out and
// copied the program does use: the fields must fill it, one behind the other, and count references where the whole does. Where they do not,
// no field of the type is read. Of parts whose extent is not known (imported types, builtin ones, metatypes) only what the others say counts.
private import CHookTrampoline
private import Synchronization

extension Metadata {
  private static let checked = Mutex<[Metadata: Bool]>([:])

  /// The records say of the stored properties, or cases, what the layout says. Asks the runtime for the types of all of them, once.
  package var hasSoundFields: Bool {
    if let known = Self.checked.withLock({ $0[self] }) { return known }
    let isSound: Bool
    switch kind {
    case .structure: isSound = areStructFieldsSound
    case .classType: isSound = areClassFieldsSound
    case .enumeration, .optional: isSound = areCasesSound
    default: return true
    }
    return Self.checked.withLock {
      $0[self] = isSound
      return isSound
    }
  }

  /// What a field takes up; nil for what is not known.
  private struct Extent {
    var size: Int?
    var alignment: Int?
    var isTrivial: Bool?
    static let unknown = Extent()
  }

  private func extent(_ name: MangledBytes) -> Extent {
    switch name.builtin {
    case nil: break
    case .integer(let bits)? where [8, 16, 32, 64].contains(bits): return Extent(size: bits / 8, alignment: bits / 8, isTrivial: true)
    case .float(let bits)? where bits == 32 || bits == 64: return Extent(size: bits / 8, alignment: bits / 8, isTrivial: true)
    default: return .unknown
    }
    if name.isAccessorReference { return .unknown }
    let isWeak = name.hasSuffix("Xw"), isUnowned = name.hasSuffix("Xo"), isUnmanaged = name.hasSuffix("Xu")
    let spelled = isWeak || isUnowned || isUnmanaged ? name.dropLast(2) : name
    // A type that is not found may be one that this process lacks: nothing is known of it.
    guard let type = spelled.resolve(in: self), !type.mentionsOneMetatype else { return .unknown }
    return Extent(size: type.size, alignment: type.alignment, isTrivial: isWeak || isUnowned ? false : isUnmanaged ? true : type.isTrivial)
  }

  /// Imported, or made when the program runs: what there is need not have names.
  private var mayHideParts: Bool { name.hasPrefix("__C.") || descriptor.map { !hkt_is_image_memory($0.pointer) } ?? true }

  private var areStructFieldsSound: Bool {
    guard let descriptor, descriptor.isStruct, let vector = descriptor.fieldOffsetVector else { return true }
    let records = descriptor.fields
    // No records at all: compiled without reflection.
    if records.isEmpty || mayHideParts { return true }
    guard records.count == descriptor.fieldCount, Checked.isReadable(pointer + 8 * vector, 4 * records.count) else { return false }
    let offsets = records.indices.map { Int((pointer + 8 * vector).load(fromByteOffset: 4 * $0, as: UInt32.self)) }
    guard let extents = extents(records), Self.fill(extents, offsets, from: 0, to: size) else { return false }
    let trivial = extents.map(\.isTrivial)
    return trivial.contains(nil) || !isCopyable || isTrivial == trivial.allSatisfy { $0 == true }
  }

  private var areClassFieldsSound: Bool {
    guard let descriptor, descriptor.isClass, let vector = descriptor.fieldOffsetVector else { return true }
    let records = descriptor.fields
    if records.isEmpty || mayHideParts { return true }
    guard records.count == descriptor.fieldCount, Checked.isReadable(pointer + 8 * vector, 8 * records.count) else { return false }
    let offsets = records.indices.map { (pointer + 8 * vector).load(fromByteOffset: 8 * $0, as: Int.self) }
    guard let extents = extents(records) else { return false }
    return Self.fill(extents, offsets, from: superclass?.instanceSize ?? 16, to: instanceSize)
  }

  private func extents(_ records: [TypeDescriptor.Field]) -> [Extent]? {
    var all: [Extent] = []
    for record in records {
      guard let name = record.typeName, name.count > 0 else { return nil }
      all.append(extent(name))
    }
    return all
  }

  /// The parts lie one behind the other, with no more between them than their alignment asks for.
  private static func fill(_ parts: [Extent], _ offsets: [Int], from start: Int, to end: Int) -> Bool {
    /// nil behind what is not known.
    var reached: Int? = start
    for (part, offset) in zip(parts, offsets) {
      // What needs no bytes lies anywhere; what is not known may be such a part.
      if part.size == nil { reached = nil }
      guard let size = part.size, size > 0 else { continue }
      guard offset >= start, offset <= end else { return false }
      if let reached, let alignment = part.alignment, offset != (reached + alignment - 1) / alignment * alignment { return false }
      if let reached, offset < reached { return false }
      if offset + size > end { return false }
      reached = offset + size
    }
    return reached == nil || reached == end || parts.allSatisfy { $0.size == 0 }
  }

  private var areCasesSound: Bool {
    guard let descriptor else { return true }
    let records = descriptor.fields, payloads = descriptor.payloadCases
    if records.isEmpty || mayHideParts { return true }
    guard records.count == payloads + descriptor.emptyCases else { return false }
    // A payload without bytes is none.
    guard records.dropFirst(payloads).allSatisfy({ $0.typeName.map { extent($0).size ?? 0 == 0 } ?? true }) else { return false }
    var largest = 0, alignment = 1, isTrivial = true
    for record in records.prefix(payloads) {
      guard let name = record.typeName, name.count > 0 else { return false }
      let part = record.isIndirectCase ? Extent(size: 8, alignment: 8, isTrivial: false) : extent(name)
      guard let size = part.size, let needed = part.alignment, let trivial = part.isTrivial else { return true }
      largest = max(largest, size)
      alignment = max(alignment, needed)
      isTrivial = isTrivial && trivial
    }
    // Which case it is takes up to four bytes more, where the payloads leave no bits for it.
    return size >= largest && size <= largest + 4 && (payloads == 0 || self.alignment == alignment) && (isTrivial == self.isTrivial || !isCopyable)
  }
}
