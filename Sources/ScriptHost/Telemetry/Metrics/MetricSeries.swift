// MetricSeries — one series of a metric, counted by any number of threads without a lock.
internal import Journal
internal import Synchronization

/// What a metric does with its values.
package enum MetricKind: String, Sendable { case counter, histogram, gauge }

/// Values with the same attributes.
final class MetricSeries: Sendable {
  let attributes: [Field]
  /// The attributes as the table finds them.
  let key: [UInt8]
  /// Of a histogram its buckets tell it.
  private let count = Atomic<UInt64>(0)
  /// Bit patterns of Doubles.
  private let sum = Atomic<UInt64>(0)
  private let least = Atomic<UInt64>(Double.infinity.bitPattern)
  private let most = Atomic<UInt64>((-Double.infinity).bitPattern)
  private let zeros = Atomic<UInt64>(0)
  private let buckets: ExponentialBuckets?

  init(_ kind: MetricKind, attributes: [Field], key: [UInt8]) {
    self.attributes = attributes
    self.key = key
    buckets = kind == .histogram ? ExponentialBuckets() : nil
  }

  /// Adds to a counter.
  func add(_ value: Double) {
    count.add(1, ordering: .relaxed)
    Self.change(sum) { $0 + value }
  }

  /// Sets a gauge.
  func set(_ value: Double) {
    count.add(1, ordering: .relaxed)
    sum.store(value.bitPattern, ordering: .relaxed)
  }

  /// Counts a value of a histogram.
  func record(_ value: Double) {
    guard let buckets, value.isFinite else { return }
    if value > 0 { buckets.add(value) } else { zeros.add(1, ordering: .relaxed) }
    Self.change(sum) { $0 + value }
    Self.change(least) { min($0, value) }
    Self.change(most) { max($0, value) }
  }

  @inline(__always)
  private static func change(_ word: borrowing Atomic<UInt64>, _ body: (Double) -> Double) {
    var was = word.load(ordering: .relaxed)
    while true {
      let new = body(Double(bitPattern: was)).bitPattern
      if new == was { return }
      let (done, found) = word.weakCompareExchange(expected: was, desired: new, ordering: .relaxed)
      if done { return }
      was = found
    }
  }

  /// How often it was counted so far: a snapshot is due when this changed.
  var changes: UInt64 {
    guard let buckets else { return count.load(ordering: .relaxed) }
    return buckets.counts.1.reduce(zeros.load(ordering: .relaxed), +)
  }

  func value(_ kind: MetricKind) -> MetricRecord.Value {
    let total = Double(bitPattern: sum.load(ordering: .relaxed))
    switch kind {
    case .counter: return .counter(total)
    case .gauge: return .gauge(total)
    case .histogram:
      let (offset, counts) = buckets!.counts
      let zeros = zeros.load(ordering: .relaxed)
      // What is in the buckets, so that the parts agree while others count on.
      let count = counts.reduce(zeros, +)
      let lowest = Double(bitPattern: least.load(ordering: .relaxed)), highest = Double(bitPattern: most.load(ordering: .relaxed))
      return .histogram(
        MetricRecord.Histogram(
          count: count, sum: total, minimum: count == 0 ? 0 : lowest, maximum: count == 0 ? 0 : highest,
          scale: ExponentialBuckets.scale, zeros: zeros, offset: offset, buckets: counts))
    }
  }
}

/// Buckets whose bounds grow by a fixed factor, 2^(1/8): the error of a percentile is below 5 %. Memory for eight doublings at a time.
struct ExponentialBuckets: Sendable {
  static let scale = 3
  /// Values from 2^-32 to 2^64; others count as the nearest.
  private static let lowest = -32 * 8
  private static let chunk = 64
  private let chunks = AtomicWords(count: 12)

  /// The bucket of a value above 0: those in (base^index, base^(index+1)].
  @inline(__always)
  static func index(of value: Double) -> Int {
    let part = value.significand
    // 2^(1/8) to 2^(7/8), spelled out: a constant that is worked out at run time is asked for at each call whether it is there.
    var steps = (part > 1 ? 1 : 0) + (part > 1.0905077326652577 ? 1 : 0) + (part > 1.189207115002721 ? 1 : 0) + (part > 1.2968395546510096 ? 1 : 0)
    steps += (part > 1.4142135623730951 ? 1 : 0) + (part > 1.5422108254079407 ? 1 : 0) + (part > 1.681792830507429 ? 1 : 0)
    steps += part > 1.8340080864093424 ? 1 : 0
    return Int(value.exponent) * 8 + steps - 1
  }

  @inline(__always)
  func add(_ value: Double) {
    let place = min(max(Self.index(of: value) - Self.lowest, 0), 12 * Self.chunk - 1)
    memory(place / Self.chunk)[place % Self.chunk].pointee.add(1, ordering: .relaxed)
  }

  private func memory(_ number: Int) -> AtomicWords {
    let known = chunks[number].pointee.load(ordering: .acquiring)
    if known != 0 { return AtomicWords(at: known, count: Self.chunk) }
    let made = AtomicWords(count: Self.chunk)
    let (done, found) = chunks[number].pointee.compareExchange(expected: 0, desired: made.address, ordering: .acquiringAndReleasing)
    // Another thread was first: its memory is used.
    return done ? made : AtomicWords(at: found, count: Self.chunk)
  }

  /// The counts from the first bucket that is not empty to the last.
  var counts: (offset: Int, [UInt64]) {
    var all = [UInt64](repeating: 0, count: 12 * Self.chunk)
    for number in 0..<12 {
      let known = chunks[number].pointee.load(ordering: .acquiring)
      guard known != 0 else { continue }
      let words = AtomicWords(at: known, count: Self.chunk)
      for index in 0..<Self.chunk { all[number * Self.chunk + index] = words[index].pointee.load(ordering: .relaxed) }
    }
    guard let first = all.firstIndex(where: { $0 > 0 }), let last = all.lastIndex(where: { $0 > 0 }) else { return (0, []) }
    return (first + Self.lowest, Array(all[first...last]))
  }
}
