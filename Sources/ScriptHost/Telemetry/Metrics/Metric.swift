// Metric — all series of one name: a bounded table that grows without a lock, and what is written of it to the journal.
internal import CHookTrampoline
internal import HookRuntime
internal import Journal
internal import Synchronization

/// Any thread. Kept for ever: rules are few.
final class Metric: Sendable {
  let name: String
  let kind: MetricKind
  let unit: String
  /// Nanoseconds between snapshots.
  let every: UInt64
  private let start = hkt_now_ns()
  /// Addresses of series, found by the hash of their attributes.
  private let table: AtomicWords
  private let most: Int
  private let count = Atomic<Int>(0)
  /// Takes the calls whose attributes found no room.
  private let overflow: MetricSeries
  private let log: HostLog
  private let written = Mutex<[ObjectIdentifier: UInt64]>([:])
  let due = Atomic<UInt64>(0)

  init(_ name: String, _ kind: MetricKind, unit: String, every: UInt64, keys: Int, log: HostLog) {
    self.name = name
    self.kind = kind
    self.unit = unit
    self.every = every
    self.log = log
    most = keys
    var slots = 64
    while slots < 2 * keys { slots *= 2 }
    table = AtomicWords(count: slots)
    overflow = MetricSeries(kind, attributes: [Field("overflow", .bool(true))], key: [])
    due.store(start &+ every, ordering: .relaxed)
  }

  /// The series with these attributes, as a record has them.
  func series(_ key: UnsafeRawBufferPointer) -> Unmanaged<MetricSeries> {
    let wanted = hash(key)
    for probe in 0..<64 {
      let slot = table[(Int(truncatingIfNeeded: wanted >> 1) &+ probe) & (table.count - 1)]
      let known = slot.pointee.load(ordering: .acquiring)
      guard let address = UnsafeRawPointer(bitPattern: UInt(known)) else {
        guard count.load(ordering: .relaxed) < most else { break }
        if let made = add(key, to: slot) { return made }
        continue
      }
      let series = Unmanaged<MetricSeries>.fromOpaque(address)
      if series._withUnsafeGuaranteedRef({ $0.key.withUnsafeBytes { Self.equal($0, key) } }) { return series }
    }
    return .passUnretained(overflow)
  }

  /// Both have the same bytes.
  private static func equal(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool { a.count == b.count && a.elementsEqual(b) }

  /// Puts a new series into an empty slot; nil when it is taken by another one now.
  private func add(_ key: UnsafeRawBufferPointer, to slot: UnsafeMutablePointer<Atomic<UInt64>>) -> Unmanaged<MetricSeries>? {
    let attributes = withUnsafeTemporaryAllocation(byteCount: 4096 + 16, alignment: 16) { FieldWriter(copying: key, into: $0).fields(from: 0) }
    let made = Unmanaged.passRetained(MetricSeries(kind, attributes: attributes, key: Array(key)))
    let (done, found) = slot.pointee.compareExchange(
      expected: 0, desired: UInt64(UInt(bitPattern: made.toOpaque())), ordering: .acquiringAndReleasing)
    if done {
      count.add(1, ordering: .relaxed)
      return made
    }
    made.release()
    guard let address = UnsafeRawPointer(bitPattern: UInt(found)) else { return nil }
    let other = Unmanaged<MetricSeries>.fromOpaque(address)
    return other._withUnsafeGuaranteedRef { $0.key.withUnsafeBytes { Self.equal($0, key) } } ? other : nil
  }

  private var all: [MetricSeries] {
    (0..<table.count).compactMap {
      UnsafeRawPointer(bitPattern: UInt(table[$0].pointee.load(ordering: .acquiring))).map {
        Unmanaged<MetricSeries>.fromOpaque($0).takeUnretainedValue()
      }
    } + (overflow.changes > 0 ? [overflow] : [])
  }

  /// Writes a record of each series that changed since its last one; of all when the program ends.
  func write(isLast: Bool) {
    written.withLock { written in
      for series in all {
        let changes = series.changes
        if !isLast, written[ObjectIdentifier(series)] == changes { continue }
        written[ObjectIdentifier(series)] = changes
        let record = MetricRecord(
          name: name, unit: unit, attributes: series.attributes, start: start, value: series.value(kind), isLast: isLast,
          isOverflow: series === overflow)
        log.append(.metric, FieldName(name, masked: false)) { record.write(into: &$0) }
      }
    }
  }
}

/// Writes metrics from time to time: one thread of the host, made when the first metric is.
enum MetricReporter {
  private static let state = Mutex<(metrics: [Metric], isRunning: Bool)>(([], false))

  static func add(_ metric: Metric) {
    let starts = state.withLock { state in
      state.metrics.append(metric)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if starts { _ = HostThread.start("sh-metrics") { run() } }
  }

  private static func run() {
    while true {
      pause()
      let now = hkt_now_ns()
      for metric in state.withLock({ $0.metrics }) where metric.due.load(ordering: .relaxed) <= now {
        metric.due.store(now &+ metric.every, ordering: .relaxed)
        metric.write(isLast: false)
      }
    }
  }

  /// Writes all of them; the program ends.
  static func finish() { for metric in state.withLock({ $0.metrics }) { metric.write(isLast: true) } }
}
