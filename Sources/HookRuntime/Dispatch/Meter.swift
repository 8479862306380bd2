// Meter — how long the runs of a handler took. C measures (CHookTrampoline/Dispatch/meter.c); this is who owns the figures, and reads them.
internal import CHookTrampoline

/// What the runs of one handler took so far. Any thread.
package final class Meter: @unchecked Sendable {
  // What it points at is atomic.
  let counts: UnsafeMutablePointer<HKTMeter>

  /// Nil when memory ran out.
  package init?() {
    guard let counts = hkt_meter_new() else { return nil }
    self.counts = counts
  }

  deinit { hkt_meter_free(counts) }

  /// A run that came by no layer took so many ticks (`hkt_ticks`).
  package func add(_ ticks: UInt64) { hkt_meter_add(counts, ticks) }

  /// Counts runs by their time, too, from now on. Under the engine's lock.
  func countBuckets() { hkt_meter_count_buckets(counts) }

  package var reading: MeterReading {
    var distribution = [UInt64](repeating: 0, count: Int(HKT_METER_BUCKETS))
    let read = hkt_meter_read(counts, &distribution)
    return MeterReading(
      runs: read.runs, time: hkt_ticks_to_ns(read.ticks), waited: hkt_ticks_to_ns(read.waited), longest: hkt_ticks_to_ns(read.longest),
      distribution: distribution)
  }
}

/// What those runs of a handler took that were measured, in nanoseconds, without what they let the call go on to, and what they waited.
package struct MeterReading: Sendable {
  package var runs: UInt64 = 0
  package var time: UInt64 = 0
  /// For other threads that were in the same script.
  package var waited: UInt64 = 0
  package var longest: UInt64 = 0
  /// How many of the runs took so long, by buckets, since somebody watches.
  fileprivate var distribution: [UInt64] = []

  /// Nil before one was measured.
  package var mean: Double? { runs == 0 ? nil : Double(time) / Double(runs) }

  /// The time that a share of the runs kept within, to half a power of two; nil where nobody watched.
  package func percentile(_ share: Double) -> UInt64? {
    let counted = distribution.reduce(0, +)
    guard counted > 0 else { return nil }
    var left = Double(counted) * share
    for (bucket, count) in distribution.enumerated() where count > 0 {
      left -= Double(count)
      if left <= 0 { return min(longest, hkt_ticks_to_ns(hkt_meter_bucket_start(UInt32(bucket + 1)))) }
    }
    return longest
  }

  package static func + (a: MeterReading, b: MeterReading) -> MeterReading {
    var sum = MeterReading(
      runs: a.runs + b.runs, time: a.time + b.time, waited: a.waited + b.waited, longest: max(a.longest, b.longest),
      distribution: a.distribution)
    if sum.distribution.isEmpty {
      sum.distribution = b.distribution
    } else {
      for (bucket, count) in b.distribution.enumerated() { sum.distribution[bucket] += count }
    }
    return sum
  }
}
