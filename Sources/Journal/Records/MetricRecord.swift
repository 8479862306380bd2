// MetricRecord — what one series of a metric came to since the program began to count it.
//
// Snapshots are cumulative: a later one of the same name and attributes includes the earlier ones. The record's name is the
// metric's. Keep in step with docs/journal.md.

/// One series of a metric at one moment.
package struct MetricRecord: Sendable, Equatable {
  /// A histogram whose bucket `i` of `buckets` counts values in (base^(offset+i), base^(offset+i+1)], base = 2^(2^-scale).
  package struct Histogram: Sendable, Equatable {
    package var count: UInt64
    package var sum: Double
    package var minimum: Double
    package var maximum: Double
    package var scale: Int
    /// Values that are 0 or below.
    package var zeros: UInt64
    package var offset: Int
    package var buckets: [UInt64]

    package init(
      count: UInt64, sum: Double, minimum: Double, maximum: Double, scale: Int, zeros: UInt64, offset: Int, buckets: [UInt64]
    ) {
      self.count = count
      self.sum = sum
      self.minimum = minimum
      self.maximum = maximum
      self.scale = scale
      self.zeros = zeros
      self.offset = offset
      self.buckets = buckets
    }
  }

  /// Metrics of the host itself: calls that came to a hook, and what its handler or rule took of them.
  package static let hookCalls = "scripthost.hook.calls"
  package static let hookTime = "scripthost.hook.time"

  package enum Value: Sendable, Equatable {
    /// It only ever grows.
    case counter(Double)
    case gauge(Double)
    case histogram(Histogram)
  }

  package var name: String
  /// "ns", "By", "1", as OpenTelemetry spells units; empty when nobody said.
  package var unit: String
  package var attributes: [Field]
  /// When counting began: CLOCK_MONOTONIC, nanoseconds.
  package var start: UInt64
  package var value: Value
  /// Whether the program ended: no later snapshot comes.
  package var isLast: Bool
  /// Calls whose keys found no room: they are in the series whose attributes are `overflow = true`.
  package var isOverflow: Bool

  package init(
    name: String, unit: String = "", attributes: [Field] = [], start: UInt64, value: Value, isLast: Bool = false, isOverflow: Bool = false
  ) {
    self.name = name
    self.unit = unit
    self.attributes = attributes
    self.start = start
    self.value = value
    self.isLast = isLast
    self.isOverflow = isOverflow
  }

  /// Reads a record; nil when it is none of a metric.
  package init?(_ record: JournalRecord) {
    guard record.kind == .metric else { return nil }
    let fields = RecordFields(record)
    switch fields.text("kind") {
    case "counter": value = .counter(fields.double("value") ?? 0)
    case "gauge": value = .gauge(fields.double("value") ?? 0)
    case "histogram":
      value = .histogram(
        Histogram(
          count: fields.unsigned("count") ?? 0, sum: fields.double("sum") ?? 0, minimum: fields.double("min") ?? 0,
          maximum: fields.double("max") ?? 0, scale: Int(fields.integer("scale") ?? 0), zeros: fields.unsigned("zeros") ?? 0,
          offset: Int(fields.integer("offset") ?? 0),
          buckets: fields.list("buckets").map { if case .unsigned(let count) = $0 { count } else { 0 } }))
    default: return nil
    }
    name = record.name
    unit = fields.text("unit") ?? ""
    attributes = fields.object("attributes")
    start = fields.unsigned("start_ns") ?? 0
    isLast = fields.bool("last") ?? false
    isOverflow = fields.bool("overflow") ?? false
  }

  /// Writes the fields; the writer was made with the metric's name.
  package func write(into fields: inout FieldWriter) {
    switch value {
    case .counter(let value):
      fields.add("kind", "counter")
      fields.add("value", value)
    case .gauge(let value):
      fields.add("kind", "gauge")
      fields.add("value", value)
    case .histogram(let histogram):
      fields.add("kind", "histogram")
      fields.add("count", histogram.count)
      fields.add("sum", histogram.sum)
      fields.add("min", histogram.minimum)
      fields.add("max", histogram.maximum)
      fields.add("scale", histogram.scale)
      fields.add("zeros", histogram.zeros)
      fields.add("offset", histogram.offset)
      fields.add("buckets", .list(histogram.buckets.map { .unsigned($0) }))
    }
    if !unit.isEmpty { fields.add("unit", unit) }
    fields.add("start_ns", start)
    fields.add("attributes", attributes)
    if isLast { fields.add("last", true) }
    if isOverflow { fields.add("overflow", true) }
  }
}
