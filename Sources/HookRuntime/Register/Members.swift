// Members — an image's methods and witnesses by what a requirement and its implementations have in common.
internal import SwiftMangling

/// A member's name, whatever it is a member of.
struct MemberKey: Hashable {
  private let name: String
  private let labels: [String?]
  private let kind: EntityKind
  private let isStatic: Bool

  init(_ declaration: Declaration) {
    name = declaration.name
    labels = declaration.labels
    isStatic = declaration.isStatic
    // The initialising form stands where the optimiser left no other.
    kind = declaration.kind == .`init` ? .allocatingInit : declaration.kind
  }
}

/// What has one member's name, labels and kind. '==' and the like have thousands: those of one type are not searched for among them.
struct Namesakes<Member: Sendable>: Sendable {
  /// They stand in the order of their addresses.
  let all: [Member]
  private let places: [String: [Int]]

  init(_ all: [Member], owner: (Member) -> String?) {
    self.all = all
    places = Dictionary(grouping: all.indices, by: { owner(all[$0]) ?? "" })
  }

  /// Those of one type, by its description.
  subscript(owner: String) -> [Member] { (places[owner] ?? []).map { all[$0] } }
}

extension Namesakes<Family> {
  /// Groups them by the types they are members of.
  init(_ families: [Family]) { self.init(families) { $0.declaration.context?.description } }
}

extension Namesakes<Witness> {
  /// Groups them by the types that conform.
  init(_ witnesses: [Witness]) { self.init(witnesses) { $0.conformer.description } }
}

/// Filled as it is asked. Confined to its catalog's lock.
final class Members {
  private unowned let image: ImageCatalog
  private var families: [MemberKey: Namesakes<Family>] = [:]
  private var hasNameless = false
  private var hasServing = false
  private lazy var witnesses = Dictionary(grouping: image.allWitnesses(), by: { MemberKey($0.requirement) }).mapValues(Namesakes.init)
  private lazy var witnessNames = Set(witnesses.values.lazy.flatMap(\.all).map(\.mangledName))

  init(_ image: ImageCatalog) { self.image = image }

  /// Families of any type's members with the declaration's name, labels and kind.
  func families(like wanted: Declaration) -> Namesakes<Family> {
    let key = MemberKey(wanted)
    if let known = families[key] { return known }
    if hasServing, witnesses[key] != nil { return Namesakes([]) }
    if wanted.name == "init" || wanted.isSubscript {
      // Nothing of these is spelled in mangled names: one look at all of them serves every question.
      if !hasNameless {
        families.merge(Dictionary(grouping: nameless(), by: { MemberKey($0.declaration) }).mapValues(Namesakes.init), uniquingKeysWith: { $1 })
      }
      hasNameless = true
      return families[key] ?? Namesakes([])
    }
    let escaped = wanted.name.split(separator: "*", omittingEmptySubsequences: false).joined(separator: "\\*")
    let words = SelectorPattern("*." + escaped).requiredWords
    let found = Namesakes(image.families(words: words) { $0.isPlainMember && MemberKey($0) == key })
    families[key] = found
    return found
  }

  /// Reads all members that bear a requirement's name at once, for one who asks about many: a symbol is parsed once then, and not for each
  /// name that it holds.
  func readServing() {
    if hasServing { return }
    let found = image.families(words: []) { $0.isPlainMember && witnesses[MemberKey($0)] != nil }
    families.merge(Dictionary(grouping: found, by: { MemberKey($0.declaration) }).mapValues(Namesakes.init), uniquingKeysWith: { known, _ in known })
    hasServing = true
  }

  /// The witnesses of requirements with the declaration's name, labels and kind.
  func witnesses(like wanted: Declaration) -> Namesakes<Witness> { witnesses[MemberKey(wanted)] ?? Namesakes([]) }

  func hasWitness(named mangledName: String) -> Bool { witnessNames.contains(mangledName) }

  private func nameless() -> [Family] {
    image.families(words: []) { $0.isPlainMember && ($0.name == "init" || $0.isSubscript) }
  }
}

extension Declaration {
  fileprivate var isPlainMember: Bool { localContext.isEmpty && context != nil }
}
