// PinnedBodies — whether functions have the code that a patch was written for: `bodies` in the header's target, which `scripthost pin` writes.
package import HookRuntime
internal import Journal

package enum PinnedBodies {
  /// What a selector means; nil: there is nothing of the name.
  package typealias Find = (String) -> [(ImageCatalog, Family)]?

  /// The digest of all that the selector means, one function in most cases; nil where it has no code that can be read.
  package static func digest(_ found: [(ImageCatalog, Family)]) -> String? {
    let digests = found.map { $0.codeDigest(of: $1) }
    guard digests.allSatisfy({ $0 != nil }) else { return nil }
    let sorted = Set(digests.compactMap { $0 }).sorted()
    return sorted.count == 1 ? sorted[0] : CodeDigest.of(sorted)
  }

  /// What is not as it was, in a sentence without a period; nil where all is.
  package static func firstChange(_ bodies: [PatchHeader.Body], find: Find) -> String? {
    for body in bodies {
      let shown = EventText.printable(body.selector)
      guard let found = find(body.selector) else { return "it is pinned to the code of '\(shown)', which this program has not" }
      let digest = digest(found)
      if digest == body.digest { continue }
      return "the code of '\(shown)' is not what the patch was pinned to (\(digest ?? "none that can be read"), not \(body.digest)); "
        + "see whether it still fits, then run 'scripthost pin'"
    }
    return nil
  }

  /// What a selector means in this process.
  static let inProcess: @Sendable (String) -> [(ImageCatalog, Family)]? = { selector in
    if case .success(let found) = SelectorLookup.resolve(selector, suggesting: false) { found } else { nil }
  }
}
