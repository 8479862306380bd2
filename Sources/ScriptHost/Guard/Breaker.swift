// Breaker — takes a failing hook out before it becomes the program's problem.
private import CHookTrampoline
private import Synchronization

/// Opens after `limit` failures within the window, for good.
final class Breaker: Sendable {
  let limit = 5
  let windowSeconds: UInt64 = 60
  private let opened = Atomic<Bool>(false)
  private let failures = Mutex<[UInt64]>([])

  var isOpen: Bool { opened.load(ordering: .relaxed) }

  /// Opens at once: for a handler that took so much of the program's time that it must not do so again. True when this opened it.
  func open() -> Bool { !opened.exchange(true, ordering: .relaxed) }

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
    return isFull && !opened.exchange(true, ordering: .relaxed)
  }
}
