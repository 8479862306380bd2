// PrometheusText — metrics in the text format 0.0.4 that Prometheus scrapes.
//
// Histograms of the journal have exponential buckets; here they get cumulative `le` buckets at the same borders. Durations are
// seconds and their names end in _seconds, by Prometheus' conventions; counters end in _total.
private import Glibc
internal import Journal

/// The newest snapshot of each series, over all runs that were read.
package struct PrometheusText: Sendable {
  private struct Key: Hashable {
    var session: JournalSession
    var name: String
    var labels: String
  }
  private var series: [Key: MetricRecord] = [:]
  /// Runs that ended: a scraper sees their last values once more, and then no stale ones.
  private var ended: Set<JournalSession> = []
  private var kept: [JournalSession: Int] = [:]

  package init() {}

  package mutating func take(_ items: [TelemetryItem]) {
    for item in items {
      guard case .metric(let metric) = item.content else { continue }
      let labels = Self.labels(metric.attributes, item.session)
      series[Key(session: item.session, name: metric.name, labels: labels)] = metric
      if metric.isLast { ended.insert(item.session) }
    }
  }

  /// One scrape. Runs that ended are left out after they were shown `times` times.
  package mutating func scrape(showingEnded times: Int = 3) -> String {
    var families: [String: (type: String, lines: [String])] = [:]
    for (key, metric) in series.sorted(by: { ($0.key.name, $0.key.labels) < ($1.key.name, $1.key.labels) }) {
      let unit = Self.unit(metric.unit)
      let base = Self.name(metric.name) + unit.suffix
      switch metric.value {
      case .counter(let value):
        families[base + "_total", default: ("counter", [])].lines.append("\(base)_total{\(key.labels)} \(Self.number(value * unit.scale))")
      case .gauge(let value):
        families[base, default: ("gauge", [])].lines.append("\(base){\(key.labels)} \(Self.number(value * unit.scale))")
      case .histogram(let histogram):
        families[base, default: ("histogram", [])].lines += Self.lines(base, key.labels, histogram, unit.scale)
      }
    }
    for session in ended {
      kept[session, default: 0] += 1
      if kept[session]! >= times {
        series = series.filter { $0.key.session != session }
        ended.remove(session)
      }
    }
    return families.sorted { $0.key < $1.key }
      .map { "# TYPE \($0.key) \($0.value.type)\n" + $0.value.lines.joined(separator: "\n") + "\n" }.joined()
  }

  private static func lines(_ name: String, _ labels: String, _ histogram: MetricRecord.Histogram, _ scale: Double) -> [String] {
    var lines: [String] = []
    var below = histogram.zeros
    func bucket(_ border: String) -> String { "\(name)_bucket{\(labels),le=\"\(border)\"} \(below)" }
    if histogram.zeros > 0 { lines.append(bucket("0")) }
    for (index, count) in histogram.buckets.enumerated() {
      below += count
      if count > 0 { lines.append(bucket(number(upperBorder(histogram.offset + index, scale: histogram.scale) * scale))) }
    }
    below = histogram.count
    lines.append(bucket("+Inf"))
    lines.append("\(name)_sum{\(labels)} \(number(histogram.sum * scale))")
    lines.append("\(name)_count{\(labels)} \(histogram.count)")
    return lines
  }

  /// base^(index+1), base = 2^(2^-scale).
  package static func upperBorder(_ index: Int, scale: Int) -> Double { exp2(Double(index + 1) * exp2(Double(-scale))) }

  private static func unit(_ unit: String) -> (suffix: String, scale: Double) {
    switch unit {
    case "ns": ("_seconds", 1e-9)
    case "us": ("_seconds", 1e-6)
    case "ms": ("_seconds", 1e-3)
    case "s": ("_seconds", 1)
    case "By": ("_bytes", 1)
    default: ("", 1)
    }
  }

  private static func labels(_ attributes: [Field], _ session: JournalSession) -> String {
    let own = [("program", session.programName), ("pid", "\(session.pid)")]
    return (own + attributes.map { (name($0.name), $0.value.plainText) }).map { "\($0)=\"\(escaped($1))\"" }.joined(separator: ",")
  }

  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") {
      switch $1 {
      case "\\": $0 += "\\\\"
      case "\"": $0 += "\\\""
      case "\n": $0 += "\\n"
      default: $0.append($1)
      }
    }
  }

  /// Letters, digits and underscores; a digit is not first.
  static func name(_ name: String) -> String {
    let mapped = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    return mapped.first?.isNumber == false ? mapped : "_" + mapped
  }

  private static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
    return value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
  }
}
