// TypeNote — whether a type is a collection, a standard type, or neither: found once, and kept in the word that a TypeInfo has for it.
internal import HookRuntime
internal import Synchronization

struct TypeNote {
  /// The address of a CollectionType, or one of the marks in the bits that such an address has free.
  private let word: UInt

  private static let neither: UInt = 1
  private static let collection: UInt = 2
  private static let standard: UInt = 3
  private static let marks: UInt = 0xF

  init(of info: TypeInfo) {
    let known = info.note.load(ordering: .acquiring)
    word = known != 0 ? known : Self.find(info)
  }

  var isCollection: Bool { word & Self.marks == Self.collection }
  var collection: CollectionType {
    // CollectionType keeps what it made for ever.
    Unmanaged<CollectionType>.fromOpaque(UnsafeRawPointer(bitPattern: word & ~Self.marks)!).takeUnretainedValue()
  }
  var standard: StandardType? { word & Self.marks == Self.standard ? StandardType(rawValue: word >> 4) : nil }

  /// Several threads may find the same.
  @inline(never)
  private static func find(_ info: TypeInfo) -> UInt {
    let found =
      if let type = StandardType.find(info) {
        type.rawValue << 4 | standard
      } else if let type = CollectionType.find(info) {
        UInt(bitPattern: Unmanaged.passUnretained(type).toOpaque()) | collection
      } else {
        neither
      }
    info.note.store(found, ordering: .releasing)
    return found
  }
}
