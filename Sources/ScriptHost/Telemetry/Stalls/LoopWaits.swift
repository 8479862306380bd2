// LoopWaits — which threads wait for events, and since when each is at work. Hooks on the functions by which event loops wait: a thread
// that comes to one is an event loop from then on, and is at work from its return until it comes again. Nothing is put into the program's
// queues or loops: `RunLoop.run(mode:before:)` would return for it.
private import CHookTrampoline
private import Glibc
internal import HookRuntime
private import Synchronization

/// What is known of one thread that waits. Written by that thread alone.
private struct LoopSlot: ~Copyable {
  /// The kernel's number; 0: nobody's.
  let thread = Atomic<Int32>(0)
  /// When the last wait ended, CLOCK_MONOTONIC; 0 while it waits.
  let busySince = Atomic<UInt64>(0)
  /// The last time at work: when it began, and how long it was.
  let lastSince = Atomic<UInt64>(0)
  let lastBusy = Atomic<UInt64>(0)
}

/// A thread at work.
struct BusyLoop: Equatable {
  let thread: Int32
  /// CLOCK_MONOTONIC, nanoseconds.
  let since: UInt64
}

enum LoopWaits {
  /// Foundation's run loops wait in ppoll, everything else in epoll_wait. Not poll: programs wait for single files with it.
  private static let functions = ["C.ppoll", "C.epoll_wait", "C.epoll_pwait", "C.epoll_pwait2"]
  private static let count = 64
  // Never freed; slots are atomics.
  nonisolated(unsafe) private static let slots: UnsafeMutablePointer<LoopSlot> = {
    let made = UnsafeMutablePointer<LoopSlot>.allocate(capacity: count)
    for index in 0..<count { (made + index).initialize(to: LoopSlot()) }
    return made
  }()
  private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    let made = pthread_key_create(&key) { slot in
      // Set to a slot of this table only.
      guard let slot = slot?.assumingMemoryBound(to: LoopSlot.self) else { return }
      slot.pointee.busySince.store(0, ordering: .relaxed)
      slot.pointee.thread.store(0, ordering: .releasing)
    }
    return made == 0 ? key : nil
  }()
  private static let installed = Mutex(false)

  /// Begins to watch; more than once is once.
  /// - Returns: What is wrong, one sentence each.
  static func install() -> [String] {
    installed.withLock { installed in
      if installed { return [] }
      installed = true
      guard key != nil else { return ["stalls: the process has no thread-local key left; event loops are not watched"] }
      return functions.flatMap(watch)
    }
  }

  private static func watch(_ function: String) -> [String] {
    var found: [(ImageCatalog, Family)] = []
    if case .success(let families) = SelectorLookup.resolve(function, suggesting: false) { found = families }
    @Sendable func layer(_: Family) -> LayerSpec {
      LayerSpec(
      function: waitLayer, context: nil, phases: UInt32(HKT_ON_ENTER | HKT_ON_EXIT), readsValues: false, owner: "stalls")
    }
    let report = HookEngine.shared.install(found.map { HookRequest(image: $0, family: $1, mayChoose: true) }, layer: layer)
    let known = Set(found.map { FamilyName($0.1) })
    _ = HookEngine.shared.wait(WaitRequest(selector: function, owner: "stalls", mayChoose: true, known: known, layer: layer))
    return report.refused.map { "stalls: '\($0.0)' is not watched: \($0.1)" }
  }

  /// All threads that are at work since a wait.
  static func busy() -> [BusyLoop] {
    (0..<count).compactMap { index in
      let thread = slots[index].thread.load(ordering: .acquiring)
      let since = slots[index].busySince.load(ordering: .relaxed)
      return thread != 0 && since != 0 ? BusyLoop(thread: thread, since: since) : nil
    }
  }

  /// Whether the thread ever waited.
  static func isLoop(_ thread: Int32) -> Bool { (0..<count).contains { slots[$0].thread.load(ordering: .acquiring) == thread } }

  /// How long the thread was at work from `since` on; nil where that was not its last time at work.
  static func lastBusy(_ thread: Int32, since: UInt64) -> UInt64? {
    guard let index = (0..<count).first(where: { slots[$0].thread.load(ordering: .acquiring) == thread }),
      slots[index].lastSince.load(ordering: .acquiring) == since
    else { return nil }
    return slots[index].lastBusy.load(ordering: .relaxed)
  }

  /// The calling thread comes to a wait, or leaves it.
  fileprivate static func note(_ thread: Int32, isWaiting: Bool) {
    guard let key else { return }
    // The key's values are slots of the table.
    if let slot = pthread_getspecific(key)?.assumingMemoryBound(to: LoopSlot.self) {
      let now = monotonicNow()
      if isWaiting {
        let since = slot.pointee.busySince.load(ordering: .relaxed)
        slot.pointee.lastBusy.store(now - since, ordering: .relaxed)
        slot.pointee.lastSince.store(since, ordering: .releasing)
      }
      return slot.pointee.busySince.store(isWaiting ? 0 : now, ordering: .releasing)
    }
    guard isWaiting else { return }
    for index in 0..<count where slots[index].thread.compareExchange(expected: 0, desired: thread, ordering: .acquiringAndReleasing).exchanged {
      pthread_setspecific(key, slots + index)
      return
    }
  }
}

private let waitLayer: HKTLayerFunction = { call, _, phase in
  // Every call has its thread.
  if let thread = call?.pointee.thread { LoopWaits.note(thread.pointee.tid, isWaiting: phase != HKT_EXIT) }
  return HKT_HANDLED
}
