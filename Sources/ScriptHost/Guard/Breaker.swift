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

  /// True when this failure opened it.
  func recordFailure() -> Bool {
    let now = hkt_now_ns()
    let isFull = failures.withLock { times in
      times.removeAll { now - $0 > windowSeconds * 1_000_000_000 }
      times.append(now)
      return times.count >= limit
    }
    return isFull && !opened.exchange(true, ordering: .relaxed)
  }
}
