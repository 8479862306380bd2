// Sequence+Uniqued — each element once.

extension Sequence where Element: Hashable {
  /// Each element where it is first.
  func uniqued() -> [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
