// LoopWaits — which threads wait for events, and since when each is at work. Hooks on the functions by which event loops wait: a thread
// that comes to one is an event loop from then on, and is at work from its return until it comes again. Nothing is put into the program's
// queues or loops: `RunLoop.run(mode:before:)` would return for it.
private import CHookTrampoline
private import Glibc
internal import HookRuntime
private import Synchronization

/// A thread at work.
struct BusyLoop: Equatable {
  let thread: Int32
  /// CLOCK_MONOTONIC, nanoseconds.
  let since: UInt64
}

enum LoopWaits {
  /// Foundation's run loops wait in ppoll, everything else in epoll_wait. Not poll: programs wait for single files with it.
  private static let functions = ["C.ppoll", "C.epoll_wait", "C.epoll_pwait", "C.epoll_pwait2"]
  /// Since when a thread is at work; its last time at work.
  private static let loops = ThreadTimes(count: 64)
  private static let installed = Mutex(false)

  /// Begins to watch; more than once is once.
  /// - Returns: What is wrong, one sentence each.
  static func install() -> [String] {
    installed.withLock { installed in
      if installed { return [] }
      installed = true
      guard loops != nil else { return ["stalls: the process has no thread-local key left; event loops are not watched"] }
      return functions.flatMap { StallHooks.install($0, waitLayer, phases: HKT_ON_ENTER | HKT_ON_EXIT) }
    }
  }

  /// All threads that are at work since a wait.
  static func busy() -> [BusyLoop] {
    (loops?.entered ?? []).compactMap { thread, words in
      let since = words.pointee.since.load(ordering: .relaxed)
      return since == 0 ? nil : BusyLoop(thread: thread, since: since)
    }
  }

  /// Whether the thread ever waited.
  static func isLoop(_ thread: Int32) -> Bool { words(of: thread) != nil }

  /// How long the thread was at work from `since` on; nil where that was not its last time at work.
  static func lastBusy(_ thread: Int32, since: UInt64) -> UInt64? {
    guard let words = words(of: thread), words.pointee.lastSince.load(ordering: .acquiring) == since else { return nil }
    return words.pointee.lastTook.load(ordering: .relaxed)
  }

  private static func words(of thread: Int32) -> UnsafeMutablePointer<ThreadTime>? { loops?.entered.first { $0.thread == thread }?.words }

  /// The calling thread comes to a wait, or leaves it.
  fileprivate static func note(_ thread: Int32, isWaiting: Bool) {
    guard let words = loops?.own(thread, enters: isWaiting) else { return }
    let now = monotonicNow()
    let since = words.pointee.since.load(ordering: .relaxed)
    if isWaiting, since != 0 {
      words.pointee.lastTook.store(now - since, ordering: .relaxed)
      words.pointee.lastSince.store(since, ordering: .releasing)
    }
    words.pointee.since.store(isWaiting ? 0 : now, ordering: .releasing)
  }
}

private let waitLayer: HKTLayerFunction = { call, _, phase in
  // Every call has its thread.
  if let thread = call?.pointee.thread { LoopWaits.note(thread.pointee.tid, isWaiting: phase != HKT_EXIT) }
  return HKT_HANDLED
}
