// LockWaits — which threads wait for a lock, since when, and who has it. Hooks on the functions by which images wait: pthread_mutex_lock and its
// like, and the futex call behind Swift's own Mutex.
//
// A layer here runs where its thread may have got a lock of anybody's: it writes words of its own, and does nothing else. What is recorded is read
// from them by the thread that watches stalls.
private import CHookTrampoline
private import Glibc
internal import HookRuntime
private import Synchronization

/// What is known of one thread. Written by that thread alone.
private struct LockSlot: ~Copyable {
  /// The kernel's number; 0: nobody's.
  let thread = Atomic<Int32>(0)
  /// When it began to wait, CLOCK_MONOTONIC; 0 while it does not.
  let since = Atomic<UInt64>(0)
  /// The thread that had the lock then; 0 where nothing tells.
  let holder = Atomic<Int32>(0)
  /// The longest of the waits that are over since the last look: when it began, and how long it was.
  let lastSince = Atomic<UInt64>(0)
  let lastTook = Atomic<UInt64>(0)
}

/// A thread that takes locks.
struct LockWait {
  let thread: Int32
  /// When the wait began; 0: it does not wait.
  let since: UInt64
  let holder: Int32?
  let lastSince: UInt64
  let lastTook: UInt64
}

enum LockWaits {
  fileprivate enum Kind: UInt, CaseIterable {
    /// pthread_mutex_t, whose word at 8 is the owner's thread.
    case mutex = 1
    /// A lock that does not tell who has it.
    case other
    /// syscall(SYS_futex, address, FUTEX_LOCK_PI…): the word has the owner's thread.
    case futex
  }
  private static let functions: [(String, Kind)] = [
    ("C.pthread_mutex_lock", .mutex), ("C.pthread_rwlock_rdlock", .other), ("C.pthread_rwlock_wrlock", .other), ("C.syscall", .futex),
  ]
  private static let count = 256
  // Never freed; slots are atomics.
  nonisolated(unsafe) private static let slots: UnsafeMutablePointer<LockSlot> = {
    let made = UnsafeMutablePointer<LockSlot>.allocate(capacity: count)
    for index in 0..<count { (made + index).initialize(to: LockSlot()) }
    return made
  }()
  private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    let made = pthread_key_create(&key) { slot in
      // Set to a slot of this table only.
      guard let slot = slot?.assumingMemoryBound(to: LockSlot.self) else { return }
      slot.pointee.since.store(0, ordering: .relaxed)
      slot.pointee.lastTook.store(0, ordering: .relaxed)
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
      guard key != nil else { return ["stalls: the process has no thread-local key left; locks are not watched"] }
      _ = slots
      let (hooks, problems) = functions.reduce(into: (0, [String]())) { sum, each in
        let (count, refused) = watch(each.0, each.1)
        sum.0 += count
        sum.1 += refused
      }
      return problems + (hooks == 0 ? ["stalls: no image of the program takes locks by functions of its own; locks are not watched"] : [])
    }
  }

  private static func watch(_ function: String, _ kind: Kind) -> (Int, [String]) {
    var found: [(ImageCatalog, Family)] = []
    if case .success(let families) = SelectorLookup.resolve(function, suggesting: false) { found = families }
    let report = HookEngine.shared.install(found.map { HookRequest(image: $0, family: $1, mayChoose: true) }) { _ in
      var spec = LayerSpec(
        function: lockLayer, context: UnsafeMutableRawPointer(bitPattern: kind.rawValue), phases: UInt32(HKT_ON_ENTER | HKT_ON_EXIT),
        readsValues: false, owner: "stalls")
      // It writes words of its own: the runtime's images, in which Mutex waits, may have it, too.
      spec.isSafeInAllocator = true
      return spec
    }
    // Not every function is imported by some image.
    return (report.tokens.count, report.tokens.isEmpty ? report.refused.map { "stalls: '\($0.0)' is not watched: \($0.1)" } : [])
  }

  /// All threads that took a lock; what was over before is told once.
  static func threads() -> [LockWait] {
    (0..<count).compactMap { index in
      let slot = slots + index
      let thread = slot.pointee.thread.load(ordering: .acquiring)
      guard thread != 0 else { return nil }
      let took = slot.pointee.lastTook.exchange(0, ordering: .acquiring)
      let holder = slot.pointee.holder.load(ordering: .relaxed)
      return LockWait(
        thread: thread, since: slot.pointee.since.load(ordering: .relaxed), holder: holder > 0 && holder != thread ? holder : nil,
        lastSince: slot.pointee.lastSince.load(ordering: .relaxed), lastTook: took)
    }
  }

  // MARK: The thread itself

  private static func slot(of thread: Int32) -> UnsafeMutablePointer<LockSlot>? {
    guard let key else { return nil }
    // The key's values are slots of the table.
    if let known = pthread_getspecific(key) { return known.assumingMemoryBound(to: LockSlot.self) }
    for index in 0..<count where slots[index].thread.compareExchange(expected: 0, desired: thread, ordering: .acquiringAndReleasing).exchanged {
      pthread_setspecific(key, slots + index)
      return slots + index
    }
    return nil
  }

  fileprivate static func begin(_ thread: Int32, holder: Int32) {
    guard let slot = slot(of: thread) else { return }
    slot.pointee.holder.store(holder, ordering: .relaxed)
    slot.pointee.since.store(monotonicNow(), ordering: .releasing)
  }

  fileprivate static func end(_ thread: Int32) {
    guard let slot = slot(of: thread) else { return }
    let since = slot.pointee.since.load(ordering: .relaxed)
    guard since != 0 else { return }
    let took = monotonicNow() &- since
    if took > slot.pointee.lastTook.load(ordering: .relaxed) {
      slot.pointee.lastSince.store(since, ordering: .relaxed)
      slot.pointee.lastTook.store(took, ordering: .releasing)
    }
    slot.pointee.since.store(0, ordering: .releasing)
  }
}

private let futexLock: UInt64 = 6  // FUTEX_LOCK_PI
private let futexPrivate: UInt64 = 128  // FUTEX_PRIVATE_FLAG
private let futexCall: UInt64 = 202  // SYS_futex

private let lockLayer: HKTLayerFunction = { call, context, phase in
  guard let call, let frame = call.pointee.frame, let thread = call.pointee.thread else { return HKT_HANDLED }
  if phase == HKT_EXIT {
    LockWaits.end(thread.pointee.tid)
    return HKT_HANDLED
  }
  // The context is the kind that the hook was made with. Arguments are where the calling convention has them.
  let integer = frame.pointee.integer
  var holder: Int32 = 0
  switch LockWaits.Kind(rawValue: UInt(bitPattern: context)) {
  case .mutex:
    holder = UnsafeRawPointer(bitPattern: UInt(integer.0))?.load(fromByteOffset: 8, as: Int32.self) ?? 0
  case .futex:
    guard integer.0 == futexCall, integer.2 & ~futexPrivate == futexLock, let word = UnsafeRawPointer(bitPattern: UInt(integer.1)) else {
      return HKT_HANDLED
    }
    holder = Int32(bitPattern: word.load(as: UInt32.self) & 0x3FFF_FFFF)
  default: break
  }
  LockWaits.begin(thread.pointee.tid, holder: holder)
  return HKT_HANDLED
}
