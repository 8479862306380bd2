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
    func column(_ value: String, _ width: Int) -> String { String(repeating: " ", count: max(1, width - value.count)) + value }
    for row in rows {
      let share = Int(Double(row.own) * 1000 / Double(all) + 0.5)
      text += column("\(share / 10).\(share % 10)", 6)
      for value in [row.own, row.total, row.mean, row.longest] {
        text += column(row.isTimed ? TraceText.duration(value).trimmingSpaces() : "-", 11)
      }
      text += column("\(row.calls)", 11) + column(row.errors == 0 ? "" : "\(row.errors)", 9) + "  " + row.selector + "\n"
    }
    return text + "\(calls) calls of \(rows.count) selectors; \(uncalled) were not called\n"
  }

  /// A line for each row, times in nanoseconds, and one for all.
  func json(_ head: String) -> String {
    var text = ""
    for row in rows {
      text += "{\"kind\":\"function\"" + head + ",\"selector\":"
      EventText.append(json: row.selector, to: &text)
      text += ",\"calls\":\(row.calls),\"errors\":\(row.errors)"
      if row.isTimed { text += ",\"self_ns\":\(row.own),\"total_ns\":\(row.total),\"mean_ns\":\(row.mean),\"max_ns\":\(row.longest)" }
      text += "}\n"
    }
    return text + "{\"kind\":\"summary\"" + head + ",\"calls\":\(calls),\"called\":\(rows.count),\"uncalled\":\(uncalled)}\n"
  }
}
