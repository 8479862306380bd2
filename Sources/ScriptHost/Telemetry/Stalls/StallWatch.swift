// StallWatch — one thread of ours that looks, a few times per threshold, whether the places that are watched go on.
//
// What a stall is:
//   an event loop   its thread came back from a wait and has not come to the next one
//   a lock         its thread waits for it
//   a queue, the pool   a beat that was sent has not run, where one had run before; on the main queue also where dispatchMain was called
// A stall is recorded when its threshold is over, with the stack, and again with its length when it ends: one record of each.
// Time in which this thread did not run either (the process was stopped, the machine asleep or out of processors) does not count.
private import Glibc
internal import Journal
private import Synchronization

final class StallWatch: Sendable {
  static let shared = StallWatch()

  private struct State {
    var owners: [ObjectIdentifier: StallSettings] = [:]
    var log: HostLog?
    var isRunning = false
    /// Queues that were made with labels that are watched.
    var queues: [WatchedQueue] = []
  }
  struct WatchedQueue {
    let label: String
    let address: UInt
    let beat: QueueBeat
  }
  private let state = Mutex(State())

  /// Watches what `settings` say, for an owner: its earlier wishes are replaced. Any thread.
  /// - Returns: What cannot be watched, one sentence each.
  func watch(_ settings: StallSettings, owner: ObjectIdentifier, log: HostLog) -> [String] {
    var problems: [String] = []
    if settings.main != nil || settings.loops != nil { problems += LoopWaits.install() }
    if settings.locks != nil { problems += LockWaits.install() }
    if !settings.queues.isEmpty { problems += NewQueues.install() }
    if settings.stacks, !ThreadStacks.canAsk {
      problems.append("stalls: the program handles SIGFPE itself; threads that run cannot be asked for their stacks")
    }
    let mustStart = state.withLock { state in
      state.owners[owner] = settings
      state.log = log
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if mustStart {
      let status = HostThread.start("sh-stalls") { self.run() }
      if status != 0 {
        state.withLock { $0.isRunning = false }
        problems.append("stalls: no thread can be made, \(String(cString: strerror(status))); nothing is watched")
      }
    }
    return problems
  }

  /// The owner's wishes end.
  func withdraw(owner: ObjectIdentifier) { state.withLock { $0.owners[owner] = nil } }

  /// A queue was made; kept and watched when its label is one of those.
  func queueMade(_ label: String, _ queue: UnsafeMutableRawPointer, keep: (UnsafeMutableRawPointer) -> Void) {
    state.withLock { state in
      guard state.owners.values.contains(where: { $0.queues[label] != nil }), let beat = QueueBeat.queue(queue) else { return }
      keep(queue)
      state.queues.append(WatchedQueue(label: label, address: UInt(bitPattern: queue), beat: beat))
    }
  }

  // MARK: The thread

  private func run() {
    var rounds = StallRounds()
    var last = monotonicNow()
    while true {
      let (settings, queues, log) = state.withLock { (StallSettings.all($0.owners.values), $0.queues, $0.log) }
      let pause = min(100_000_000, max(2_000_000, (settings.thresholds.min() ?? 400_000_000) / 4))
      var rest = timespec(tv_sec: 0, tv_nsec: Int(pause))
      nanosleep(&rest, nil)
      let now = monotonicNow()
      // Late by more than the pause itself: nobody ran.
      if now - last > 2 * pause + 20_000_000 { rounds.notBefore = now }
      last = now
      guard let log else { continue }
      rounds.look(settings, queues, log)
    }
  }
}
