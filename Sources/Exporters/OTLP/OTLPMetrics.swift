// OTLPMetrics — snapshots of metrics, in the messages of opentelemetry/proto/metrics/v1. All are cumulative.
internal import Journal

extension ProtobufWriter {
  private static let cumulative: UInt64 = 2

  /// Metric { name = 1, unit = 3, gauge = 5, sum = 7, exponential_histogram = 10 }.
  mutating func metric(_ field: Int, _ item: TelemetryItem) {
    guard case .metric(let metric) = item.content else { return }
    let (start, now) = (item.wall(metric.start), item.record.wall)
    message(field) {
      $0.string(1, metric.name)
      if !metric.unit.isEmpty { $0.string(3, metric.unit) }
      switch metric.value {
      case .gauge(let value): $0.message(5) { $0.number(1, metric, start, now, value) }
      case .counter(let value):
        $0.message(7) {
          $0.number(1, metric, start, now, value)
          $0.uint(2, Self.cumulative)
          $0.bool(3, true)
        }
      case .histogram(let histogram):
        $0.message(10) {
          $0.histogram(1, metric, start, now, histogram)
          $0.uint(2, Self.cumulative)
        }
      }
    }
  }

  /// NumberDataPoint { start = 2, time = 3, as_double = 4, attributes = 7 }.
  private mutating func number(_ field: Int, _ metric: MetricRecord, _ start: UInt64, _ now: UInt64, _ value: Double) {
    message(field) {
      $0.fixed64(2, start)
      $0.fixed64(3, now)
      $0.double(4, value)
      $0.attributes(7, metric.attributes)
    }
  }

  /// ExponentialHistogramDataPoint { attributes = 1, start = 2, time = 3, count = 4, sum = 5, scale = 6, zero_count = 7,
  /// positive = 8 { offset = 1, bucket_counts = 2 }, min = 12, max = 13 }.
  private mutating func histogram(
    _ field: Int, _ metric: MetricRecord, _ start: UInt64, _ now: UInt64, _ histogram: MetricRecord.Histogram
  ) {
    message(field) {
      $0.attributes(1, metric.attributes)
      $0.fixed64(2, start)
      $0.fixed64(3, now)
      $0.fixed64(4, histogram.count)
      $0.double(5, histogram.sum)
      $0.zigzag(6, Int32(clamping: histogram.scale))
      $0.fixed64(7, histogram.zeros)
      $0.message(8) {
        $0.zigzag(1, Int32(clamping: histogram.offset))
        $0.packed(2, histogram.buckets)
      }
      if histogram.count > 0 {
        $0.double(12, histogram.minimum)
        $0.double(13, histogram.maximum)
      }
    }
  }
}
