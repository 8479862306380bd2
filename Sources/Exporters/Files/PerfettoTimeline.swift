// PerfettoTimeline — what a trace viewer shows of the journal: slices that nest on lanes, marks and counters.
//
// Viewers draw the slices of one lane inside of each other. Spans of async calls that share a thread overlap otherwise: what does not fit into
// a lane of its thread goes into the next one.
internal import Journal

struct PerfettoTimeline {
  /// Something with a begin and an end. Times are nanoseconds since 1970.
  struct Slice {
    let item: TelemetryItem
    let name: String
    let category: String
    let start: UInt64
    let duration: UInt64
    let fields: [Field]
    /// The thread's own lane is 0.
    var lane = 0
    var end: UInt64 { start &+ duration }
  }

  /// Something at one moment.
  struct Mark {
    let item: TelemetryItem
    let name: String
    let category: String
    let fields: [Field]
  }

  /// The value of a series of a metric.
  struct Count {
    let item: TelemetryItem
    let name: String
    let label: String
    let value: Double
  }

  /// One line of the picture.
  struct Place: Hashable {
    let session: JournalSession
    let thread: UInt32
    let lane: Int
  }

  /// By their lanes; of each lane in the order of their begins, the longer of two first.
  private(set) var slices: [Slice] = []
  private(set) var marks: [Mark] = []
  private(set) var counts: [Count] = []
  /// They stand in the order of their first records.
  private(set) var sessions: [JournalSession] = []

  init(_ items: [TelemetryItem]) {
    var seen: Set<JournalSession> = []
    for item in items {
      if seen.insert(item.session).inserted { sessions.append(item.session) }
      add(item)
    }
    putIntoLanes()
  }

  private mutating func add(_ item: TelemetryItem) {
    func slice(_ name: String, _ category: String, _ start: UInt64, _ duration: UInt64, _ fields: [Field]) {
      slices.append(Slice(item: item, name: name, category: category, start: start, duration: duration, fields: fields))
    }
    func mark(_ name: String, _ category: String, _ fields: [Field]) {
      marks.append(Mark(item: item, name: name, category: category, fields: fields))
    }
    switch item.content {
    case .span(let span): slice(span.name, "span", item.wall(span.start), span.duration, span.attributes + Self.status(span) + Self.links(span))
    case .network(let request):
      let span = SpanRecord(request, item)
      slice(item.record.name, "network", item.wall(span.start), span.duration, span.attributes)
    case .stall(let stall):
      let stack = Field("stack", .list(stall.stack.map { .string($0) }))
      slice("stall \(stall.name)", "stall", item.wall(stall.start), stall.duration, [stack])
    case .screen(let screen):
      guard let duration = screen.duration else { return mark(screen.name, "screen", screen.attributes) }
      slice(screen.name, "screen", item.record.wall &- duration, duration, screen.attributes)
    case .metric(let metric): counts.append(Count(item: item, name: metric.name, label: Self.label(metric.attributes), value: Self.value(metric)))
    case .startup(let startup): mark("startup \(startup.stage)", "startup", [])
    case .event(let fields): mark(item.record.name, "\(item.record.kind)", fields)
    case .sample: break  // for profiles, see FoldedStacks
    }
  }

  private mutating func putIntoLanes() {
    var byThread: [Place: [Slice]] = [:]
    var order: [Place] = []
    for slice in slices {
      let thread = Place(session: slice.item.session, thread: slice.item.record.thread, lane: 0)
      if byThread[thread] == nil { order.append(thread) }
      byThread[thread, default: []].append(slice)
    }
    slices = order.flatMap { thread -> [Slice] in
      // Of each lane, the ends of the slices that are open, innermost last.
      var lanes: [[UInt64]] = []
      var placed: [[Slice]] = []
      for var slice in byThread[thread]!.sorted(by: { ($0.start, $1.end) < ($1.start, $0.end) }) {
        var lane = 0
        while true {
          if lane == lanes.count {
            lanes.append([])
            placed.append([])
          }
          while let last = lanes[lane].last, last <= slice.start { lanes[lane].removeLast() }
          if lanes[lane].last ?? .max >= slice.end { break }
          lane += 1
        }
        lanes[lane].append(slice.end)
        slice.lane = lane
        placed[lane].append(slice)
      }
      return placed.flatMap { $0 }
    }
  }

  private static func status(_ span: SpanRecord) -> [Field] {
    span.status == .error ? [Field("error", .string(span.message.isEmpty ? "yes" : span.message))] : []
  }
  private static func links(_ span: SpanRecord) -> [Field] {
    span.links.isEmpty ? [] : [Field("links", .list(span.links.map { .string("\($0.trace)-\(EventText.hexadecimal($0.span, nil))") }))]
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
