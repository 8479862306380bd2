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

/// Filled as it is asked. Confined to its catalog's lock.
final class Members {
  private unowned let image: ImageCatalog
  private var families: [MemberKey: [Family]] = [:]
  private var hasNameless = false
  private(set) lazy var witnesses = Dictionary(grouping: image.allWitnesses(), by: { MemberKey($0.requirement) })

  init(_ image: ImageCatalog) { self.image = image }

  /// Families of any type's members with the declaration's name, labels and kind.
  func families(like wanted: Declaration) -> [Family] {
    let key = MemberKey(wanted)
    if let known = families[key] { return known }
    if wanted.name == "init" || wanted.isSubscript {
      // Nothing of these is spelled in mangled names: one look at all of them serves every question.
      if !hasNameless { families.merge(Dictionary(grouping: nameless(), by: { MemberKey($0.declaration) }), uniquingKeysWith: { $1 }) }
      hasNameless = true
      return families[key] ?? []
    }
    let escaped = wanted.name.split(separator: "*", omittingEmptySubsequences: false).joined(separator: "\\*")
    let words = SelectorPattern("*." + escaped).requiredWords
    let found = image.families(words: words) { _, declaration in declaration.isPlainMember && MemberKey(declaration) == key }
    families[key] = found
    return found
  }

  private func nameless() -> [Family] {
    image.families(words: []) { _, declaration in declaration.isPlainMember && (declaration.name == "init" || declaration.isSubscript) }
  }
}

extension Declaration {
  fileprivate var isPlainMember: Bool { localContext.isEmpty && context != nil }
}
