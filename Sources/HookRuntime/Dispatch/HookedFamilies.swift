// HookedFamilies — the selectors that hooks were made on, by name and image.
//
// A table of its own: a name is hashed once where it is looked for and then added, and what is looked at of it is a few bytes.

/// Guarded by the engine's lock. What is added stays: families are never freed.
final class HookedFamilies {
  /// One for each name: a selector may have bodies in several images, specialisations that each of them needed.
  private struct Entry {
    var hash: UInt64 = 0
    /// Retained for ever; nil where there is none.
    var first: Unmanaged<HookedFamily>?
  }

  /// Open addressing, at most two thirds full. The number is a power of two. Nobody else has the memory.
  private var entries: UnsafeMutableBufferPointer<Entry>
  private var count = 0

  init() { entries = Self.entries(64) }

  /// What was made for a selector.
  struct Found {
    /// The one in the selector's own image.
    var known: HookedFamily?
    /// Those in other images, where its own has none.
    var siblings: [HookedFamily] = []
    fileprivate let hash: UInt64
  }

  func find(_ family: Family) -> Found {
    var found = Found(hash: NameHash.of(family.key))
    guard let first = entries[place(of: family.key, found.hash)].first?.takeUnretainedValue() else { return found }
    if first.family.imagePath == family.imagePath {
      found.known = first
    } else {
      found.known = first.siblings.first { $0.family.imagePath == family.imagePath }
      if found.known == nil { found.siblings = [first] + first.siblings }
    }
    return found
  }

  /// So many more may come.
  func reserve(_ more: Int) {
    var wanted = entries.count
    while 3 * (count + more) > 2 * wanted { wanted *= 2 }
    if wanted > entries.count { grow(to: wanted) }
  }

  /// A family that was not among what `find` found.
  func add(_ hooked: HookedFamily, _ found: Found) {
    if !hooked.hasSiblings {
      reserve(1)
      enter(Entry(hash: found.hash, first: .passRetained(hooked)))
      count += 1
    }
    hooked.join()
  }

  var all: [HookedFamily] {
    entries.flatMap { entry in entry.first.map { [$0.takeUnretainedValue()] + $0.takeUnretainedValue().siblings } ?? [] }
  }

  /// A table of that many empty places; who replaces it frees it.
  private static func entries(_ count: Int) -> UnsafeMutableBufferPointer<Entry> {
    let entries = UnsafeMutableBufferPointer<Entry>.allocate(capacity: count)
    entries.initialize(repeating: Entry())
    return entries
  }

  private func grow(to count: Int) {
    let former = entries
    entries = Self.entries(count)
    for entry in former where entry.first != nil { enter(entry) }
    former.deallocate()
  }

  private func enter(_ entry: Entry) {
    var index = Int(truncatingIfNeeded: entry.hash) & (entries.count - 1)
    while entries[index].first != nil { index = (index + 1) & (entries.count - 1) }
    entries[index] = entry
  }

  /// Where the name's entry is, or would be.
  private func place(of name: String, _ hash: UInt64) -> Int {
    var index = Int(truncatingIfNeeded: hash) & (entries.count - 1)
    while let first = entries[index].first, !(entries[index].hash == hash && first.takeUnretainedValue().family.key == name) {
      index = (index + 1) & (entries.count - 1)
    }
    return index
  }
}
