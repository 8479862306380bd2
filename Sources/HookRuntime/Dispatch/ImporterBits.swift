// ImporterBits — whose calls of a C function a hook asked for, as the dispatcher tells them apart.
//
// Each different wish (a glob for images, and whether the layer is safe where others are not) has a bit. The record of an
// import slot has the bits of all wishes that its image satisfies; a layer sees the calls that come by records with its bit.

internal import CHookTrampoline

/// Guarded by the engine's lock.
final class ImporterBits {
  struct Wish: Hashable {
    /// Of file names; nil: all images.
    var images: String?
    var isSafe: Bool
  }
  private var wishes: [Wish] = []
  private var groups: [String: UInt64] = [:]
  nonisolated(unsafe) private static var lastGroup: UInt64 = 0  // guarded by the engine's lock

  /// What the sites of one image have in common, and no other image's or function's: smaller than any group made of an address.
  func group(of importer: Importer) -> UInt64 {
    let key = importer.path + String(importer.bias)
    if let known = groups[key] { return known }
    Self.lastGroup += 1
    groups[key] = Self.lastGroup << 8 | UInt64(BackEnd.importSlot.route.rawValue)
    return groups[key]!
  }

  /// The wish's bit; nil when there are 64 others. `isNew`: records do not have it yet.
  func bit(of wish: Wish) -> (mask: UInt64, isNew: Bool)? {
    if let index = wishes.firstIndex(of: wish) { return (1 << UInt64(index), false) }
    if wishes.count == 64 { return nil }
    wishes.append(wish)
    return (1 << UInt64(wishes.count - 1), true)
  }

  /// All wishes that a place satisfies.
  func mask(_ function: ImportedFunction, _ place: ImportPlace) -> UInt64 {
    var mask: UInt64 = 0
    for (index, wish) in wishes.enumerated() where Self.isMet(wish, function, place) { mask |= 1 << UInt64(index) }
    return mask
  }

  static func isMet(_ wish: Wish, _ function: ImportedFunction, _ place: ImportPlace) -> Bool {
    place.importer.matches(wish.images) && function.refusal(at: place, safe: wish.isSafe) == nil
  }
}
