// Coverage — how much of an image can be hooked, and how many of its signatures can be decoded whole.
private import SwiftMangling

/// One selector's answer.
package struct SelectorCoverage: Sendable {
  package enum Kind: String, CaseIterable, Sendable { case function, initialiser, deinitialiser, accessor, closure }

  package let family: Family
  package let kind: Kind
  package let isGeneric: Bool
  /// Why some of the bodies cannot be hooked, one for each of these.
  package let refusals: [HookRefusal]
  /// The first argument, result or self that cannot be decoded in one of its bodies, and why; nil when all can.
  /// What the optimiser removed is no obstacle: it reads as `<optimized out>`.
  /// Nor is a generic type that every call tells.
  package let obstacle: String?

  /// The optimiser left no code of it: there is nothing to hook or decode.
  package var isGone: Bool { family.bodies.isEmpty }
  package var isWhole: Bool { refusals.isEmpty }
  package var isDecodable: Bool { obstacle == nil }
}

extension ImageCatalog {
  /// Judges every source function, initialiser, deinitialiser, accessor and closure of the image. Installs nothing.
  package func coverage(_ visit: (SelectorCoverage) -> Void) {
    for kinds in [Kinds.functions, .closures] {
      for family in families(kinds, where: { _ in true }) { visit(coverage(of: family)) }
    }
  }

  private func coverage(of family: Family) -> SelectorCoverage {
    SelectorCoverage(
      family: family, kind: .init(family.declaration.kind),
      isGeneric: family.declaration.isGeneric || family.declaration.genericParameterCounts.contains { $0 > 0 },
      refusals: family.bodies.compactMap { refusal(of: $0, in: family) },
      obstacle: family.bodies.lazy.compactMap { self.plan(of: $0, in: family).obstacle }.first)
  }

  /// How many Swift functions there are that nobody wrote: thunks, witnesses, outlined copies, metadata accessors.
  package func compilerMadeCount() -> Int {
    var parser = SymbolParser()
    var count = 0
    symbols.forEachFunction { symbol in
      switch parser.quickKind(symbol.name) {
      case .compilerMade: count += 1
      case .source, .accessor, .closure, .notSwift: break
      }
    }
    return count
  }
}

extension SelectorCoverage.Kind {
  fileprivate init(_ kind: EntityKind) {
    switch kind {
    case .allocatingInit, .`init`: self = .initialiser
    case _ where kind.isDeinit: self = .deinitialiser
    case _ where kind.isClosure: self = .closure
    case _ where kind.isAccessor: self = .accessor
    default: self = .function
    }
  }
}
