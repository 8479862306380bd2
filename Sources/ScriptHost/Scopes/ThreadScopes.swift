// ThreadScopes — the scopes of the synchronous calls that run on one thread, innermost last.
//
// A call that is left without returning (longjmp, a contained trap) leaves its scope behind: scopes whose calls lie deeper in the stack
// than the call that asks are of calls that are gone.
internal import CHookTrampoline
private import Synchronization

/// It belongs to one thread, which alone uses it.
struct ThreadScopes {
  struct Entry {
    /// The record of the call, which lies on the thread's stack.
    var call: UInt
    /// What pushed it.
    var layer: UnsafeRawPointer
    /// The task that ran on the thread, 0 for none.
    var task: UInt64
    /// The entry owns it.
    var scope: Unmanaged<TraceScope>
  }

  /// Deeper recursion has no scopes.
  private var entries = GrowingStack<Entry>(most: 8192)
  /// Identifiers are drawn from it.
  private var random: UInt64 = 0

  /// Some rule passes a scope on to what is below it; until then nobody asks.
  private static let used = Atomic<Bool>(false)
  static var isUsed: Bool { used.load(ordering: .relaxed) }
  static func use() { used.store(true, ordering: .relaxed) }

  /// An identifier that no other span has.
  mutating func identifier() -> UInt64 {
    if random == 0 {
      var source = SystemRandomNumberGenerator()
      random = source.next()
    }
    random &+= 0x9e37_79b9_7f4a_7c15
    let value = mixed(random)
    return value == 0 ? 1 : value
  }

  /// Lets go of what calls that are gone left behind.
  private mutating func prune(_ call: UInt, _ layer: UnsafeRawPointer? = nil) {
    while entries.count > 0 {
      let top = entries[entries.count - 1]
      guard top.call < call || top.call == call && top.layer == layer else { return }
      top.scope.release()
      entries.count -= 1
    }
  }

  /// The innermost scope of what runs in the task on this thread; not owned.
  mutating func top(of call: UnsafeMutablePointer<HKTCall>, task: UInt64, layer: UnsafeRawPointer? = nil) -> Unmanaged<TraceScope>? {
    if call.pointee.is_async == 0 { prune(UInt(bitPattern: call), layer) }
    guard entries.count > 0, entries[entries.count - 1].task == task else { return nil }
    return entries[entries.count - 1].scope
  }

  /// Adds the scope of a call, which is owned from now on; false, with nothing taken, where there is no room.
  mutating func push(_ call: UnsafeMutablePointer<HKTCall>, _ layer: UnsafeRawPointer, task: UInt64, _ scope: TraceScope) -> Bool {
    guard entries.hasRoom() else { return false }
    entries.push(Entry(call: UInt(bitPattern: call), layer: layer, task: task, scope: .passRetained(scope)))
    return true
  }

  /// Takes the scope of a call out; the caller owns it. nil when it was not there.
  mutating func pop(_ call: UnsafeMutablePointer<HKTCall>, _ layer: UnsafeRawPointer) -> Unmanaged<TraceScope>? {
    let address = UInt(bitPattern: call)
    guard let index = (0..<entries.count).last(where: { entries[$0].call == address && entries[$0].layer == layer })
    else { return nil }
    while entries.count > index + 1 {
      entries[entries.count - 1].scope.release()
      entries.count -= 1
    }
    entries.count = index
    return entries[index].scope
  }
}
