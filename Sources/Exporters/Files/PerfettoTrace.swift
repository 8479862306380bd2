// PerfettoTrace — the journal as a trace that ui.perfetto.dev opens: the JSON form of trace events, microseconds.
internal import Journal

package enum PerfettoTrace {
  /// One JSON object with all events.
  package static func json(_ items: [TelemetryItem]) -> String {
    var json = JSONText()
    json.object {
      $0.add("displayTimeUnit", "ms")
      $0.array("traceEvents") { events in
        for session in uniqueSessions(items) { name(session, &events) }
        for item in items { add(item, &events) }
      }
    }
    return json.text
  }

  private static func uniqueSessions(_ items: [TelemetryItem]) -> [JournalSession] {
    var seen: Set<JournalSession> = []
    return items.map(\.session).filter { seen.insert($0).inserted }
  }

  private static func name(_ session: JournalSession, _ events: inout JSONText) {
    events.object {
      $0.add("ph", "M")
      $0.add("name", "process_name")
      $0.add("pid", session.pid)
      $0.object("args") { $0.add("name", session.programName) }
    }
  }

  private static func add(_ item: TelemetryItem, _ events: inout JSONText) {
    switch item.content {
    case .span(let span):
      complete(item, span.name, "span", item.wall(span.start), span.duration, span.attributes + status(span), &events)
    case .network(let request):
      let span = SpanRecord(request, item)
      complete(item, item.record.name, "network", item.wall(span.start), span.duration, span.attributes, &events)
    case .stall(let stall):
      let stack = Field("stack", .list(stall.stack.map { .string($0) }))
      complete(item, "stall \(stall.name)", "stall", item.wall(stall.start), stall.duration, [stack], &events)
    case .screen(let screen):
      guard let duration = screen.duration else { return instant(item, screen.name, "screen", screen.attributes, &events) }
      complete(item, screen.name, "screen", item.record.wall &- duration, duration, screen.attributes, &events)
    case .metric(let metric):
      events.object {
        $0.add("ph", "C")
        $0.add("name", metric.name)
        place(item, item.record.wall, &$0)
        $0.object("args") { $0.add(label(metric.attributes), value(metric)) }
      }
    case .startup(let startup): instant(item, "startup \(startup.stage)", "startup", [], &events)
    case .event(let fields): instant(item, item.record.name, "\(item.record.kind)", fields, &events)
    case .sample: break  // for profiles, see FoldedStacks
    }
  }

  private static func complete(
    _ item: TelemetryItem, _ name: String, _ category: String, _ start: UInt64, _ duration: UInt64, _ fields: [Field], _ events: inout JSONText
  ) {
    events.object {
      $0.add("ph", "X")
      $0.add("name", name)
      $0.add("cat", category)
      place(item, start, &$0)
      $0.add("dur", Double(duration) / 1000)
      $0.add("args", fields)
    }
  }

  private static func instant(_ item: TelemetryItem, _ name: String, _ category: String, _ fields: [Field], _ events: inout JSONText) {
    events.object {
      $0.add("ph", "i")
      $0.add("s", "t")
      $0.add("name", name)
      $0.add("cat", category)
      place(item, item.record.wall, &$0)
      $0.add("args", fields)
    }
  }

  private static func place(_ item: TelemetryItem, _ wall: UInt64, _ event: inout JSONText) {
    // Whole microseconds and thousandths: a Double loses digits of today's nanoseconds.
    event.raw("ts", "\(wall / 1000).\(String(String(wall % 1000 + 1000).dropFirst()))")
    event.add("pid", item.session.pid)
    event.add("tid", item.record.thread)
  }

  private static func status(_ span: SpanRecord) -> [Field] {
    span.status == .error ? [Field("error", .string(span.message.isEmpty ? "yes" : span.message))] : []
  }
  private static func label(_ attributes: [Field]) -> String {
    attributes.isEmpty ? "value" : attributes.map { "\($0.name)=\($0.value.plainText)" }.joined(separator: ",")
  }
  private static func value(_ metric: MetricRecord) -> Double {
    switch metric.value {
    case .counter(let value), .gauge(let value): value
    case .histogram(let histogram): Double(histogram.count)
    }
  }
}
