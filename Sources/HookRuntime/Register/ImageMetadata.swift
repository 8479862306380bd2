// ImageMetadata — what one image's metadata and records say, as its file has them: read when it is asked for.
internal import SwiftMangling

/// The lock of its catalog guards it.
final class ImageMetadata {
  private unowned let image: ImageCatalog
  fileprivate lazy var vtableThunks = VtableThunks(image.symbols)
  fileprivate lazy var members = Members(image)
  fileprivate var servedWitnesses: [MemberKey: [String: [Witness]]] = [:]
  fileprivate lazy var symbols = MetadataSymbols(image.symbols)
  fileprivate lazy var types = SwiftTypes(file: image.file)
  fileprivate lazy var conformances = Dictionary(grouping: types.conformances, by: { $0.type ?? "" })
  fileprivate lazy var classes = Dictionary(
    types.types.lazy.filter { $0.kind == .class }.map { ($0.descriptor, $0) }, uniquingKeysWith: { first, _ in first })
  fileprivate lazy var superclasses = Dictionary(
    classes.values.compactMap { each in each.superclass.map { (each.name, $0) } }, uniquingKeysWith: { first, _ in first })
  fileprivate lazy var classesByName = Dictionary(grouping: classes.values, by: \.name)
  fileprivate lazy var subclasses = Dictionary(
    grouping: classes.values.compactMap { each in each.superclass.map { ($0, each) } }, by: { $0.0 }
  ).mapValues { $0.map(\.1) }

  init(_ image: ImageCatalog) { self.image = image }
}

extension ImageCatalog {
  /// Thunks in virtual tables, by the methods that they stand for.
  var vtableThunks: VtableThunks { lock.withLock { metadata.vtableThunks } }
  /// The symbols of records.
  var metadataSymbols: MetadataSymbols { lock.withLock { metadata.symbols } }
  /// Types, protocols and conformances.
  package var types: SwiftTypes { lock.withLock { metadata.types } }
  /// Conformances by the conforming type's name.
  var conformances: [String: [ConformanceRecord]] { lock.withLock { metadata.conformances } }
  /// Classes by their descriptors' virtual addresses.
  package var classes: [UInt64: TypeRecord] { lock.withLock { metadata.classes } }
  /// Classes by their names: there may be several of one name.
  var classesByName: [String: [TypeRecord]] { lock.withLock { metadata.classesByName } }
  /// The names of superclasses by those of their classes.
  var superclasses: [String: String] { lock.withLock { metadata.superclasses } }
  /// Classes by their superclasses' names.
  var subclasses: [String: [TypeRecord]] { lock.withLock { metadata.subclasses } }

  /// Families of any type's members with the declaration's name, labels and kind.
  func families(likeMember wanted: Declaration) -> Namesakes<Family> { lock.withLock { metadata.members.families(like: wanted) } }
  /// Reads what `families(likeMember:)` tells of all members at once that bear a requirement's name.
  func readServingMembers() { lock.withLock { metadata.members.readServing() } }
  /// The witnesses of requirements with the same name, labels and kind.
  func witnesses(likeMember wanted: Declaration) -> Namesakes<Witness> { lock.withLock { metadata.members.witnesses(like: wanted) } }
  func hasWitness(named mangledName: String) -> Bool { lock.withLock { metadata.members.hasWitness(named: mangledName) } }
  /// Witnesses of such requirements by the keys of the families they run; kept once they are found.
  func servedWitnesses(like wanted: Declaration, _ find: () -> [String: [Witness]]) -> [String: [Witness]] {
    let key = MemberKey(wanted)
    if let known = lock.withLock({ metadata.servedWitnesses[key] }) { return known }
    // Without the lock: it asks for families.
    let found = find()
    return lock.withLock {
      metadata.servedWitnesses[key] = found
      return found
    }
  }
}
