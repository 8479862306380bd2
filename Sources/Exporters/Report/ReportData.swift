// ReportData — what the report page shows, as one JSON value: newest records of each kind, and counts over all of them.
package import Journal

/// Collects records; may be fed in parts.
package struct ReportData {
  /// So many rows of each kind are shown; the rest is counted.
  private static let mostRows = 5000

  private var sessions: [JournalSession] = []
  private var ends: [JournalSession: UInt64] = [:]
  private var rows: [String: [String]] = [:]
  private var leftOut: [String: Int] = [:]
  private var totals: [String: Total] = [:]
  var metrics: [String: String] = [:]
  var costs: [CostKey: (calls: Double, time: Double?)] = [:]
  private var folded: [TelemetryItem] = []
  private var damaged = 0

  /// Count and time of everything of one kind and name.
  private struct Total {
    var kind: String
    var name: String
    var count = 0
    var errors = 0
    var time: UInt64 = 0
    var longest: UInt64 = 0
  }

  /// A rule or a handler of one run.
  struct CostKey: Hashable {
    var session: Int
    var patch: String
    var verb: String
    var on: String
  }

  package init() {}

  package mutating func take(_ items: [TelemetryItem]) {
    for item in items {
      if ends[item.session] == nil { sessions.append(item.session) }
      ends[item.session] = max(ends[item.session] ?? 0, item.record.wall)
      add(item)
    }
  }

  /// Crashes of runs, which journals do not have.
  package mutating func take(_ crashes: [CrashItem]) { for crash in crashes { add(crash) } }

  /// The run's place in the list of runs.
  func index(of item: TelemetryItem) -> Int { sessions.firstIndex(of: item.session)! }

  mutating func count(_ kind: String, _ name: String, _ time: UInt64 = 0, isError: Bool = false) {
    var total = totals[kind + "\u{0}" + name] ?? Total(kind: kind, name: name)
    total.count += 1
    total.errors += isError ? 1 : 0
    total.time += time
    total.longest = max(total.longest, time)
    totals[kind + "\u{0}" + name] = total
  }

  /// Keeps what the flame graph is made of.
  mutating func fold(_ item: TelemetryItem) { if folded.count < Self.mostRows { folded.append(item) } }

  mutating func keep(_ kind: String, _ row: String) {
    if rows[kind, default: []].count >= 2 * Self.mostRows {
      rows[kind]!.removeFirst(Self.mostRows)
      leftOut[kind, default: 0] += Self.mostRows
    }
    rows[kind, default: []].append(row)
  }

  /// - Parameter made: when the report is made, as text.
  package func json(made: String) -> String {
    var json = JSONText()
    json.object {
      $0.add("made", made)
      addSessions(&$0)
      for kind in ["spans", "network", "screens", "startup", "stalls", "crashes", "events"] {
        $0.raw(kind, "[" + (rows[kind] ?? []).joined(separator: ",") + "]")
      }
      $0.raw("metrics", "[" + metrics.sorted { $0.key < $1.key }.map(\.value).joined(separator: ",") + "]")
      addCosts(&$0)
      addTotals(&$0)
      addStacks(&$0)
      $0.object("leftOut") { for (kind, count) in leftOut.sorted(by: { $0.key < $1.key }) { $0.add(kind, count) } }
    }
    return json.text
  }

  private func addSessions(_ json: inout JSONText) {
    json.array("sessions") { list in
      for session in sessions {
        list.object {
          $0.add("program", session.programName)
          $0.add("path", session.program.description)
          $0.add("pid", session.pid)
          $0.add("build", session.buildID)
          $0.add("start", session.startWall / 1000)
          $0.add("end", (ends[session] ?? session.startWall) / 1000)
        }
      }
    }
  }

  private func addCosts(_ json: inout JSONText) {
    json.array("costs") { list in
      for (key, cost) in costs.sorted(by: { ($0.value.time ?? 0, $0.value.calls, $1.key.on) > ($1.value.time ?? 0, $1.value.calls, $0.key.on) }) {
        list.object {
          $0.add("s", key.session)
          $0.add("patch", key.patch)
          $0.add("verb", key.verb)
          $0.add("on", key.on)
          $0.add("calls", cost.calls)
          if let time = cost.time { $0.add("time", time / 1000) }
        }
      }
    }
  }

  private func addTotals(_ json: inout JSONText) {
    json.array("totals") { list in
      for total in totals.values.sorted(by: { ($0.kind, $1.time, $1.count) < ($1.kind, $0.time, $0.count) }) {
        list.object {
          $0.add("kind", total.kind)
          $0.add("name", total.name)
          $0.add("count", total.count)
          $0.add("errors", total.errors)
          $0.add("time", Double(total.time) / 1000)
          $0.add("longest", Double(total.longest) / 1000)
        }
      }
    }
  }

  private func addStacks(_ json: inout JSONText) {
    json.array("stacks") { list in
      for (stack, weight) in FoldedStacks(folded).weights.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
        list.object {
          $0.array("stack") { frames in for frame in stack { frames.add(nil, frame) } }
          $0.add("ns", weight)
        }
      }
    }
  }
}

extension MetricRecord.Histogram {
  /// The upper border of the bucket that holds this share of the values, within what was seen.
  package func quantile(_ share: Double) -> Double {
    guard count > 0 else { return 0 }
    let wanted = Double(count) * share
    var below = Double(zeros)
    if below >= wanted { return 0 }
    for (index, bucket) in buckets.enumerated() {
      below += Double(bucket)
      if below >= wanted { return min(maximum, max(minimum, PrometheusText.upperBorder(offset + index, scale: scale))) }
    }
    return maximum
  }
}
