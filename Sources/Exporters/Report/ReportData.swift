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
  private var metrics: [String: String] = [:]
  private var costs: [CostKey: (calls: Double, time: Double?)] = [:]
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
  private struct CostKey: Hashable {
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

  private mutating func add(_ item: TelemetryItem) {
    let index = sessions.firstIndex(of: item.session)!
    func row(_ body: (inout JSONText) -> Void) -> String {
      var json = JSONText()
      json.object {
        $0.add("s", index)
        $0.add("t", item.record.wall / 1000)
        $0.add("thread", item.record.thread)
        $0.add("name", item.record.name)
        body(&$0)
      }
      return json.text
    }
    func count(_ kind: String, _ name: String, _ time: UInt64 = 0, isError: Bool = false) {
      var total = totals[kind + "\u{0}" + name] ?? Total(kind: kind, name: name)
      total.count += 1
      total.errors += isError ? 1 : 0
      total.time += time
      total.longest = max(total.longest, time)
      totals[kind + "\u{0}" + name] = total
    }
    switch item.content {
    case .span(let span):
      count("span", span.name, span.duration, isError: span.status == .error)
      keep("spans", row { Self.add(span, item, &$0) })
      if folded.count < Self.mostRows { folded.append(item) }
    case .network(let request):
      let span = SpanRecord(request, item)
      count("request", item.record.name, request.duration, isError: span.status == .error)
      keep("spans", row { Self.add(span, item, &$0) })
      keep("network", row {
        $0.add("url", request.url)
        $0.add("method", request.method)
        $0.add("status", request.error ?? request.status.map { "\($0)" } ?? "")
        $0.add("failed", span.status == .error)
        $0.add("start", item.wall(request.start) / 1000)
        $0.add("dur", Double(request.duration) / 1000)
        for (name, value) in [("dns", request.dns), ("connect", request.connect), ("tls", request.tls), ("first", request.firstByte)] {
          if let value { $0.add(name, Double(value) / 1000) }
        }
        if let sent = request.requestBytes { $0.add("sent", sent) }
        if let received = request.responseBytes { $0.add("received", received) }
      })
    case .screen(let screen):
      count("screen", screen.name, screen.duration ?? 0)
      keep("screens", row {
        $0.add("phase", screen.phase.rawValue)
        $0.add("path", screen.path)
        $0.add("type", screen.type)
        if let duration = screen.duration { $0.add("dur", Double(duration) / 1000) }
      })
    case .startup(let startup):
      keep("startup", row {
        $0.add("at", Double(startup.at) / 1000)
        $0.add("dur", Double(startup.duration ?? 0) / 1000)
      })
    case .stall(let stall):
      guard stall.isOver else { return }
      count("stall", stall.name, stall.duration)
      keep("stalls", row {
        $0.add("start", item.wall(stall.start) / 1000)
        $0.add("dur", Double(stall.duration) / 1000)
        $0.array("stack") { list in for frame in stall.stack { list.add(nil, frame) } }
      })
      if folded.count < Self.mostRows { folded.append(item) }
    case .sample(let sample):
      count("sample", item.record.name, sample.weight)
      if folded.count < Self.mostRows { folded.append(item) }
    case .metric(let metric) where metric.name == MetricRecord.hookCalls || metric.name == MetricRecord.hookTime:
      guard case .counter(let value) = metric.value else { return }
      func text(_ name: String) -> String { metric.attributes.first { $0.name == name }?.value.plainText ?? "" }
      let key = CostKey(session: index, patch: text("patch"), verb: text("verb"), on: text("on"))
      if metric.name == MetricRecord.hookTime { costs[key, default: (0, nil)].time = value } else { costs[key, default: (0, nil)].calls = value }
    case .metric(let metric):
      var json = JSONText()
      json.object {
        $0.add("s", index)
        $0.add("name", metric.name)
        $0.add("unit", metric.unit)
        $0.add("by", metric.attributes.map { "\($0.name)=\($0.value.plainText)" }.joined(separator: ", "))
        switch metric.value {
        case .counter(let value): $0.add("value", value)
        case .gauge(let value): $0.add("value", value)
        case .histogram(let histogram):
          $0.add("count", histogram.count)
          $0.add("mean", histogram.count == 0 ? 0 : histogram.sum / Double(histogram.count))
          $0.add("p50", histogram.quantile(0.5))
          $0.add("p99", histogram.quantile(0.99))
          $0.add("max", histogram.maximum)
        }
      }
      metrics["\(index) \(metric.name) \(JSONText.value(.object(metric.attributes)))"] = json.text
    case .event(let fields):
      let kind = "\(item.record.kind)"
      count(kind, item.record.name, isError: item.record.kind == .failure)
      keep("events", row {
        $0.add("kind", kind)
        $0.add("fields", fields.map { "\($0.name)=\($0.value.plainText)" }.joined(separator: "  "))
      })
    }
  }

  private static func add(_ span: SpanRecord, _ item: TelemetryItem, _ row: inout JSONText) {
    row.add("trace", "\(span.trace)")
    row.add("span", EventText.hexadecimal(span.span, nil))
    if let parent = span.parent { row.add("parent", EventText.hexadecimal(parent, nil)) }
    row.add("start", item.wall(span.start) / 1000)
    row.add("dur", Double(span.duration) / 1000)
    row.add("error", span.status == .error ? (span.message.isEmpty ? "error" : span.message) : "")
    row.add("about", span.attributes.map { "\($0.name)=\($0.value.plainText)" }.joined(separator: "  "))
  }

  private mutating func keep(_ kind: String, _ row: String) {
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
      $0.array("sessions") { list in
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
      for kind in ["spans", "network", "screens", "startup", "stalls", "events"] {
        $0.raw(kind, "[" + (rows[kind] ?? []).joined(separator: ",") + "]")
      }
      $0.raw("metrics", "[" + metrics.sorted { $0.key < $1.key }.map(\.value).joined(separator: ",") + "]")
      $0.array("costs") { list in
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
      $0.array("totals") { list in
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
      $0.array("stacks") { list in
        for (stack, weight) in FoldedStacks(folded).weights.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
          list.object {
            $0.array("stack") { frames in for frame in stack { frames.add(nil, frame) } }
            $0.add("ns", weight)
          }
        }
      }
      $0.object("leftOut") { for (kind, count) in leftOut.sorted(by: { $0.key < $1.key }) { $0.add(kind, count) } }
    }
    return json.text
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
