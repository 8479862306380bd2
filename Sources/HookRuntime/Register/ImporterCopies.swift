// ImporterCopies — copies of a library's functions in the images that import it. The compiler copies what is `@inlinable`, and what is
// short, into importing modules; hooks stand on the library's own bodies, so that calls of those copies are missed.

private import SwiftMangling

extension ImageCatalog {
  /// What a hook on all bodies of the family may miss, in its own image and in the others of the program. Any thread.
  /// - Parameter images: the program's.
  package func doubts(about family: Family, among images: [ImageCatalog], depth: DoubtDepth = .full) -> [Doubt] {
    let own = doubts(about: family, depth: depth)
    if family.imported != nil || family.bodies.isEmpty { return own }
    // What is not known of the image itself is told once, not again for each that imports it.
    let isKnown = !own.contains { if case .inliningUnknown = $0 { true } else { false } }
    let isExported = isKnown && self.isExported(family)
    return own + images.compactMap { $0 === self ? nil : $0.copies(of: family, in: self, reportingUnknown: isExported, depth) }
  }

  /// What this image has of a family of `library`. Nothing where it has bodies of it: these are hooked, and judged, by themselves.
  private func copies(of family: Family, in library: ImageCatalog, reportingUnknown: Bool, _ depth: DoubtDepth) -> Doubt? {
    guard inlineTable.hasDebugInfo else { return reportingUnknown && needs(library) ? unknown("has no debug information") : nil }
    guard depth == .full || isQuicklyRead || inlineTable.isAtHand else {
      return reportingUnknown && needs(library)
        ? unknown("is large, and its debug information was not read; 'scripthost explain' reads it") : nil
    }
    let count = lock.withLock {
      inlineTable.copies(prefix: Array(family.key.utf8)).reduce(0) { sum, copy in
        nameParser.declaration(copy.name)?.familyName == family.key ? sum + copy.count : sum
      }
    }
    if count > 0 { return symbols.candidates(prefix: Array(family.key.utf8)).isEmpty ? .inlinedElsewhere(count, image: shortName) : nil }
    guard reportingUnknown, needs(library), mayBeInlinedByName(family.declaration) else { return nil }
    return unknown("has debug information for lines alone, which does not tell functions of one name apart")
  }

  private func unknown(_ why: String) -> Doubt { .inliningUnknown(image: shortName, why: why) }

  /// Other images can name one of the family's bodies.
  private func isExported(_ family: Family) -> Bool { family.bodies.contains { symbols.isExported($0.address - bias) } }

  private func needs(_ library: ImageCatalog) -> Bool { file.needed.contains(library.file.soname ?? library.shortName) }
}
