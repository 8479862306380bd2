// HookEngine+Measuring — how long handlers take (Meter.swift), and hooks that took too long made rarer or switched off.
//
// A layer whose handler tells of itself has a meter in the sets that calls run through, and one run in HKT_SAMPLE_EVERY of a thread is measured.
// While somebody watches, each run is, of other layers, too.
internal import CHookTrampoline

/// What a handler knows of its own runs. Any thread.
package protocol LayerFacts: AnyObject, Sendable {
  /// What it is called in lists: `rounding.lua:12`, `track checkout`.
  var title: String { get }
  /// What it is: `before`, `contain`, `track`.
  var verb: String { get }
  /// Runs that failed.
  var failures: UInt64 { get }
  /// Calls that it did not run for, or left out.
  var skipped: UInt64 { get }
  /// Why it never runs again, though it is installed; nil: it does. Asked under the engine's lock.
  var ended: String? { get }
}

extension LayerFacts {
  package var ended: String? { nil }
}

/// Whose handlers are watched. Guarded by the engine's lock.
struct Watched {
  var isAll = false
  var owners: Set<String> = []

  /// Which runs of a layer are measured.
  func measuring(_ spec: LayerSpec) -> HKTMeasuring {
    if isAll || !owners.isEmpty && owners.contains(spec.owner) { return HKT_MEASURE_ALL }
    return spec.facts == nil ? HKT_MEASURE_NONE : HKT_MEASURE_SOME
  }
}

/// One hook and what it took so far.
package struct HookFigures: Sendable {
  package let info: HookInfo
  package let facts: (any LayerFacts)?
  package let took: MeterReading

  /// The mean of what its handler takes of a call, in nanoseconds: one that runs before and after runs twice. Nil before a run was measured.
  package var meanOfCall: Double? { took.mean.map { info.runsTwice ? 2 * $0 : $0 } }
}

extension HookEngine {
  /// Measures each run of all handlers, of hooks that come, too; or of the handlers of those owners only that are watched for their own sake.
  package func watchAll(_ isOn: Bool) { changeWatched { $0.isAll = isOn } }

  /// Measures each run of an owner's handlers, of hooks that it has and will have.
  package func watch(owner: String, _ isOn: Bool) {
    changeWatched { if isOn { $0.owners.insert(owner) } else { $0.owners.remove(owner) } }
  }

  private func changeWatched(_ change: (inout Watched) -> Void) {
    locked {
      change(&watched)
      var families: [ObjectIdentifier: (HookedFamily, [LayerSets.Change])] = [:]
      for hook in hooks.values {
        let measuring = watched.measuring(hook.layer.spec)
        guard hook.layer.measuring != measuring else { continue }
        hook.layer.measuring = measuring
        families[ObjectIdentifier(hook.family), default: (hook.family, [])].1.append(hook.layer.object.map { .object($0) } ?? .type)
      }
      // Where there is no memory for new sets, the old ones stay: what is read of them is less, never wrong.
      for (family, changes) in families.values { for change in changes.isAllType ? [.type] : changes { _ = family.publish(change) } }
    }
  }

  /// All hooks with what they took, in the order in which they were made.
  package func figures() -> [HookFigures] {
    locked {
      hooks.values.sorted { $0.layer.token.id < $1.layer.token.id }.filter { !isOver($0) }.map(read)
    }
  }

  /// What one hook took; nil when it is not installed any more.
  package func figures(of token: HookToken) -> HookFigures? {
    locked { hooks[token.id].flatMap { isOver($0) ? nil : read($0) } }
  }

  private func read(_ hook: InstalledHook) -> HookFigures {
    HookFigures(info: info(hook), facts: hook.layer.spec.facts, took: hook.layer.lifetime.meter?.reading ?? MeterReading())
  }

  /// What is done about a hook that takes too much of the program's time.
  package enum Limitation: Sendable {
    /// It takes part in one of so many calls.
    case oneIn(Int)
    case off
  }

  /// Limits a hook; `why` is shown with it. False when it is not installed, or memory ran out.
  @discardableResult
  package func limit(_ token: HookToken, _ limitation: Limitation, why: String) -> Bool {
    guard case .oneIn(let count) = limitation else {
      guard setEnabled(false, token) else { return false }
      lock.withLock { hooks[token.id]?.layer.limitation = why }
      return true
    }
    return locked {
      guard let hook = hooks[token.id], !isOver(hook) else { return false }
      let former = hook.layer.oneIn
      hook.layer.oneIn = UInt32(clamping: max(1, count))
      guard hook.family.publish(hook.layer.object.map { .object($0) } ?? .type) else {
        hook.layer.oneIn = former
        return false
      }
      hook.layer.limitation = why
      return true
    }
  }
}

extension [LayerSets.Change] {
  /// One publication is for all of them.
  fileprivate var isAllType: Bool { allSatisfy { if case .type = $0 { true } else { false } } }
}
