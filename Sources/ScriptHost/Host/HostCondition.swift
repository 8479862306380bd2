// HostCondition — a lock with a condition on which a thread of the host waits, also until a time.
private import Glibc

/// Any thread.
final class HostCondition: @unchecked Sendable {
  // Only the C library looks into them, and they lie still.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init() {
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    // The clock on the wall may be set.
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  func withLock<R>(_ body: () -> R) -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }

  /// With the lock held; it is not while the thread waits.
  /// - Parameter until: in nanoseconds by CLOCK_MONOTONIC; nil: for as long as nobody signals.
  func wait(until time: UInt64? = nil) {
    guard let time else {
      pthread_cond_wait(condition, mutex)
      return
    }
    var moment = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
    pthread_cond_timedwait(condition, mutex, &moment)
  }

  func signal() { pthread_cond_broadcast(condition) }
}
