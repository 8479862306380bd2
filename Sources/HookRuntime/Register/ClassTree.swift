// ClassTree — a method of a class with all that its subclasses, in whatever image, have in its place.

internal import SwiftMangling

package enum ClassTree {
  private static let deepest = 64

  /// The class's own method, first, and what overrides it in the images that are loaded now. Empty when the class has none of its own,
  /// or there is no such class.
  package static func implementations(of member: String, on base: String) -> [(ImageCatalog, Family)] {
    let own = ProcessCatalog.shared.families(matching: SelectorPattern("\(base).\(member)")).filter {
      $0.0.forbiddenName == nil && $0.1.declaration.contextKind == .classType && $0.1.requirement == nil
    }
    guard let (_, first) = own.first else { return [] }
    let images = ProcessCatalog.shared.current().filter { $0.forbiddenName == nil }
    let above = Dictionary(images.flatMap { $0.superclasses.map { ($0, $1) } }, uniquingKeysWith: { first, _ in first })
    var seen = Set(own.map { FamilyIdentity($0.1) })
    var found = own
    for image in images {
      for family in image.families(likeMember: first.declaration).all
      where family.declaration.contextKind == .classType && isBelow(family, base, above) && image.isOverride(family) {
        if seen.insert(FamilyIdentity(family)).inserted { found.append((image, family)) }
      }
    }
    return found
  }

  private struct FamilyIdentity: Hashable {
    let image: String
    let key: String
    init(_ family: Family) {
      image = family.imagePath
      key = family.key
    }
  }

  private static func isBelow(_ family: Family, _ base: String, _ above: [String: String]) -> Bool {
    guard let context = family.declaration.context else { return false }
    var each: String? = "\(context)"
    for _ in 0..<deepest {
      guard let here = each else { return false }
      if here == base || PrivateNames.stripped(here) == base { return true }
      each = above[here]
    }
    return false
  }
}
