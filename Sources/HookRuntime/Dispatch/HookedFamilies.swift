// HookedFamilies — the selectors that hooks were made on, by name and image.

/// Guarded by the engine's lock. What is added stays: families are never freed.
struct HookedFamilies {
  /// One for each name: a selector may have bodies in several images, specialisations that each of them needed.
  private var byName: [String: HookedFamily] = [:]

  /// What was made for the selector of this image, and otherwise those of other images.
  func find(_ family: Family) -> (known: HookedFamily?, siblings: [HookedFamily]) {
    guard let first = byName[family.key] else { return (nil, []) }
    if first.family.imagePath == family.imagePath { return (first, []) }
    let known = first.siblings.first { $0.family.imagePath == family.imagePath }
    return (known, known == nil ? [first] + first.siblings : [])
  }

  /// So many more may come.
  mutating func reserve(_ count: Int) { byName.reserveCapacity(byName.count + count) }

  /// A family that `find` did not.
  mutating func add(_ hooked: HookedFamily) {
    if !hooked.hasSiblings { byName[hooked.family.key] = hooked }
    hooked.join()
  }

  var all: [HookedFamily] { byName.values.flatMap { [$0] + $0.siblings } }
}
