// Hook — the handle of what was installed.
internal import CHookTrampoline

/// An installed hook. Dropping it does not remove it.
public struct Hook: Sendable, Hashable {
  /// One for each function: of a pattern there may be many.
  package let tokens: [HookToken]
  /// Where the handler stands.
  public let position: HookPosition
  /// The file and line where the hook was made: `Shop/Checkout.swift:12`.
  public let site: String
  /// Functions that a pattern matched and that could not be hooked, with the reasons; empty for an exact name.
  public let refused: [String]

  package init(_ tokens: [HookToken], position: HookPosition, site: String, refused: [String] = []) {
    self.tokens = tokens
    self.position = position
    self.site = site
    self.refused = refused
  }

  /// The functions it is on: `Shop.Cart.total(tax:)`.
  public var selectors: [String] { tokens.map(\.selector) }

  /// Calls that start later do not see the hook; calls in flight finish with it. Answers false when it was removed before.
  /// Never waits.
  @discardableResult
  public func remove() -> Bool { tokens.reduce(false) { HookEngine.shared.remove($1) || $0 } }

  /// Calls of the hooked functions that came to their hooks so far.
  public var calls: UInt64 { tokens.reduce(0) { $0 + (HookEngine.shared.deliveredCalls($1) ?? 0) } }

  public static func == (a: Hook, b: Hook) -> Bool { a.tokens == b.tokens }
  public func hash(into hasher: inout Hasher) { hasher.combine(tokens) }
}

extension HookPosition {
  /// Of a layer with these phases.
  init(_ phases: UInt32) {
    self = phases & UInt32(HKT_ON_AROUND) != 0 ? .around : phases & UInt32(HKT_ON_EXIT) != 0 ? .after : .before
  }

  /// What a layer of a handler in this position takes part in.
  var phases: UInt32 {
    switch self {
    case .before: UInt32(HKT_ON_ENTER)
    // Handlers may ask how long the call took.
    case .around: UInt32(HKT_ON_AROUND | HKT_TIMED)
    case .after: UInt32(HKT_ON_EXIT | HKT_TIMED)
    }
  }
}
