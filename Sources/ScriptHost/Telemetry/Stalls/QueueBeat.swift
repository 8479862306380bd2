// QueueBeat — a piece of work that does nothing, sent to a queue or to the cooperative pool: when it runs, work there goes on.
private import Glibc
private import Journal
private import Synchronization

/// CLOCK_MONOTONIC in nanoseconds, as records have it.
func monotonicNow() -> UInt64 { clockNanoseconds(CLOCK_MONOTONIC) }

/// One place that is asked again and again, with one beat on its way at a time. Lives as long as the process: a beat may run late.
final class QueueBeat: Sendable {
  /// How a beat gets there. It must call `ran` once.
  private let send: @Sendable (QueueBeat) -> Void
  /// When the beat on its way was sent; 0: none is.
  private let sent = Atomic<UInt64>(0)
  /// How long the last one took.
  private let took = Atomic<UInt64>(0)
  private let beats = Atomic<UInt64>(0)

  init(_ send: @escaping @Sendable (QueueBeat) -> Void) { self.send = send }

  /// The pool on which tasks run.
  static let pool = QueueBeat { beat in Task.detached { beat.ran() } }

  /// A dispatch queue, which is kept for ever.
  static func queue(_ queue: UnsafeMutableRawPointer) -> QueueBeat? {
    guard let send = Dispatch.send else { return nil }
    let address = UInt(bitPattern: queue)
    return QueueBeat { beat in
      // `queue` never goes away; the beat is released when it has run.
      send(UnsafeMutableRawPointer(bitPattern: address)!, Unmanaged.passRetained(beat).toOpaque()) { beat in
        Unmanaged<QueueBeat>.fromOpaque(beat!).takeRetainedValue().ran()
      }
    }
  }

  /// The main queue, as far as `dispatchMain` serves it.
  static let mainQueue: QueueBeat? = Dispatch.mainQueue.flatMap { queue($0) }

  /// Whether one ever ran: before that nobody may serve the queue.
  var isServed: Bool { beats.load(ordering: .relaxed) > 0 }
  /// When the beat that has not run yet was sent; nil when all have run.
  var waitsSince: UInt64? {
    let since = sent.load(ordering: .acquiring)
    return since == 0 ? nil : since
  }
  var lastTook: UInt64 { took.load(ordering: .relaxed) }

  /// Sends the next one when the last has run.
  func beat() {
    guard sent.compareExchange(expected: 0, desired: monotonicNow(), ordering: .acquiringAndReleasing).exchanged else { return }
    send(self)
  }

  private func ran() {
    took.store(monotonicNow() - sent.load(ordering: .relaxed), ordering: .relaxed)
    beats.add(1, ordering: .relaxed)
    sent.store(0, ordering: .releasing)
  }
}

/// Functions of libdispatch, found by name: there is no module for C's side of it that brings nothing else along.
enum Dispatch {
  typealias Work = @convention(c) (UnsafeMutableRawPointer?) -> Void
  /// void dispatch_async_f(dispatch_queue_t, void *, dispatch_function_t)
  static let send = dlsym(nil, "dispatch_async_f").map {
    unsafeBitCast($0, to: (@convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer?, Work) -> Void).self)
  }
  /// The object `_dispatch_main_q`, which is what dispatch_get_main_queue answers.
  static var mainQueue: UnsafeMutableRawPointer? { dlsym(nil, "_dispatch_main_q") }

  /// The thread that works on a queue: libdispatch keeps its number in the queue's state, the lower two bits used otherwise.
  static func worker(of queue: UnsafeMutableRawPointer, among threads: [Int32]) -> Int32? {
    for offset in stride(from: 16, to: 128, by: 4) {
      let word = queue.load(fromByteOffset: offset, as: UInt32.self)
      if let thread = threads.first(where: { UInt32($0) == word & 0x3fff_ffff && $0 > 300 }) { return thread }
    }
    return nil
  }
}
