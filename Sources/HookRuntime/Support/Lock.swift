private import Glibc
private import Synchronization

/// A mutex that its own thread may take again. At a fixed address for its whole life. A thread is not cancelled while it has one
/// (pthread_cancel): nobody would ever give it back.
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
    let cancel = Cancellation.hold()
    Self.users.wrappingAdd(1, ordering: .relaxed)
    pthread_mutex_lock(mutex)
    defer {
      pthread_mutex_unlock(mutex)
      Self.users.wrappingSubtract(1, ordering: .relaxed)
      Cancellation.let(cancel)
    }
    return try body()
  }

  /// Threads that have or wait for a lock of this kind, each as often as it does.
  private static let users = Atomic<Int>(0)
  private static let usersAtFork = Atomic<Int>(0)
  private static let forksAreWatched: Bool = {
    // The child has one thread, which is here: what is counted is what others were at, for ever.
    pthread_atfork(nil, nil) { usersAtFork.store(users.load(ordering: .relaxed), ordering: .relaxed) } == 0
  }()

  /// From now on forked copies of the process know of locks that were held when they were made.
  package static func watchForks() { _ = forksAreWatched }
  /// In a forked copy: another thread held such a lock, which nobody lets go of here, and what it guards may be half done.
  package static var wereHeldAtFork: Bool { usersAtFork.load(ordering: .relaxed) > 0 }

  /// Runs `body` when no other thread has the lock; nil when one has.
  package func tryWithLock<R>(_ body: () -> R) -> R? {
    guard pthread_mutex_trylock(mutex) == 0 else { return nil }
    let cancel = Cancellation.hold()
    Self.users.wrappingAdd(1, ordering: .relaxed)
    defer {
      pthread_mutex_unlock(mutex)
      Self.users.wrappingSubtract(1, ordering: .relaxed)
      Cancellation.let(cancel)
    }
    return body()
  }
}

/// Whether the thread may be ended by `pthread_cancel`: it is unwound without what `defer` would do.
enum Cancellation {
  /// From now on it is not. Returns what `let` is to be given.
  static func hold() -> Int32 {
    var state: Int32 = 0
    pthread_setcancelstate(Int32(PTHREAD_CANCEL_DISABLE), &state)
    return state
  }
  static func `let`(_ state: Int32) { pthread_setcancelstate(state, nil) }
}
