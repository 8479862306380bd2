// HookEngine+Measuring — how long handlers take, measured while somebody asks; and hooks that took too long made rarer or switched off.
//
// A layer that is measured has a meter in the sets that calls run through. Others cost nothing for it: the word that would name
// the meter lies beside what every call reads.
internal import CHookTrampoline

/// What a handler knows of its own runs. Any thread.
package protocol LayerFacts: AnyObject, Sendable {
  /// What it is called in lists: `rounding.lua:12`, `track checkout`.
  var title: String { get }
  /// Runs that failed.
  var failures: UInt64 { get }
  /// Calls that it did not run for, or left out.
  var skipped: UInt64 { get }
}

/// Whose handlers' time is measured. Guarded by the engine's lock.
struct Measuring {
  var isAll = false
  var owners: Set<String> = []

  func includes(_ spec: LayerSpec) -> Bool { isAll || !owners.isEmpty && owners.contains(spec.owner) }
}

/// One hook and what it took so far.
package struct HookFigures: Sendable {
  package let info: HookInfo
  package let facts: (any LayerFacts)?
  /// Runs of its handler that were measured; a hook before and after is two for a call.
  package let runs: UInt64
  /// What they took, in nanoseconds, without what the call went on to.
  package let time: UInt64
  package let longest: UInt64
  /// How many runs took so long, by buckets.
  package let distribution: [UInt64]

  /// The time that a share of the runs kept within, in nanoseconds, to half a power of two; nil where none was measured.
  package func percentile(_ share: Double) -> UInt64? {
    guard runs > 0 else { return nil }
    var left = Double(runs) * share
    for (bucket, count) in distribution.enumerated() where count > 0 {
      left -= Double(count)
      if left <= 0 { return min(longest, hkt_ticks_to_ns(hkt_meter_bucket_start(UInt32(bucket + 1)))) }
    }
    return longest
  }
}

extension HookEngine {
  /// Measures the handlers of all hooks, of those that come, too; or of those owners only that are measured for their own sake.
  package func measureAll(_ isOn: Bool) { changeMeasuring { $0.isAll = isOn } }

  /// Measures the handlers of an owner, of hooks that it has and will have.
  package func measure(owner: String, _ isOn: Bool) {
    changeMeasuring { if isOn { $0.owners.insert(owner) } else { $0.owners.remove(owner) } }
  }

  private func changeMeasuring(_ change: (inout Measuring) -> Void) {
    locked {
      change(&measuring)
      var families: [ObjectIdentifier: (HookedFamily, [LayerSets.Change])] = [:]
      for hook in hooks.values {
        let isMeasured = measuring.includes(hook.layer.spec)
        guard hook.layer.isMeasured != isMeasured else { continue }
        hook.layer.isMeasured = isMeasured
        families[ObjectIdentifier(hook.family), default: (hook.family, [])].1.append(hook.layer.object.map { .object($0) } ?? .type)
      }
      // Where there is no memory for new sets, the old ones stay: what is read of them is less, never wrong.
      for (family, changes) in families.values { for change in changes.isAllType ? [.type] : changes { _ = family.publish(change) } }
    }
  }

  /// All hooks with what they took, in the order in which they were made.
  package func figures() -> [HookFigures] {
    locked {
      hooks.values.sorted { $0.layer.token.id < $1.layer.token.id }.filter { !isOver($0) }.map { hook in
        var distribution = [UInt64](repeating: 0, count: Int(HKT_METER_BUCKETS))
        var (time, longest) = (UInt64(0), UInt64(0))
        if let meter = hook.layer.lifetime.meter {
          hkt_meter_runs(meter, &distribution)
          (time, longest) = (hkt_ticks_to_ns(hkt_meter_ticks(meter)), hkt_ticks_to_ns(hkt_meter_longest(meter)))
        }
        return HookFigures(
          info: info(hook), facts: hook.layer.spec.facts, runs: distribution.reduce(0, +), time: time, longest: longest, distribution: distribution)
      }
    }
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
