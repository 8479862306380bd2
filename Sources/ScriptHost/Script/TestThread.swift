// TestThread — the thread that runs a patch's test: there a script may wait for an async function with its thread.
private import Glibc
private import Synchronization

enum TestThread {
  /// 0 while no test runs. One runs at a time.
  private static let thread = Atomic<UInt>(0)

  static func begin() { thread.store(UInt(pthread_self()), ordering: .relaxed) }
  static func end() { thread.store(0, ordering: .relaxed) }

  static var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }
}
