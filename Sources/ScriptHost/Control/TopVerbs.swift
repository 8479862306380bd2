// TopVerbs — what hooks and patches take of the program's time.
private import Glibc
internal import HookRuntime
internal import Journal

extension ControlVerbs {
  static let top = [
    ControlVerb(
      "top", "what each hook and patch took so far; measures each run for 'hold_ms' from now, answers at most 'limit' hooks", on: .observer
    ) { call throws(ControlProblem) in
      let hold = min(try call.number("hold_ms", from: 0) ?? 10_000, 600_000)
      let limit = try call.limit()
      Measurement.ask(hold: UInt64(hold) * 1_000_000)
      let figures = HookEngine.shared.figures()
      let proxies = HookCosts.proxies
      let most = figures.sorted { ($0.took.time, $0.info.calls) > ($1.took.time, $1.info.calls) }.prefix(limit)
      call.answer([
        .init("now_ns", JSONValue(clockNanoseconds(CLOCK_MONOTONIC))), .init("cpu_ns", JSONValue(clockNanoseconds(CLOCK_PROCESS_CPUTIME_ID))),
        .init("count", JSONValue(figures.count + proxies.count)),
        .init("hooks", .array(most.map(TopVerbs.json) + proxies.prefix(limit - most.count).map(TopVerbs.json))),
        .init("patches", .array(TopVerbs.patches(figures, proxies, call.host.patches.list))),
      ])
    }
  ]
}

private enum TopVerbs {
  static func json(_ each: HookFigures) -> JSONValue {
    [
      "hook": JSONValue(each.info.token.id), "selector": .string(each.info.selector), "position": .string(each.info.position),
      "patch": .string(each.info.owner), "title": JSONValue(each.facts?.title), "enabled": .bool(each.info.isEnabled),
      "one_in": JSONValue(each.info.oneIn), "limited": JSONValue(each.info.limitation), "calls": JSONValue(each.info.calls),
      "runs": JSONValue(each.took.runs), "time_ns": JSONValue(each.took.time), "waited_ns": JSONValue(each.took.waited),
      "longest_ns": JSONValue(each.took.longest), "p50_ns": each.took.percentile(0.5).map { JSONValue($0) } ?? .null,
      "p99_ns": each.took.percentile(0.99).map { JSONValue($0) } ?? .null,
      "failures": JSONValue(each.facts?.failures ?? 0), "skipped": JSONValue(each.facts?.skipped ?? 0),
    ]
  }

  /// A rule that proxies call is no hook: it is known by its name.
  static func json(_ each: ProxyCost) -> JSONValue {
    [
      "hook": .string("\(each.owner): \(each.title)"), "selector": .string(each.selector), "position": .string("proxy"),
      "patch": .string(each.owner), "title": .string(each.title), "enabled": .bool(each.isEnabled), "one_in": .int(1), "limited": .null,
      "calls": JSONValue(each.took.runs), "runs": JSONValue(each.took.runs), "time_ns": JSONValue(each.took.time), "waited_ns": .int(0),
      "longest_ns": JSONValue(each.took.longest), "p50_ns": .null, "p99_ns": .null, "failures": .int(0), "skipped": .int(0),
    ]
  }

  /// Sums of all hooks of each patch, and of owners that are no patches.
  static func patches(_ figures: [HookFigures], _ proxies: [ProxyCost], _ list: [PatchInfo]) -> [JSONValue] {
    struct Sum { var hooks = 0, calls: UInt64 = 0, time: UInt64 = 0, failures: UInt64 = 0, skipped: UInt64 = 0 }
    var sums: [String: Sum] = [:]
    // Hooks of one rule share what they tell of it.
    var counted: Set<ObjectIdentifier> = []
    for each in figures {
      var sum = sums[each.info.owner] ?? Sum()
      sum.hooks += 1
      sum.calls += each.info.calls
      sum.time += each.took.time
      if let facts = each.facts, counted.insert(ObjectIdentifier(facts)).inserted {
        sum.failures += facts.failures
        sum.skipped += facts.skipped
      }
      sums[each.info.owner] = sum
    }
    for each in proxies {
      sums[each.owner, default: Sum()].calls += each.took.runs
      sums[each.owner, default: Sum()].time += each.took.time
    }
    func json(_ id: String, _ info: PatchInfo?) -> JSONValue {
      let sum = sums[id] ?? Sum()
      return [
        "id": .string(id), "state": JSONValue(info?.state.word), "hooks": JSONValue(sum.hooks), "calls": JSONValue(sum.calls),
        "time_ns": JSONValue(sum.time), "failures": JSONValue(sum.failures), "skipped": JSONValue(sum.skipped),
        "memory": info.map { JSONValue($0.memory) } ?? .null,
      ]
    }
    let known = Set(list.map(\.id))
    return list.map { json($0.id, $0) } + sums.keys.filter { !known.contains($0) }.sorted().map { json($0, nil) }
  }
}
