// Breaker — takes a failing hook out before it becomes the program's problem.
internal import CHandler
private import CHookTrampoline
private import Synchronization

/// Opens after `limit` failures within the window, for good, and with it those that stand for parts of the same handler's work.
final class Breaker: @unchecked Sendable {
  // `cause` is read and written by atomic operations of C alone.
  /// What opened it.
  enum Cause: UInt8 {
    case none
    /// So many failures within the window.
    case failures
    /// It held the program up.
    case time
    /// The handler that it is a part of.
    case handler
  }

  let limit: Int
  let windowSeconds: UInt64 = 60
  /// A Cause, where C finds it that asks at every call.
  let cause: UnsafeMutablePointer<UInt8>
  private let failures = Mutex<[UInt64]>([])
  private let parts = Mutex<[Breaker]>([])

  init(limit: Int = 5) {
    self.limit = limit
    cause = .allocate(capacity: 1)
    cause.initialize(to: Cause.none.rawValue)
  }

  deinit { cause.deallocate() }

  /// A breaker that opens with this one, too.
  func part() -> Breaker {
    let part = Breaker()
    parts.withLock { $0.append(part) }
    if isOpen { _ = part.open(.handler) }
    return part
  }

  /// Asked by every call.
  @inline(__always)
  var isOpen: Bool { chandler_cause(cause) != Cause.none.rawValue }

  /// Why what it belongs to runs no more; nil while it is closed.
  var why: String? {
    switch Cause(rawValue: chandler_cause(cause)) ?? Cause.none {
    case Cause.none: nil
    case .failures: "switched off: it failed \(limit) times in \(windowSeconds) s"
    case .time: "switched off: it held the program up for too long"
    case .handler: "switched off: its handler failed too often, on several functions"
    }
  }

  /// Opens at once: for a handler that took so much of the program's time that it must not do so again. True when this opened it.
  func open(_ why: Cause = .time) -> Bool {
    guard chandler_open(cause, why.rawValue) else { return false }
    for part in parts.withLock({ $0 }) { _ = part.open(.handler) }
    return true
  }

  /// True when this failure opened it.
  /// - Parameter now: when it failed, in nanoseconds by CLOCK_MONOTONIC. Threads that fail at the same time come here in any order.
  func recordFailure(at now: UInt64 = hkt_now_ns()) -> Bool {
    let window = windowSeconds * 1_000_000_000
    let isFull = failures.withLock { times in
      // Never a difference: another thread may have noted a later time, and a number below zero would end the program.
      times.removeAll { $0 + window < now }
      times.append(now)
      return times.count >= limit
    }
    return isFull && open(.failures)
  }
}
