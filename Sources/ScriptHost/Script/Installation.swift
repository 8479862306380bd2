// Installation — the ledger of everything one owner put into the program: hooks, wishes, observations, proxies, classes, timers.
//
// What is in it takes effect together and goes together:
//   staged    made beside a running program: hooks are installed and off, all else looks at `isLive` and does nothing
//   live      takes effect
//   disabled  installed and off
//   removed   taken out for good; what is still added is taken out at once
// Calls in flight finish with what they started with. Nothing here waits for a call. The ledger's lock is never held where code of the
// program may run, as it may when hooks change: what they kept ends then.
internal import HookRuntime
private import Synchronization

/// Any thread.
package final class Installation: Sendable {
  package enum Phase: UInt8, AtomicRepresentable, Sendable { case staged, live, disabled, removed }

  /// Changes under the ledger's lock; read without it.
  private let current: Atomic<Phase>
  private let ledger = Mutex(Ledger())

  private struct Ledger {
    var hooks: [HookToken] = []
    /// So many were left when those that are over were last dropped.
    var kept = 0
    /// Those whose selectors were spelled out: somebody waits for their calls.
    var exact: [HookToken] = []
    /// Off only because of the phase.
    var off: Set<HookToken> = []
    var waits: [WaitToken] = []
    /// Those of them that nobody misses.
    var optional: Set<WaitToken> = []
    var ends: [@Sendable () -> Void] = []
  }

  /// - Parameter staged: nothing takes effect before `goLive`.
  init(staged: Bool = false) { current = Atomic(staged ? .staged : .live) }

  package var phase: Phase { current.load(ordering: .relaxed) }
  /// Asked by every call of what is no hook: closures, observations, proxies, synthesized methods.
  var isLive: Bool { phase == .live }
  var isRemoved: Bool { phase == .removed }
  /// Its script is loaded and may still be refused: what calls it by itself, such as a timer, waits for `goLive`.
  var isLoading: Bool { loading.load(ordering: .relaxed) || phase == .staged }
  private let loading = Atomic<Bool>(false)
  /// A script that may be refused begins to fill it. `goLive` ends that.
  func beginLoading() { loading.store(true, ordering: .relaxed) }
  /// Hooks begin switched off.
  var startsDisabled: Bool { phase != .live }

  // MARK: Adding

  /// Notes hooks. Those of objects end with them, so those that are over are dropped from time to time.
  /// - Parameter areExact: their selectors were spelled out, and somebody waits for their calls.
  func add(_ tokens: [HookToken], areExact: Bool) {
    let seen = ledger.withLock { ledger in
      let phase = self.phase
      if phase == .removed { return phase }
      if areExact { ledger.exact += tokens }
      ledger.hooks += tokens
      if phase != .live { ledger.off.formUnion(tokens) }
      if ledger.hooks.count > 2 * ledger.kept + 64 {
        ledger.hooks.removeAll { HookEngine.shared.isEnabled($0) == nil }
        ledger.kept = ledger.hooks.count
      }
      return phase
    }
    switch seen {
    case .live: break
    case .removed: HookEngine.shared.remove(tokens)
    case .staged, .disabled:
      // Made while it was live, maybe; and it may be again.
      for token in tokens { _ = HookEngine.shared.setEnabled(false, token) }
      if isLive { for token in tokens { _ = HookEngine.shared.setEnabled(true, token) } }
    }
  }

  /// Notes a wish for a selector that may appear.
  /// - Parameter isOptional: nobody misses it where it does not.
  func add(_ wait: WaitToken, isOptional: Bool = false) {
    let isRemoved = ledger.withLock { ledger in
      if self.isRemoved { return true }
      ledger.waits.append(wait)
      if isOptional { ledger.optional.insert(wait) }
      return false
    }
    if isRemoved { HookEngine.shared.stopWaiting(wait) }
  }

  /// Notes anything else: `end` takes it out. It may have ended before, and `end` must not keep the script's state for longer than
  /// what it ends does.
  func add(_ end: @escaping @Sendable () -> Void) {
    let isRemoved = ledger.withLock { ledger in
      if self.isRemoved { return true }
      ledger.ends.append(end)
      return false
    }
    if isRemoved { end() }
  }

  // MARK: All at once

  /// What is staged takes effect, and `former` is removed: for calls of one selector in one step.
  /// - Parameters:
  ///   - isEnabled: false: it is only switched off from then on, as the one before was; no call sees it.
  ///   - settled: the owner whose change is over with it.
  /// - Returns: ends what else the former had, which may run its script.
  func goLive(replacing former: Installation? = nil, isEnabled: Bool = true, settled owner: String? = nil) -> () -> Void {
    let theirs = former?.take()
    let mine = ledger.withLock { ledger -> Set<HookToken> in
      loading.store(false, ordering: .relaxed)
      guard phase == .staged else { return [] }
      // First, so that what lands meanwhile is on.
      current.store(isEnabled ? .live : .disabled, ordering: .relaxed)
      guard isEnabled else { return [] }
      defer { ledger.off = [] }
      return ledger.off
    }
    HookEngine.shared.exchange(removing: theirs?.hooks ?? [], enabling: Array(mine), settled: owner)
    return { theirs?.end() }
  }

  /// Takes out everything. False when that was done before.
  @discardableResult
  package func remove() -> Bool {
    guard let taken = take() else { return false }
    HookEngine.shared.remove(taken.hooks)
    taken.end()
    return true
  }

  /// What was in it at one time.
  struct Mark {
    fileprivate let hooks: Set<HookToken>
    fileprivate let waits: Int, ends: Int
  }
  var mark: Mark { ledger.withLock { Mark(hooks: Set($0.hooks), waits: $0.waits.count, ends: $0.ends.count) } }

  /// Takes out what was added since the mark was made. False when that is nothing.
  func remove(since mark: Mark) -> Bool {
    let new = ledger.withLock { ledger in
      var new = Ledger()
      new.hooks = ledger.hooks.filter { !mark.hooks.contains($0) }
      // These only grow until all of it is removed.
      new.waits = Array(ledger.waits.dropFirst(mark.waits))
      new.ends = Array(ledger.ends.dropFirst(mark.ends))
      ledger.hooks.removeAll { !mark.hooks.contains($0) }
      ledger.exact.removeAll { !mark.hooks.contains($0) }
      ledger.off.formIntersection(mark.hooks)
      ledger.waits.removeLast(new.waits.count)
      ledger.ends.removeLast(new.ends.count)
      return Taken(ledger: new)
    }
    HookEngine.shared.remove(new.hooks)
    new.end()
    return !(new.hooks.isEmpty && new.ledger.waits.isEmpty && new.ledger.ends.isEmpty)
  }

  /// What was taken out of a ledger. Its hooks are still installed.
  private struct Taken {
    let ledger: Ledger
    var hooks: [HookToken] { ledger.hooks }

    /// Ends all but the hooks.
    func end() {
      for wait in ledger.waits { HookEngine.shared.stopWaiting(wait) }
      for end in ledger.ends.reversed() { end() }
    }
  }

  private func take() -> Taken? {
    ledger.withLock { ledger in
      if phase == .removed { return nil }
      current.store(.removed, ordering: .relaxed)
      defer { ledger = Ledger() }
      return Taken(ledger: ledger)
    }
  }

  /// Switches everything on or off; not while another thread does. False when it is staged or removed.
  @discardableResult
  package func setEnabled(_ isEnabled: Bool) -> Bool {
    let tokens: [HookToken]? = ledger.withLock { ledger in
      switch phase {
      case .staged, .removed: return nil
      case .live where !isEnabled:
        // First, so that what lands meanwhile is off.
        current.store(.disabled, ordering: .relaxed)
        return ledger.hooks
      case .disabled where isEnabled:
        current.store(.live, ordering: .relaxed)
        defer { ledger.off = [] }
        return Array(ledger.off)
      case .live, .disabled: return []
      }
    }
    guard let tokens else { return false }
    let changed = tokens.filter { HookEngine.shared.isEnabled($0) == !isEnabled && HookEngine.shared.setEnabled(isEnabled, $0) }
    if !isEnabled { ledger.withLock { $0.off.formUnion(changed) } }
    return true
  }

  /// What a script wants of hooks of its own; while all are off it is noted.
  /// - Returns: whether one of them is installed.
  func setEnabled(_ isEnabled: Bool, _ tokens: [HookToken]) -> Bool {
    let isNow = ledger.withLock { ledger in
      if phase == .live { return true }
      for token in tokens {
        if isEnabled { ledger.off.insert(token) } else { ledger.off.remove(token) }
      }
      return false
    }
    if isNow { return tokens.map { HookEngine.shared.setEnabled(isEnabled, $0) }.contains(true) }
    return tokens.contains { HookEngine.shared.isEnabled($0) != nil }
  }

  // MARK: Telling

  /// Hooks in the ledger, also those that have ended since.
  package var hooks: [HookToken] { ledger.withLock { $0.hooks } }
  /// Those whose selectors were spelled out.
  var exactHooks: [HookToken] { ledger.withLock { $0.exact } }
  /// Wishes that are kept.
  package var waits: [WaitInfo] { ledger.withLock { $0.waits }.compactMap { HookEngine.shared.info($0) } }
  /// Wishes that somebody misses: what they are for has not appeared, or could not be hooked.
  var missed: [WaitInfo] {
    let optional = ledger.withLock { $0.optional }
    return waits.filter { !$0.hasLanded && !($0.refused.isEmpty && optional.contains($0.token)) }
  }
}
