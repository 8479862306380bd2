// TraceTable — what `trace -c` says at the end: one line for each selector that was called, by its own time.
internal import HookRuntime
internal import Journal
internal import Synchronization

struct TraceTable {
  /// What was counted of one selector, at one moment.
  private struct Row {
    let selector: String
    let calls, own, total, longest, errors: UInt64
    let isTimed: Bool

    init(_ target: TraceTarget) {
      selector = target.family.selector
      calls = target.calls.load(ordering: .relaxed)
      own = target.selfTime.load(ordering: .relaxed)
      total = target.total.load(ordering: .relaxed)
      longest = target.longest.load(ordering: .relaxed)
      errors = target.errors.load(ordering: .relaxed)
      isTimed = target.timed.load(ordering: .relaxed)
    }
    var mean: UInt64 { total / max(1, calls) }
  }
  private let rows: [Row]
  private let uncalled: Int

  init(_ targets: [TraceTarget]) {
    rows = targets.map { Row($0) }.filter { $0.calls > 0 }
      .sorted { ($0.own, $0.calls, $1.selector) > ($1.own, $1.calls, $0.selector) }
    uncalled = targets.count - rows.count
  }

  private var calls: UInt64 { rows.reduce(0) { $0 + $1.calls } }

  var text: String {
    let all = max(1, rows.reduce(0) { $0 + $1.own })
    var text = "% self       self      total       mean        max      calls   errors  selector\n"
    for row in rows {
      let share = Int(Double(row.own) * 1000 / Double(all) + 0.5)
      text += "\(share / 10).\(share % 10)".aligned(to: 6, least: 1)
      for value in [row.own, row.total, row.mean, row.longest] {
        text += (row.isTimed ? TraceText.duration(value).trimmingSpaces() : "-").aligned(to: 11, least: 1)
      }
      text += "\(row.calls)".aligned(to: 11, least: 1) + (row.errors == 0 ? "" : "\(row.errors)").aligned(to: 9, least: 1) + "  "
        + row.selector + "\n"
    }
    return text + "\(calls) calls of \(rows.count) selectors; \(uncalled) were not called\n"
  }

  /// A line for each row, times in nanoseconds, and one for all.
  func json(_ pid: JSONValue) -> String {
    let functions = rows.map { row in
      func time(_ nanoseconds: UInt64) -> JSONValue? { row.isTimed ? JSONValue(nanoseconds) : nil }
      return JSONValue(members:
        ("kind", "function"), ("pid", pid), ("selector", .string(row.selector)), ("calls", JSONValue(row.calls)), ("errors", JSONValue(row.errors)),
        ("self_ns", time(row.own)), ("total_ns", time(row.total)), ("mean_ns", time(row.mean)), ("max_ns", time(row.longest)))
    }
    let summary = JSONValue(members:
      ("kind", "summary"), ("pid", pid), ("calls", JSONValue(calls)), ("called", JSONValue(rows.count)), ("uncalled", JSONValue(uncalled)))
    return (functions + [summary]).map { $0.line + "\n" }.joined()
  }
}
