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
  /// Functions of which some calls are missed, or may be: `Shop.Cart.total(tax:): 2 of 3 bodies`, and those that the engine
  /// hooked by tables, as their entries cannot be used: `Shop.Cart.quiet(): by vtable alone, as …`.
  public var partial: [String] { record.state.withLock(\.partial) }

  /// Calls that start later do not see the hook; calls in flight finish with it. Answers false when it was removed before, or
  /// has ended with its object. Never waits.
  @discardableResult
  public func remove() -> Bool {
    // First, so that nothing lands behind its back.
    let waited = record.stopWaiting()
    return removeInstalled() || waited
  }
  private func removeInstalled() -> Bool { record.tokens.reduce(false) { HookEngine.shared.remove($1) || $0 } }

  /// Calls that start later see the hook again, in its old place. Answers false when it is not installed any more.
  @discardableResult
  public func enable() -> Bool { set(true) }
  /// Calls that start later do not see the hook. Answers false when it is not installed any more.
  @discardableResult
  public func disable() -> Bool { set(false) }

  private func set(_ isEnabled: Bool) -> Bool {
    record.state.withLock { $0.isDisabled = !isEnabled }
    return record.tokens.reduce(isWaiting) { HookEngine.shared.setEnabled(isEnabled, $1) || $0 }
  }

  /// It is installed and switched on.
  public var isEnabled: Bool { record.tokens.contains { HookEngine.shared.isEnabled($0) == true } }

  /// Functions that appear will be hooked; see the `wait` argument of ``Hooks``.
  public var isWaiting: Bool { record.state.withLock(\.wait).map { HookEngine.shared.info($0) != nil } ?? false }

  /// What is installed, one for each function; empty once it was removed, has run its one time, or its object is gone.
  public var info: [HookInfo] { record.tokens.compactMap(HookEngine.shared.info) }

  /// Describes the hook for people, one line for each function.
  public func describe() -> String {
    let lines =
      info.map { site.isEmpty ? "\($0)" : "\($0), made at \(site)" } + partial.map { "  covered in part: \($0)" }
      + refused.map { "  refused: \($0)" }
    if lines.isEmpty { return "\(position.rawValue), \(isWaiting ? "waiting for it to appear" : "not installed")" }
    return lines.joined(separator: "\n")
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
    /// A hook for what appears later has one.
    var wait: WaitToken?
    var isDisabled = false
  }
  let position: HookPosition
  let site: String
  let state = Mutex(State())

  init(_ position: HookPosition, site: String) {
    self.position = position
    self.site = site
  }

  var tokens: [HookToken] { state.withLock(\.tokens) }

  /// Functions appeared.
  func grow(by report: HookEngine.Report) {
    let tokens = report.tokens.map(\.token)
    become(tokens, report)
    if state.withLock(\.isDisabled) { for token in tokens { HookEngine.shared.setEnabled(false, token) } }
  }

  func wait(_ token: WaitToken) { state.withLock { $0.wait = token } }

  func stopWaiting() -> Bool {
    guard let token = state.withLock({ $0.wait.take() }) else { return false }
    return HookEngine.shared.stopWaiting(token)
  }

  func become(_ tokens: [HookToken], _ report: HookEngine.Report) {
    let selectors = Set(tokens.map(\.selector))
    state.withLock {
      $0.tokens += tokens
      $0.refused += report.refused.map { "\($0.selector): \($0.reason)" }
      $0.partial += report.partial.filter { selectors.contains($0.selector) }.map { "\($0.selector): \($0.hooked) of \($0.of) bodies" }
      $0.partial += report.chosen.filter { $0.isPartial && selectors.contains($0.selector) }.map {
        "\($0.selector): by \($0.backEnd.rawValue) alone, as it cannot be hooked by entry: \($0.instead)"
      }
      $0.partial += report.doubts.filter { $0.doubt.isProven && selectors.contains($0.selector) }.map {
        "\($0.selector): \($0.doubt.sentence)"
      }
      $0.partial += report.mayMiss.filter { selectors.contains($0.selector) }.map { "\($0.selector): may miss \($0.sentence)" }
    }
  }
}

extension HookPosition {
  /// The position of a layer with these phases.
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
