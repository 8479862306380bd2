// HookCosts — what hooks and rules take of the program: the one place that knows, for the control socket, the report and who exports.
//
// Each handler and each rule measures a few of its own calls (RuleCost): the time of the handler or the rule, without that of the original. The
// way to it and back, some ten nanoseconds of each call, is not in it: docs/bench.md.
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

package enum HookCosts {
  private struct Entry {
    let verb: String
    let owner: String
    let cost: RuleCost
    /// Of a rule; a handler's hook is known by its token.
    weak var rule: InstalledRule?
  }
  private struct State {
    var rules: [Entry] = []
    var handlers: [HookToken: Entry] = [:]
    /// So many were left when those that are over were last dropped.
    var kept = 0
  }
  private static let state = Mutex(State())

  /// Takes note of a rule.
  static func note(_ rule: InstalledRule, owner: String) {
    state.withLock { state in
      state.rules.removeAll { $0.rule == nil }
      state.rules.append(Entry(verb: rule.definition.verb, owner: owner, cost: rule.cost, rule: rule))
    }
  }

  /// Takes note of a handler.
  static func note(_ token: HookToken, verb: String, owner: String, cost: RuleCost) {
    state.withLock { state in
      state.handlers[token] = Entry(verb: verb, owner: owner, cost: cost)
      if state.handlers.count > 2 * state.kept + 64 {
        state.handlers = state.handlers.filter { HookEngine.shared.isEnabled($0.key) != nil }
        state.kept = state.handlers.count
      }
    }
  }

  /// Of all that is in the program now, the dearest first.
  package static var all: [HookCost] {
    let (rules, handlers) = state.withLock { ($0.rules, $0.handlers) }
    var found: [HookCost] = []
    var known: Set<HookToken> = []
    for entry in rules {
      guard let rule = entry.rule, !rule.isRemoved else { continue }
      let tokens = rule.tokens
      known.formUnion(tokens)
      let figures = rule.figures
      found.append(
        HookCost(
          owner: entry.owner, verb: entry.verb, name: rule.definition.name, selector: rule.definition.selector, hooks: tokens.count,
          calls: figures.calls, mean: figures.costNanoseconds))
    }
    var watches: [String: (hooks: Int, calls: UInt64)] = [:]
    for hook in HookEngine.shared.list() where !known.contains(hook.token) {
      guard let entry = handlers[hook.token] else {
        let before = watches[hook.owner] ?? (0, 0)
        watches[hook.owner] = (before.hooks + 1, before.calls &+ hook.calls)
        continue
      }
      found.append(
        HookCost(
          owner: entry.owner, verb: entry.verb, name: hook.selector, selector: hook.selector, hooks: 1, calls: hook.calls,
          mean: entry.cost.nanoseconds))
    }
    for (owner, sum) in watches {
      found.append(HookCost(owner: owner, verb: "watch", name: owner, selector: "", hooks: sum.hooks, calls: sum.calls, mean: nil))
    }
    return found.sorted { ($0.total, $0.calls, $1.name) > ($1.total, $1.calls, $0.name) }
  }

  /// So many are written at most.
  private static let most = 200
  private static let start = monotonicNow()

  /// Records them as metrics: calls, and nanoseconds.
  static func write(_ log: HostLog) {
    for each in all.prefix(most) where each.calls > 0 {
      let attributes: [Field] = [
        Field("patch", .string(each.owner)), Field("verb", .string(each.verb)), Field("on", .string(each.name)),
      ]
      func write(_ name: String, _ unit: String, _ value: Double) {
        let record = MetricRecord(name: name, unit: unit, attributes: attributes, start: start, value: .counter(value), isLast: true)
        log.append(.metric, FieldName(name, masked: false)) { record.write(into: &$0) }
      }
      write(MetricRecord.hookCalls, "{call}", Double(each.calls))
      if each.mean != nil { write(MetricRecord.hookTime, "ns", each.total) }
    }
  }
}
