// IsaSwitch — one object has a class of its own: a copy of its class's metadata with some slots of the table changed.
//
// `is`, `as?`, the printed name, fields and the deinit are the class's own; `type(of:)` is another one, and a mirror's
// superclass is the class itself. What is called directly is missed, as by any table.
//
// Not for classes that may be final: code compares an object's class with a final one word for word, so that a cast of a
// switched object would fail (docs/abi-notes.md). A class is not final that has a subclass, or a slot of its own for something
// else than an initialiser. Nor for actors, whose runtime looks at their class itself.
internal import CHookTrampoline
private import SwiftMangling

/// The copies there are, and the objects that have them. Guarded by the engine's lock.
final class IsaSwitch {
  // The engine's lock is around every use.
  nonisolated(unsafe) static let shared = IsaSwitch()

  /// A class and the words that differ.
  private struct Key: Hashable {
    let original: Metadata
    let words: [Int: UInt64]
  }
  private struct Wearer {
    let original: Metadata
    /// The class it has now: a copy, or the original.
    var worn: Metadata
    var words: [Int: (stub: UInt64, users: Int)] = [:]
  }
  private var copies: [Key: Metadata] = [:]
  private var wearers: [UInt64: Wearer] = [:]

  /// The copies of classes that are `base` or inherit from it, with the words of each that are an object's own.
  func copies(below base: Metadata) -> [(metadata: Metadata, own: Set<Int>)] {
    copies.filter { $0.key.original.isSubclass(of: base) }.map { ($0.value, Set($0.key.words.keys)) }
  }

  /// The class that the object was made with.
  func original(of object: AnyObject) -> Metadata {
    let (address, worn) = Self.look(object)
    if let known = wearers[address], known.worn == worn { return known.original }
    return worn
  }

  /// Adds or takes away one user of each word, and makes the object wear what is left.
  func use(_ object: AnyObject, _ words: [(index: Int, slot: Slot)], _ change: Int) -> InterceptRefusal? {
    let (address, worn) = Self.look(object)
    var wearer = wearers[address] ?? Wearer(original: worn, worn: worn)
    // Another object was here before.
    if wearer.worn != worn, wearer.original != worn { wearer = Wearer(original: worn, worn: worn) }
    for (index, slot) in words {
      let users = (wearer.words[index]?.users ?? 0) + change
      wearer.words[index] = users > 0 ? (slot.stub, users) : nil
    }
    var facts = HKTRefusal()
    guard let wanted = copy(of: wearer.original, wearer.words.mapValues(\.stub), &facts),
      hkt_switch_class(UnsafeMutableRawPointer(bitPattern: UInt(address)), worn.pointer, wanted.pointer, &facts)
    else { return InterceptRefusal(facts) }
    wearer.worn = wanted
    wearers[address] = wearer.words.isEmpty ? nil : wearer
    return nil
  }

  func forget(_ address: UInt64) { wearers[address] = nil }

  func changedElsewhere(_ object: AnyObject) -> InterceptRefusal? {
    let (address, worn) = Self.look(object)
    guard let wearer = wearers[address], wearer.worn != worn else { return nil }
    func bits(_ metadata: Metadata) -> UInt64 { UInt64(UInt(bitPattern: metadata.pointer)) }
    return .wordChangedElsewhere(address: address, found: bits(worn), expected: bits(wearer.worn))
  }

  private func copy(of original: Metadata, _ words: [Int: UInt64], _ facts: inout HKTRefusal) -> Metadata? {
    if words.isEmpty { return original }
    let key = Key(original: original, words: words)
    if let known = copies[key] { return known }
    guard let copy = hkt_copy_class(original.pointer, &facts) else { return nil }
    for (index, stub) in words { hkt_set_copied_word(copy, UInt32(index), stub) }
    copies[key] = Metadata(copy)
    return Metadata(copy)
  }

  /// Where the object is, and the class in its first word.
  private static func look(_ object: AnyObject) -> (address: UInt64, worn: Metadata) {
    let memory = Unmanaged.passUnretained(object).toOpaque()
    return (UInt64(UInt(bitPattern: memory)), Metadata(memory.load(as: UnsafeRawPointer.self)))
  }
}

extension IsaSwitch {
  /// The words that the family's method has in the table of the object's class.
  static func plan(
    _ family: Family, in image: ImageCatalog, for object: AnyObject
  ) throws(BackEndRefusal) -> [(index: Int, planned: SlotPlan.Entry)] {
    let type = shared.original(of: object)
    guard case .classType = type.kind, let descriptor = type.descriptor else { throw .scope("changes the class of a Swift object") }
    if type.hasActor { throw .actor(type.name) }
    guard !mayBeFinal(type, descriptor) else { throw .mayBeFinal(type.name) }
    return try VirtualTables.words(of: family, in: image, for: type)
  }

  private static func mayBeFinal(_ type: Metadata, _ descriptor: TypeDescriptor) -> Bool {
    if let table = descriptor.virtualTable, (0..<table.count).contains(where: { !table.isInitializer($0) }) { return false }
    guard let name = TypeCatalog.shared.name(of: descriptor) else { return true }
    return ClassHierarchy(ProcessCatalog.shared.current()).subclasses(of: type, named: name).isEmpty
  }
}

extension Metadata {
  /// The class or one it inherits from is an actor.
  fileprivate var hasActor: Bool {
    var each: Metadata? = self
    while let metadata = each {
      if metadata.descriptor?.isActor == true { return true }
      each = metadata.superclass
    }
    return false
  }
}
