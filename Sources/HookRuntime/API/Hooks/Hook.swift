// Hook — the handle of what was installed.
internal import CHookTrampoline
internal import Synchronization

/// An installed hook. Dropping it does not remove it.
public struct Hook: Sendable, Hashable {
  let record: HookRecord

  /// Where the handler stands.
  public var position: HookPosition { record.position }
  /// The file and line where the hook was made: `Shop/Checkout.swift:12`.
  public var site: String { record.site }
  /// The functions it is on: of a pattern there may be many.
  public var selectors: [String] { record.tokens.map(\.selector) }
  /// Functions that a pattern matched and that could not be hooked, with the reasons; empty for an exact name.
  public var refused: [String] { record.state.withLock(\.refused) }
  /// Functions of which calls to some bodies are missed, with how many are hooked: `Shop.Cart.total(tax:): 2 of 3 bodies`.
  public var partial: [String] { record.state.withLock(\.partial) }

  /// Calls that start later do not see the hook; calls in flight finish with it. Answers false when it was removed before, or
  /// has ended with its object. Never waits.
  @discardableResult
  public func remove() -> Bool { record.tokens.reduce(false) { HookEngine.shared.remove($1) || $0 } }

  /// Calls that start later see the hook again, in its old place. Answers false when it is not installed any more.
  @discardableResult
  public func enable() -> Bool { set(true) }
  /// Calls that start later do not see the hook. Answers false when it is not installed any more.
  @discardableResult
  public func disable() -> Bool { set(false) }

  private func set(_ isEnabled: Bool) -> Bool { record.tokens.reduce(false) { HookEngine.shared.setEnabled(isEnabled, $1) || $0 } }

  /// It is installed and switched on.
  public var isEnabled: Bool { record.tokens.contains { HookEngine.shared.isEnabled($0) == true } }

  /// What is installed, one for each function; empty once it was removed, has run its one time, or its object is gone.
  public var info: [HookInfo] { record.tokens.compactMap(HookEngine.shared.info) }

  /// The same for people, one line for each function.
  public func describe() -> String {
    let lines = info.map { site.isEmpty ? "\($0)" : "\($0), made at \(site)" } + partial.map { "  covered in part: \($0)" } + refused.map { "  refused: \($0)" }
    return lines.isEmpty ? "\(position.rawValue), not installed" : lines.joined(separator: "\n")
  }

  /// Calls that came to it so far; see ``HookInfo/calls``.
  public var calls: UInt64 { record.tokens.reduce(0) { $0 + (HookEngine.shared.deliveredCalls($1) ?? 0) } }

  public static func == (a: Hook, b: Hook) -> Bool { a.record === b.record }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(record)) }
}

/// What a hook became: of one in a group, when the group is installed.
final class HookRecord: Sendable {
  struct State {
    var tokens: [HookToken] = []
    var refused: [String] = []
    var partial: [String] = []
  }
  let position: HookPosition
  let site: String
  let state = Mutex(State())

  init(_ position: HookPosition, site: String) {
    self.position = position
    self.site = site
  }

  var tokens: [HookToken] { state.withLock(\.tokens) }

  func become(_ tokens: [HookToken], _ report: HookEngine.Report) {
    let selectors = Set(tokens.map(\.selector))
    state.withLock {
      $0.tokens = tokens
      $0.refused += report.refused.map { "\($0.selector): \($0.reason)" }
      $0.partial = report.partial.filter { selectors.contains($0.selector) }.map { "\($0.selector): \($0.hooked) of \($0.of) bodies" }
    }
  }
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
