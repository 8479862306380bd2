// PatchTimers — the timers of one script, and the thread that calls them: made with the first timer, gone with the script.
//
// One call at a time, in the order in which they are due. A call that takes long delays those behind it and nothing else; calls that a
// repeating timer has missed are left out. While a patch is switched off, its timers that are due are passed by; while it is loaded, which may
// yet fail, they wait until it takes effect.
private import Glibc
internal import Journal

/// Any thread.
final class PatchTimers: @unchecked Sendable {
  // What changes is guarded by `condition`; `patch` is weak.
  private weak var patch: Environment?
  private let condition = HostCondition()
  private var timers: [PatchTimer] = []
  /// To be done as soon as the thread comes to it.
  private var works: [@Sendable () -> Void] = []
  private var isRunning = false
  private var isOver = false

  /// So many at most: a script that makes one at each call would hold them all.
  static let most = 10_000
  /// How long a timer of a patch that is being loaded waits until it looks again.
  private static let loadingPause: UInt64 = 2_000_000

  init(of patch: Environment) { self.patch = patch }

  /// Notes a timer; answers why it cannot be.
  func add(_ timer: PatchTimer) -> String? {
    condition.withLock {
      if isOver { return "the patch is unloaded" }
      timers.removeAll(where: \.hasEnded)
      if timers.count >= Self.most { return "the patch has \(Self.most) timers already; cancel some" }
      let status = begin()
      if status != 0 { return "no thread for timers, \(systemMessage(status))" }
      timers.append(timer)
      condition.signal()
      return nil
    }
  }

  /// Has the thread do something that must not be done where the caller stands.
  func soon(_ work: @escaping @Sendable () -> Void) {
    let isTaken = condition.withLock {
      guard !isOver, begin() == 0 else { return false }
      works.append(work)
      condition.signal()
      return true
    }
    if !isTaken { _ = HostThread.start("scripthost-end", work) }
  }

  /// Makes the thread where there is none, with the lock held; answers the errno of that.
  private func begin() -> Int32 {
    if isRunning { return 0 }
    let status = HostThread.start("scripthost-tmr", stack: 8 << 20) { [self] in work() }
    isRunning = status == 0
    return status
  }

  /// Ends all of them, and the thread. Does not wait for a call that runs.
  func end() {
    let ended = condition.withLock {
      isOver = true
      condition.signal()
      defer { timers = [] }
      return timers
    }
    for timer in ended { timer.end() }
  }

  // MARK: The thread

  private func work() {
    while let next = next() { next() }
  }

  /// Waits for what is to be done next; nil when all is over.
  private func next() -> (@Sendable () -> Void)? {
    condition.withLock {
      while true {
        if !works.isEmpty { return works.removeFirst() }
        if isOver { break }
        timers.removeAll(where: \.hasEnded)
        // A thread that has nothing to do does not keep its patch; the next timer finds it waiting here.
        guard let phase = patch?.installation.phase, phase != .removed else { break }
        let now = clockNanoseconds(CLOCK_MONOTONIC)
        for timer in timers where timer.looksAt.map({ $0 <= now }) ?? false { timer.lookAtQueue(now) }
        guard let timer = timers.filter({ $0.due != .max }).min(by: { $0.due < $1.due }) else {
          condition.wait(until: timers.compactMap(\.looksAt).min())
          continue
        }
        if timer.due > now {
          condition.wait(until: min(timer.due, timers.compactMap(\.looksAt).min() ?? .max))
          continue
        }
        if patch?.installation.isLoading ?? false {
          condition.wait(until: now + Self.loadingPause)
          continue
        }
        // The next time that is still to come; what was missed is left out.
        timer.due = timer.interval.map { timer.due + (now - timer.due) / $0 * $0 + $0 } ?? .max
        if phase == .disabled {
          if timer.interval == nil { timer.end() }
          continue
        }
        return {
          timer.fire(clockNanoseconds(CLOCK_MONOTONIC))
          if timer.interval == nil, !timer.isOnMain { timer.end() }
        }
      }
      isRunning = false
      return nil
    }
  }
}

extension Environment {
  /// What is done by the clock, or apart from a call; made when it is first asked for.
  var timers: PatchTimers { part(make: { PatchTimers(of: self) }, end: { $0.end() }) }
}
