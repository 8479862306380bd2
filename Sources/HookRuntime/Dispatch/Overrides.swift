// Overrides — which class's implementation of a method the instances of a class run.
private import CHookTrampoline
private import SwiftMangling

enum Overrides {
  /// The class from `type` up to, and without, `owner` whose own implementation takes the family's place; nil when the
  /// family's does.
  static func implementer(of family: Family, in image: ImageCatalog, owner: Metadata, for type: Metadata) -> Metadata? {
    if type == owner { return nil }
    if let base = family.bodies.first, let slot = owner.virtualSlot(of: UInt(base.address)) {
      return implementer(slot: slot, owner: owner, for: type)
    }
    // Without a slot (not called virtually any more, or async) names tell.
    var each: Metadata? = type
    while let metadata = each, metadata != owner {
      if hasOwn(family, in: metadata) { return metadata }
      each = metadata.superclass
    }
    return nil
  }

  /// The highest class that has in its table what `type` has; nil when that is what `owner` has.
  private static func implementer(slot: Int, owner: Metadata, for type: Metadata) -> Metadata? {
    let wanted = word(slot, of: type)
    if wanted == word(slot, of: owner) { return nil }
    var found = type
    while let parent = found.superclass, parent != owner, word(slot, of: parent) == wanted { found = parent }
    return found
  }

  /// What the class's table held before any hook of ours.
  private static func word(_ slot: Int, of type: Metadata) -> UInt64 {
    hkt_slot_former(type.pointer.load(fromByteOffset: 8 * slot, as: UInt64.self))
  }

  /// The selector of the class's own implementation.
  static func selector(of family: Family, in type: Metadata) -> String {
    let owner = family.declaration.context.map { PrivateNames.stripped("\($0)") } ?? ""
    let prefix = family.declaration.isStatic ? "static " : ""
    let member = family.selector.dropFirst(prefix.utf8.count + owner.utf8.count)
    return prefix + name(type) + member
  }

  private static func name(_ type: Metadata) -> String { String(type.name.prefix { $0 != "<" }) }

  private static func hasOwn(_ family: Family, in type: Metadata) -> Bool {
    let pattern = SelectorPattern(selector(of: family, in: type))
    return ProcessCatalog.shared.families(matching: pattern).contains { _, other in
      other.declaration.isStatic == family.declaration.isStatic
        && other.declaration.functionType.parameters.map(\.type) == family.declaration.functionType.parameters.map(\.type)
    }
  }
}
