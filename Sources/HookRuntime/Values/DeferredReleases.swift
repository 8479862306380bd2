// DeferredReleases — old values of places that a handler's outcome has overwritten, ended when no caller can look at them any more.
//
// A caller that was compiled together with its callee may know what that does not write, and go on using the value it saw there
// before the call without a reference of its own; or it may sink its own retain of an argument it gives away past the call. So
// what an outcome takes out of an argument, a variable or a stored property is kept until the frame of whoever may have borrowed
// it is gone: a call of a hooked function that begins, or ends, further up the stack shows that. Where the code does not tell how
// large the frame is (call_sites.c), a value is kept until `capacity` others of its thread came after it, or the thread ends. Old values
// of async calls end with the call: their callers' frames are on no stack.
//
// What lies in a frame itself is not kept: nobody may count references there when the frame is gone.
package import CHookTrampoline
private import Synchronization

package final class DeferredReleases {
  /// Values one thread keeps at most.
  package static let capacity = 256
  /// How many values were ended because others came, while a caller might still have used them.
  package static var earlyCount: Int { early.load(ordering: .relaxed) }
  private static let early = Atomic<Int>(0)
  /// How many values of variables were left to callers that may end them by what they know: memory lost where they do not.
  package static var leftCount: Int { left.load(ordering: .relaxed) }
  private static let left = Atomic<Int>(0)
  static func countLeft() { left.add(1, ordering: .relaxed) }
  /// Leaves the value's references to whoever may end them.
  package static func leave(_ value: OwnedValue) {
    if !value.info.isTrivial { countLeft() }
    value.forget()
  }

  /// Who may have borrowed an old value.
  package enum Borrower {
    /// The function that made the call, alone.
    case caller
    /// It, of an argument that it gave away.
    case giver
    /// It, or those around it: what a property or a variable of theirs held.
    case callers

    fileprivate var frames: UInt32 {
      switch self {
      case .caller, .giver: 1
      case .callers: 4
      }
    }
  }

  private struct Entry {
    let value: OwnedValue
    /// A call that begins above this address shows that the value's borrowers are gone.
    let end: UInt64
  }

  /// Oldest first.
  private var entries: [Entry] = []

  /// Says how the dispatcher ends what threads keep. Once, at start.
  static func install() {
    hkt_set_release_deferred { thread, stack in
      guard let thread, let list = thread.pointee.deferred else { return }
      // Only this file stores `deferred`.
      let queue = Unmanaged<DeferredReleases>.fromOpaque(list)
      if stack == .max {
        thread.pointee.deferred = nil
        return queue.takeRetainedValue().endAll()
      }
      queue.takeUnretainedValue().endGone(at: stack, thread)
    }
  }

  /// Takes the value, which the outcome of `call` has replaced. On the thread of the call.
  package static func keep(_ value: OwnedValue, replacedBy call: UnsafeMutablePointer<HKTCall>, borrowedBy borrower: Borrower) {
    if value.info.isTrivial { return value.forget() }
    guard let thread = call.pointee.thread, !value.liesInFrame, mayBeBorrowed(call, by: borrower) else { return value.destroy() }
    keep(value, until: end(of: call, borrower), thread)
  }

  /// The call's caller may have borrowed what its callee is known not to touch. What an argument's end is, callers in other modules
  /// of a package are reported, too; of all else they know as much only with luck, and then the value ends no later than it would.
  static func mayBeBorrowed(_ call: UnsafeMutablePointer<HKTCall>, by borrower: Borrower) -> Bool {
    // Nothing tells when the frame of an async function is gone, which may be never.
    guard call.pointee.is_async == 0, hkt_caller_may_know(call) else { return false }
    // Nothing that is borrowed is taken along where others may run meanwhile: a part of an async function that does nothing more before it is
    // left (a call to an actor is such) has no use for an old value, and its thread may never tell that it is gone.
    if hkt_call_site(hkt_caller_stack(call)[-1])?.pointee.leaves == true { return false }
    return if case .giver = borrower { true } else { !isByStranger(call) }
  }

  /// Where the frames of the borrowers end.
  static func end(of call: UnsafeMutablePointer<HKTCall>, _ borrower: Borrower) -> UInt64 {
    call.pointee.is_async != 0 ? .max : hkt_frames_end(hkt_caller_stack(call), borrower.frames)
  }

  /// Takes a value of a call that is over, on whatever thread it ended.
  static func keep(_ value: OwnedValue, until end: UInt64) {
    guard let thread = hkt_thread(), !value.liesInFrame else { return value.destroy() }
    keep(value, until: end, thread)
  }

  /// The call's caller is a function of another module, which looks for the properties of this one's objects anew.
  private static func isByStranger(_ call: UnsafeMutablePointer<HKTCall>) -> Bool {
    guard call.pointee.is_async == 0, call.pointee.site != nil, let plan = call.pointee.body.pointee.plan,
      let site = hkt_call_site(hkt_caller_stack(call)[-1])
    else { return false }
    // HookedBody retained the plan for ever when it filled in the record.
    let module = Unmanaged<CallPlan>.fromOpaque(plan)._withUnsafeGuaranteedRef { $0.module }
    return site.pointee.module != 0 && site.pointee.module != module
  }

  /// Takes a value that code of ours replaced while a handler ran on this thread; ends it at once where none does.
  package static func keep(_ value: OwnedValue) {
    if value.info.isTrivial { return value.forget() }
    guard let call = hkt_thread_if_known()?.pointee.top, mayBeBorrowed(call, by: .callers) else { return value.destroy() }
    keep(value, replacedBy: call, borrowedBy: .callers)
  }

  /// Puts the value into the thread's list, whose oldest one ends where it is full.
  private static func keep(_ value: OwnedValue, until end: UInt64, _ thread: UnsafeMutablePointer<HKTThread>) {
    if thread.pointee.deferred == nil { thread.pointee.deferred = Unmanaged.passRetained(DeferredReleases()).toOpaque() }
    // Only this file stores `deferred`.
    let queue = Unmanaged<DeferredReleases>.fromOpaque(thread.pointee.deferred).takeUnretainedValue()
    queue.entries.append(Entry(value: value, end: end))
    thread.pointee.deferred_end = min(thread.pointee.deferred_end, end)
    if queue.entries.count > capacity {
      early.add(1, ordering: .relaxed)
      queue.entries.removeFirst().value.destroy()
    }
  }

  /// Ends what was kept for frames below that address of the stack.
  private func endGone(at stack: UInt64, _ thread: UnsafeMutablePointer<HKTThread>) {
    let gone = entries.filter { $0.end < stack }
    entries.removeAll { $0.end < stack }
    thread.pointee.deferred_end = entries.lazy.map(\.end).min() ?? .max
    // What a deinit does may come back here.
    for entry in gone { entry.value.destroy() }
  }

  private func endAll() { for entry in entries { entry.value.destroy() } }
}

extension OwnedValue {
  /// One of its words leads into the frame of a function.
  fileprivate var liesInFrame: Bool {
    if case .object = info.kind, let object = memory.load(as: UnsafeRawPointer?.self) { return hkt_is_in_frame(object) }
    return info.isBorrowedFunction || hkt_frame_object_among(memory, info.size / 8) != nil
  }
}
