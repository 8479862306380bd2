// HookCosts — what each rule and each handler takes of the program, for the control socket, the report and who exports: the figures that the
// engine has of each hook (HookEngine+Measuring), a rule's hooks together.
//
// That is the time of the handler or the rule, without that of the original. The way to it and back, some ten nanoseconds of each call, is not
// in it: docs/bench.md.
internal import HookRuntime
internal import Journal
private import Synchronization

/// What one rule, or one hook of a script, has taken so far.
package struct HookCost: Sendable {
  /// Whose it is: a patch's id.
  package let owner: String
  /// "track", "span", …; "before", "around", "after" of a handler; "watch" of what the host itself watches.
  package let verb: String
  /// The rule's name; of a handler, the function.
  package let name: String
  /// The function, or the pattern.
  package let selector: String
  package let hooks: Int
  package let calls: UInt64
  /// Mean nanoseconds of the calls that were measured; nil before the first.
  package let mean: Double?

  /// Nanoseconds, of all calls, by that mean.
  package var total: Double { (mean ?? 0) * Double(calls) }
}

/// What a rule takes of calls that come to it by no hook, but by proxies of delegates.
package struct ProxyCost: Sendable {
  package let owner: String
  package let title: String
  package let selector: String
  package let isEnabled: Bool
  package let took: MeterReading
}

package enum HookCosts {
  private struct Entry {
    let owner: String
    weak var rule: InstalledRule?
  }
  private static let rules = Mutex<[Entry]>([])

  /// Takes note of a rule.
  static func note(_ rule: InstalledRule, owner: String) {
    rules.withLock { rules in
      rules.removeAll { $0.rule == nil }
      rules.append(Entry(owner: owner, rule: rule))
    }
  }

  /// Of all that is in the program now, the dearest first.
  package static var all: [HookCost] {
    var found: [HookCost] = []
    var known: Set<HookToken> = []
    for entry in rules.withLock({ $0 }) {
      guard let rule = entry.rule, !rule.isRemoved else { continue }
      let tokens = rule.tokens
      known.formUnion(tokens)
      let figures = rule.figures
      found.append(
        HookCost(
          owner: entry.owner, verb: rule.definition.verb, name: rule.definition.name, selector: rule.definition.selector, hooks: tokens.count,
          calls: figures.calls, mean: figures.costNanoseconds))
    }
    var watches: [String: (hooks: Int, calls: UInt64)] = [:]
    for hook in HookEngine.shared.figures() where !known.contains(hook.info.token) {
      let info = hook.info
      guard let facts = hook.facts else {
        let before = watches[info.owner] ?? (0, 0)
        watches[info.owner] = (before.hooks + 1, before.calls &+ info.calls)
        continue
      }
      found.append(
        HookCost(
          owner: info.owner, verb: facts.verb, name: info.selector, selector: info.selector, hooks: 1, calls: info.calls, mean: hook.meanOfCall))
    }
    for (owner, sum) in watches {
      found.append(HookCost(owner: owner, verb: "watch", name: owner, selector: "", hooks: sum.hooks, calls: sum.calls, mean: nil))
    }
    return found.sorted { ($0.total, $0.calls, $1.name) > ($1.total, $1.calls, $0.name) }
  }

  /// Of rules that proxies have called.
  package static var proxies: [ProxyCost] {
    rules.withLock { $0 }.compactMap { entry in
      guard let rule = entry.rule, !rule.isRemoved, let took = rule.seen?.reading, took.runs > 0 else { return nil }
      return ProxyCost(
        owner: entry.owner, title: rule.definition.title, selector: rule.definition.selector, isEnabled: rule.isOn.load(ordering: .relaxed),
        took: took)
    }
  }

  /// So many are written at most.
  private static let most = 200
  private static let start = monotonicNow()

  /// Records them as metrics: calls, and nanoseconds.
  static func write(_ log: HostLog) {
    for each in all.prefix(most) where each.calls > 0 {
      // A name that is made of values is another one for each call.
      let on = each.name.utf8.contains(UInt8(ascii: "{")) ? each.selector : each.name
      let attributes: [Field] = [Field("patch", .string(each.owner)), Field("verb", .string(each.verb)), Field("on", .string(on))]
      func write(_ name: String, _ unit: String, _ value: Double) {
        let record = MetricRecord(name: name, unit: unit, attributes: attributes, start: start, value: .counter(value), isLast: true)
        log.append(.metric, FieldName(name, masked: false)) { record.write(into: &$0) }
      }
      write(MetricRecord.hookCalls, "{call}", Double(each.calls))
      if each.mean != nil { write(MetricRecord.hookTime, "ns", each.total) }
    }
  }
}
