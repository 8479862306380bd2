private import Glibc

/// A mutex that its own thread may take again. At a fixed address for its whole life.
package final class RecursiveLock: @unchecked Sendable {
  // The mutex is only touched through pthread calls, which synchronise.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  package init() {
    mutex = .allocate(capacity: 1)
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
    pthread_mutex_init(mutex, &attributes)
    pthread_mutexattr_destroy(&attributes)
  }
  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }
  package func withLock<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body()
  }
}
