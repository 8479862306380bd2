// ReportRows — one row of the report for each record, by its kind.
internal import Journal

extension ReportData {
  mutating func add(_ item: TelemetryItem) {
    switch item.content {
    case .span(let span):
      count("span", span.name, span.duration, isError: span.status == .error)
      keep("spans", row(item) { Self.add(span, item, &$0) })
      fold(item)
    case .network(let request): add(request, item)
    case .screen(let screen): add(screen, item)
    case .startup(let startup):
      keep("startup", row(item) {
        $0.add("at", Double(startup.at) / 1000)
        $0.add("dur", Double(startup.duration ?? 0) / 1000)
      })
    case .stall(let stall): add(stall, item)
    case .sample(let sample):
      count("sample", item.record.name, sample.weight)
      fold(item)
    case .metric(let metric) where metric.name == MetricRecord.hookCalls || metric.name == MetricRecord.hookTime: addCost(metric, item)
    case .metric(let metric): add(metric, item)
    case .event(let fields):
      let kind = "\(item.record.kind)"
      count(kind, item.record.name, isError: item.record.kind == .failure)
      keep("events", row(item) {
        $0.add("kind", kind)
        // Where it was is searched for, and read by nobody.
        $0.add("fields", Self.words(fields.filter { if case .identifier = $0.value { false } else { true } }))
        if let trace = fields.first(where: { $0.name == "trace" }) { $0.add("trace", trace.value.plainText) }
      })
    }
  }

  /// The row of a record: what all have, and what `body` adds.
  private func row(_ item: TelemetryItem, _ body: (inout JSONText) -> Void) -> String {
    var json = JSONText()
    json.object {
      $0.add("s", index(of: item))
      $0.add("t", item.record.wall / 1000)
      $0.add("thread", item.record.thread)
      $0.add("name", item.record.name)
      body(&$0)
    }
    return json.text
  }

  private static func words(_ fields: [Field]) -> String { fields.map { "\($0.name)=\($0.value.plainText)" }.joined(separator: "  ") }

  private static func add(_ span: SpanRecord, _ item: TelemetryItem, _ row: inout JSONText) {
    row.add("trace", "\(span.trace)")
    row.add("span", EventText.hexadecimal(span.span, nil))
    if let parent = span.parent { row.add("parent", EventText.hexadecimal(parent, nil)) }
    row.add("start", item.wall(span.start) / 1000)
    row.add("dur", Double(span.duration) / 1000)
    row.add("error", span.status == .error ? (span.message.isEmpty ? "error" : span.message) : "")
    row.add("about", words(span.attributes))
  }

  private mutating func add(_ request: NetworkRecord, _ item: TelemetryItem) {
    let span = SpanRecord(request, item)
    count("request", item.record.name, request.duration, isError: span.status == .error)
    keep("spans", row(item) { Self.add(span, item, &$0) })
    keep("network", row(item) {
      $0.add("url", request.url)
      $0.add("method", request.method)
      $0.add("status", request.error ?? request.status.map { "\($0)" } ?? "")
      $0.add("failed", span.status == .error)
      $0.add("start", item.wall(request.start) / 1000)
      $0.add("dur", Double(request.duration) / 1000)
      for (name, value) in [
        ("queued", request.queued), ("dns", request.dns), ("connect", request.connect), ("tls", request.tls), ("first", request.firstByte),
      ] {
        if let value { $0.add(name, Double(value) / 1000) }
      }
      if let sent = request.requestBytes { $0.add("sent", sent) }
      if let received = request.responseBytes { $0.add("received", received) }
    })
  }

  private mutating func add(_ screen: ScreenRecord, _ item: TelemetryItem) {
    count("screen", screen.name, screen.duration ?? 0)
    keep("screens", row(item) {
      $0.add("phase", screen.phase.rawValue)
      $0.add("path", screen.path)
      $0.add("type", screen.type)
      if let duration = screen.duration { $0.add("dur", Double(duration) / 1000) }
    })
  }

  private mutating func add(_ stall: StallRecord, _ item: TelemetryItem) {
    guard stall.isOver else { return }
    count("stall", stall.name, stall.duration)
    keep("stalls", row(item) {
      $0.add("start", item.wall(stall.start) / 1000)
      $0.add("dur", Double(stall.duration) / 1000)
      $0.array("stack") { list in for frame in stall.stack { list.add(nil, frame) } }
    })
    fold(item)
  }

  private mutating func addCost(_ metric: MetricRecord, _ item: TelemetryItem) {
    guard case .counter(let value) = metric.value else { return }
    func text(_ name: String) -> String { metric.attributes.first { $0.name == name }?.value.plainText ?? "" }
    let key = CostKey(session: index(of: item), patch: text("patch"), verb: text("verb"), on: text("on"))
    if metric.name == MetricRecord.hookTime { costs[key, default: (0, nil)].time = value } else { costs[key, default: (0, nil)].calls = value }
  }

  private mutating func add(_ metric: MetricRecord, _ item: TelemetryItem) {
    let place = index(of: item)
    var json = JSONText()
    json.object {
      $0.add("s", place)
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
    metrics["\(place) \(metric.name) \(JSONText.value(.object(metric.attributes)))"] = json.text
  }

  /// A crash: its run may have left no other record.
  mutating func add(_ crash: CrashItem) {
    count("crash", crash.type, isError: true)
    var json = JSONText()
    json.object {
      $0.add("t", crash.wall / 1000)
      $0.add("program", crash.session.programName)
      $0.add("pid", crash.session.pid)
      $0.add("title", crash.title)
      $0.add("thread", crash.thread)
      $0.add("patch", crash.suspect)
      $0.array("stack") { list in for frame in crash.stack { list.add(nil, frame) } }
      $0.array("crumbs") { list in for crumb in crash.crumbs { list.add(nil, crumb.line) } }
    }
    keep("crashes", json.text)
  }
}
