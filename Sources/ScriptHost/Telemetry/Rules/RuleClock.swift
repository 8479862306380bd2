// RuleClock — what rules do some time after a call: one thread of the host, made when the first of them waits.
private import Glibc
internal import HookRuntime
private import Synchronization

enum RuleClock {
  private struct Due {
    let time: UInt64
    let body: @Sendable () -> Void
  }
  private struct State {
    /// The next one last.
    var waiting: [Due] = []
    var isRunning = false
  }
  private static let state = Mutex(State())
  /// Of more, the newest never happen: nobody taps so much.
  private static let most = 16_384
  /// The longest sleep: what becomes due sooner than what was waited for is late by no more.
  private static let pause: UInt64 = 5_000_000

  /// Has `body` done after so many nanoseconds, on the clock's thread. Any thread.
  static func after(_ nanoseconds: UInt64, _ body: @escaping @Sendable () -> Void) {
    let due = Due(time: monotonicNow() &+ nanoseconds, body: body)
    let starts = state.withLock { state in
      guard state.waiting.count < most else { return false }
      let index = state.waiting.firstIndex { $0.time < due.time } ?? state.waiting.count
      state.waiting.insert(due, at: index)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if starts, HostThread.start("sh-rules", { run() }) != 0 { state.withLock { $0.isRunning = false } }
  }

  /// Ends when nothing waits; the next one makes it anew.
  private static func run() {
    while true {
      let now = monotonicNow()
      let (due, next) = state.withLock { state -> ([Due], UInt64?) in
        var due: [Due] = []
        while let last = state.waiting.last, last.time <= now { due.append(state.waiting.removeLast()) }
        if due.isEmpty, state.waiting.isEmpty { state.isRunning = false }
        return (due, state.isRunning ? state.waiting.last?.time ?? now : nil)
      }
      for each in due { each.body() }
      guard let next else { return }
      guard due.isEmpty else { continue }
      var rest = timespec(tv_sec: 0, tv_nsec: Int(min(pause, max(100_000, next &- min(next, now)))))
      nanosleep(&rest, nil)
    }
  }
}
