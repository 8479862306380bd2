// LockWaits — which threads wait for a lock, since when, and who has it. Hooks on the functions by which images wait: pthread_mutex_lock and its
// like, and the futex call behind Swift's own Mutex.
//
// A layer here runs where its thread may have got a lock of anybody's: it writes words of its own, and does nothing else. What is recorded is read
// from them by the thread that watches stalls.
private import CHookTrampoline
private import Glibc
internal import HookRuntime
private import Synchronization

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
  /// Since when a thread waits, and for whom; the longest of its waits that are over since the last look.
  private static let waits = ThreadTimes(count: 256)
  private static let installed = Mutex(false)

  /// Begins to watch; more than once is once.
  /// - Returns: What is wrong, one sentence each.
  static func install() -> [String] {
    installed.withLock { installed in
      if installed { return [] }
      installed = true
      guard waits != nil else { return ["stalls: the process has no thread-local key left; locks are not watched"] }
      let (hooks, problems) = functions.reduce(into: (0, [String]())) { sum, each in
        let (count, refused) = watch(each.0, each.1)
        sum.0 += count
        sum.1 += refused
      }
      return problems + (hooks == 0 ? ["stalls: no image of the program takes locks by functions of its own; locks are not watched"] : [])
    }
  }

  private static func watch(_ function: String, _ kind: Kind) -> (Int, [String]) {
    let report = HookEngine.shared.install(StallHooks.requests(function)) { _ in
      var spec = LayerSpec(
        function: lockLayer, context: UnsafeMutableRawPointer(bitPattern: kind.rawValue), phases: UInt32(HKT_ON_ENTER | HKT_ON_EXIT),
        readsValues: false, owner: "stalls")
      // It writes words of its own: the runtime's images, in which Mutex waits, may have it, too.
      spec.isSafeInAllocator = true
      return spec
    }
    // Not every function is imported by some image.
    return (report.tokens.count, report.tokens.isEmpty ? StallHooks.problems(report) : [])
  }

  /// All threads that took a lock; what was over before is reported once.
  static func threads() -> [LockWait] {
    (waits?.entered ?? []).map { thread, words in
      let took = words.pointee.lastTook.exchange(0, ordering: .acquiring)
      let holder = words.pointee.holder.load(ordering: .relaxed)
      return LockWait(
        thread: thread, since: words.pointee.since.load(ordering: .relaxed), holder: holder > 0 && holder != thread ? holder : nil,
        lastSince: words.pointee.lastSince.load(ordering: .relaxed), lastTook: took)
    }
  }

  // MARK: The thread itself

  fileprivate static func begin(_ thread: Int32, holder: Int32) {
    guard let words = waits?.own(thread, enters: true) else { return }
    words.pointee.holder.store(holder, ordering: .relaxed)
    words.pointee.since.store(monotonicNow(), ordering: .releasing)
  }

  fileprivate static func end(_ thread: Int32) {
    guard let words = waits?.own(thread, enters: false) else { return }
    let since = words.pointee.since.load(ordering: .relaxed)
    guard since != 0 else { return }
    let took = monotonicNow() &- since
    if took > words.pointee.lastTook.load(ordering: .relaxed) {
      words.pointee.lastSince.store(since, ordering: .relaxed)
      words.pointee.lastTook.store(took, ordering: .releasing)
    }
    words.pointee.since.store(0, ordering: .releasing)
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
