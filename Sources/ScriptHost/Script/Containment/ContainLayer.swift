// ContainLayer — the layer of `contain`: everything below it runs with a landing, and a trap there is answered by the script.
//
// It is the innermost layer of its function unless its priority says otherwise, so that the handlers around it see the answer as
// they would a result. After `limit` traps in `window` it lets calls pass, and the next trap ends the program: what traps again
// and again is broken, and each time something is lost.
private import CCrash
internal import CHookTrampoline
private import Glibc
internal import HookRuntime
private import Journal
private import Synchronization

/// Made by a patch, called from any thread.
final class ContainLayer: Sendable {
  /// Answers; never called without a trap.
  let hook: LuaHook
  private let limit: Int
  private let isOver = Atomic<Bool>(false)
  private let traps = Mutex<[UInt64]>([])

  static let usualLimit = 10
  static let window: UInt64 = 60
  /// Further in than what patches say.
  static let usualPriority = -1_000_000

  init(_ hook: LuaHook, limit: Int) {
    self.hook = hook
    self.limit = limit
    hook.ownCrumbs(of: Unmanaged.passUnretained(self).toOpaque())
  }

  /// Runs the original so that a trap in it comes back here, where the handler answers.
  func run(_ call: UnsafeMutablePointer<HKTCall>) -> HKTOutcome {
    let view = CallView(call)
    guard !isOver.load(ordering: .relaxed), !hook.isMismatch(view) else {
      hkt_call_proceed(call)
      return HKT_HANDLED
    }
    guard let trap = Containment.catching(keptBy: call.pointee.thread, { _ = hkt_call_proceed_contained(call, $0) }) else { return HKT_HANDLED }
    note(trap)
    return hook.answer(call, trap)
  }

  private func note(_ trap: ContainedTrap) {
    let place = trap.place
    let inside = place.map { $0 == hook.selector ? "" : " in '\($0)'" } ?? ""
    let patch = hook.patch
    let text = "\(patch.fileName):\(hook.line): '\(hook.selector)' trapped\(inside): \(trap.reason); contained"
    patch.log.contained(
      patch: patch.id, selector: hook.selector, position: "contain", message: text, signal: trap.signalName, place: place)
    let (count, isFirst) = traps.withLock { times in
      let now = hkt_now_ns()
      let isFirst = times.isEmpty
      times.removeAll { $0 + Self.window * 1_000_000_000 < now }
      times.append(now)
      // Without a limit nobody counts.
      if times.count > max(limit, 1) { times.removeFirst() }
      return (times.count, isFirst)
    }
    if isFirst { patch.log.say("\(text); what its frames held is lost") }
    guard limit > 0, count >= limit, !isOver.exchange(true, ordering: .relaxed) else { return }
    patch.log.say("\(patch.fileName):\(hook.line): '\(hook.selector)' trapped \(limit) times in \(Self.window) s and is not contained any more")
    patch.log.append(.failure, "containment over") { fields in
      fields.add("patch", patch.id)
      fields.add("selector", hook.selector)
      fields.add("traps", Int64(limit))
      fields.add("seconds", Self.window)
    }
  }
}

/// The layer of every `contain`.
let containLayer: HKTLayerFunction = { call, context, _ in
  guard let call, let context else { return HKT_HANDLED }
  // The context is the layer that the patch retained for this hook.
  let outcome = Unmanaged<ContainLayer>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.run(call) }
  if outcome == HKT_HANDLED { return outcome }
  // There is no result, and the original, which would run now, has run: further out somebody may have an answer.
  hkt_fall(Containment.last(call.pointee.thread))
  fatalError("a trap was contained, and its answer failed: there is nothing to return")
}
