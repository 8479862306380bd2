// CostVerbs — what hooks and rules take of a running process.
private import Glibc
internal import Journal

extension ControlVerbs {
  static let costs = [
    ControlVerb(
      "costs", "what each rule and each handler has taken so far, the dearest first; at most 'limit'", on: .observer
    ) { call throws(ControlProblem) in
      let all = HookCosts.all
      let limit = try call.limit()
      call.answer([
        .init("count", JSONValue(all.count)), .init("uptime_ns", JSONValue(clockNanoseconds(CLOCK_MONOTONIC) &- call.host.started)),
        .init("costs", .array(all.prefix(limit).map(json))),
      ])
    }
  ]

  private static func json(_ cost: HookCost) -> JSONValue {
    [
      "owner": .string(cost.owner), "verb": .string(cost.verb), "name": .string(cost.name), "selector": .string(cost.selector),
      "hooks": JSONValue(cost.hooks), "calls": JSONValue(cost.calls), "mean_ns": cost.mean.map { JSONValue(UInt64($0)) } ?? .null,
      "total_ns": JSONValue(UInt64(cost.total)),
    ]
  }
}
