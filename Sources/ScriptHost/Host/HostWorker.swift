// HostWorker — a host thread that does what requests ask for: one after the other, with the program's descriptors, so that
// scripts and what they call find the process as any other thread does.
private import Glibc
private import HookRuntime
private import Synchronization

/// Any thread may add work.
final class HostWorker: @unchecked Sendable {
  // Everything is guarded by `mutex`, which lies still.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var work: [@Sendable () -> Void] = []
  private let name: String

  /// Room as the program's main thread has it, for scripts.
  private static let stack = 8 << 20

  /// - Parameter name: of the thread.
  init(_ name: String) {
    self.name = name
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  /// Starts the thread; it runs as long as the process. Answers 0 or an errno.
  func start() -> Int32 { HostThread.start(name, stack: Self.stack) { self.run() } }

  func add(_ body: @escaping @Sendable () -> Void) {
    pthread_mutex_lock(mutex)
    work.append(body)
    pthread_cond_signal(condition)
    pthread_mutex_unlock(mutex)
  }

  private func run() -> Never {
    while true {
      pthread_mutex_lock(mutex)
      while work.isEmpty { pthread_cond_wait(condition, mutex) }
      let next = work.removeFirst()
      pthread_mutex_unlock(mutex)
      next()
    }
  }
}
