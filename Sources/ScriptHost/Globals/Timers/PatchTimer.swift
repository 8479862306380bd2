// PatchTimer — one `timer.after` or `timer.every`: when it is due, what it calls, and how it ends.
//
// It ends when it is cancelled, after its only call, with its target, with its patch, or when its handler failed too often. Its target is
// never kept by it.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
private import Synchronization

/// Any thread.
final class PatchTimer: @unchecked Sendable {
  // Set in init, but for `due`, which belongs to the list of its patch, and what is atomic or has a lock. `patch` and `target` are weak,
  // which the runtime makes safe on all threads.
  private weak var patch: Environment?
  private weak var target: AnyObject?
  private let hasTarget: Bool
  private let targetType: String
  private let function: SHLRef
  /// Between calls, in nanoseconds; nil: it calls once.
  let interval: UInt64?
  /// Calls go by the main queue.
  let isOnMain: Bool
  /// Where the script made it: `rounding.lua:3`.
  let place: String
  private let breaker = Breaker()
  private let life = Mutex(Life())
  private struct Life {
    var isOver = false
    /// Its function is kept until they have returned: the reference of one that is forgotten may stand for another value at once.
    var calls = 0
  }
  /// A call waits in the main queue since then; 0: none does.
  private let posted = Atomic<UInt64>(0)
  private let reportedQueue = Atomic<Bool>(false)
  /// When it calls next, in nanoseconds by CLOCK_MONOTONIC. Guarded by the list's lock.
  var due: UInt64

  /// - Parameter function: a reference that the timer forgets when it ends.
  init(_ function: SHLRef, of patch: Environment, due: UInt64, interval: UInt64?, target: AnyObject?, isOnMain: Bool, place: String) {
    self.patch = patch
    self.function = function
    self.due = due
    self.interval = interval
    self.target = target
    hasTarget = target != nil
    targetType = target.map { Instance.typeName(UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque())) } ?? ""
    self.isOnMain = isOnMain
    self.place = place
  }

  var hasEnded: Bool { life.withLock { $0.isOver } }

  /// No call begins any more. False when it had ended before.
  @discardableResult
  func end() -> Bool {
    let former = life.withLock { life in
      defer { life.isOver = true }
      return life
    }
    if !former.isOver, former.calls == 0, let patch { shl_forget(patch.state, function) }
    return !former.isOver
  }

  /// Calls the function, unless it has ended.
  private func run(_ patch: Environment, _ target: AnyObject?) -> HostCall.Outcome? {
    let begins = life.withLock { life in
      if !life.isOver { life.calls += 1 }
      return !life.isOver
    }
    guard begins else { return nil }
    let outcome = HostCall.run(function, of: patch) { _, bridge in
      target.map { [bridge.reference(UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()))] } ?? []
    }
    let isLast = life.withLock { life in
      life.calls -= 1
      return life.isOver && life.calls == 0
    }
    if isLast { shl_forget(patch.state, function) }
    return outcome
  }

  /// It is due: calls, or has the main queue call. On the thread of the patch's timers, without a lock.
  func fire(_ now: UInt64) {
    guard !hasEnded, let patch else { return }
    if hasTarget, target == nil { return endWithTarget(patch) }
    guard isOnMain else { return call(patch) }
    let since = posted.load(ordering: .relaxed)
    if since != 0 { return tellOfQueue(now, since, patch) }
    guard let queue = MainQueue.shared else { return }
    posted.store(now, ordering: .relaxed)
    queue.add { [self] in
      posted.store(0, ordering: .relaxed)
      // Its patch may have been switched off or unloaded meanwhile.
      if let patch = self.patch, patch.isLive { call(patch) }
    }
  }

  /// So long a call waits for the main queue before that is reported, in nanoseconds.
  static let patience: UInt64 = 5_000_000_000

  /// When it is to be looked at whether the main queue has made its call; nil: none waits, or it was reported.
  var looksAt: UInt64? {
    let since = posted.load(ordering: .relaxed)
    return since == 0 || reportedQueue.load(ordering: .relaxed) ? nil : since + Self.patience
  }

  /// A queue that nobody serves is no error of anybody's, and would make a timer that silently never calls.
  func tellOfQueue(_ now: UInt64, _ since: UInt64, _ patch: Environment? = nil) {
    guard now >= since + Self.patience, let patch = patch ?? self.patch, !reportedQueue.exchange(true, ordering: .relaxed) else { return }
    patch.log.say("\(place): the timer's call waits for the main queue since \((now - since) / 1_000_000_000) s; the program may not serve it")
  }
  func lookAtQueue(_ now: UInt64) {
    let since = posted.load(ordering: .relaxed)
    if since != 0 { tellOfQueue(now, since) }
  }

  private func call(_ patch: Environment) {
    guard !hasEnded else { return }
    // Kept while the call runs, and no longer.
    let target = self.target
    if hasTarget, target == nil { return endWithTarget(patch) }
    guard let outcome = run(patch, target) else { return }
    if interval == nil { end() }
    switch outcome {
    case .done: break
    case .skipped(let why): patch.skipped(name, why)
    case .failed(let text, let isCostly): failed(text, isCostly, patch)
    }
  }

  private var name: String { "timer.\(interval == nil ? "after" : "every")" }

  private func failed(_ text: String, _ isCostly: Bool, _ patch: Environment) {
    patch.failed(place, name, text, instead: interval == nil ? "it does not call again" : "it calls again when it is due")
    guard interval != nil else { return }
    guard isCostly ? breaker.open() : breaker.recordFailure() else { return }
    end()
    patch.disabled(place, name, failures: isCostly ? 1 : breaker.limit, seconds: breaker.windowSeconds, instead: "the timer has ended")
  }

  private func endWithTarget(_ patch: Environment) {
    guard end() else { return }
    let problem = "its target, a \(targetType), has ended"
    if let run = GuardRegistry.shared.active(.timers) {
      run.hit(name, problem, outcome: "the timer ended", script: place)
    } else {
      patch.log.guarded(
        GuardHit(guarded: .timers, mode: .contain, selector: name, problem: problem, outcome: "the timer ended", site: place), owner: patch.id,
        count: 1)
    }
  }
}
