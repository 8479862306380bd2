// CallView — a call in flight, as layer functions see it.
package import CHookTrampoline
private import SwiftMangling

/// Valid during the layer function it was given to.
package struct CallView {
  package let call: UnsafeMutablePointer<HKTCall>
  package init(_ call: UnsafeMutablePointer<HKTCall>) { self.call = call }

  package var frame: UnsafeMutablePointer<HKTFrame> { call.pointee.frame }
  /// The plan of the body that was entered, with the types of this call where it is generic.
  package var plan: CallPlan {
    unmanagedPlan.takeUnretainedValue().concrete(in: call.pointee.frame, isOver: call.pointee.state & UInt32(HKT_CALL_ORIGINAL_RAN) != 0)
  }
  /// What it reads is borrowed: no reference is counted. `body` is no key path: those check for exclusive access even of what never changes.
  @inline(__always)
  func withPlan<R>(_ body: (CallPlan) -> R) -> R { unmanagedPlan._withUnsafeGuaranteedRef(body) }
  // HookedBody retained the plan for ever when it filled in the record.
  @inline(__always)
  private var unmanagedPlan: Unmanaged<CallPlan> { Unmanaged.fromOpaque(call.pointee.body.pointee.plan) }
  /// It may end on another thread. Of a selector's bodies some may be async: the witness of an async requirement is, whose method is not.
  package var isAsync: Bool { call.pointee.site.pointee.flags & UInt64(HKT_SITE_ASYNC) != 0 }
  /// Hooked calls around this one on the thread; around an async call, in its task.
  package var depth: Int {
    Int(isAsync ? hkt_async_depth(call) : hkt_call_depth(call))
  }
  package var durationNanoseconds: UInt64 { hkt_call_duration_ns(call) }
  /// errno of the program: as the caller left it; once the original ran, as that did.
  package var errno: Int32 { call.pointee.error_number }
  /// The result is what C functions return when errno tells why: -1 (of any type), or NULL.
  package var saysFailure: Bool {
    switch withPlan({ $0.resultSlot }).kind {
    case .int32: Int32(truncatingIfNeeded: frame.pointee.results.integer.0) == -1
    case .int64, .uint64: frame.pointee.results.integer.0 == .max
    case .none: [0, .max].contains(frame.pointee.results.integer.0) && withPlan { $0.result.info?.size == 8 }
    default: false
    }
  }
  package var reader: ValueReader { ValueReader(call.pointee.frame) }

  /// The error the original threw (a box reference), 0 for none. Only after the original ran.
  package var thrownError: UInt {
    guard withPlan({ $0.mayReturnError }) else { return 0 }
    let error = frame.pointee.results.error
    if errorIsNotCertain { return 0 }
    // A getter that throws a typed error has 1 there, and its name tells neither that it throws nor what.
    return error == frame.pointee.error_register || error == 1 ? 0 : UInt(error)
  }
  /// Neither the original's type nor its caller's code tells whether it threw: it counts as having thrown an error of unknown type.
  package var errorIsNotCertain: Bool { call.pointee.state & UInt32(HKT_CALL_ERROR_IS_NOT_CERTAIN) != 0 }
  /// The original ran and threw, so its result is not there.
  package var didThrow: Bool {
    withPlan { $0.mayReturnError || $0.throwsTyped } && frame.pointee.results.error != frame.pointee.error_register
  }

  /// The error the original threw, as any function would throw it: one reference, valid until the call is over. 0 for none,
  /// and where the type of a typed error is not known.
  package func errorBox() -> UInt {
    if withPlan({ !$0.throwsTyped }) { return thrownError }
    guard didThrow, let thrown = plan.thrownValue, let info = thrown.info else { return 0 }
    let box = reader.withMemory(thrown.location, info, isResult: true) { ErrorBox.copying($0, info) } ?? nil
    guard let box else { return 0 }
    ValueWriter(call).keepUntilEnd(box)
    return box.memory.load(as: UInt.self)
  }

  /// A `deinit`: there is no self any more when it is over.
  package var selfEndsWithCall: Bool { plan.selfEndsWithCall }
  /// The class instance the method runs on, borrowed for the call; nil once the call has ended it, and of what an initialiser makes.
  package var selfObject: UnsafeRawPointer? { withPlan { $0.makesSelf } ? nil : selfAddress }
  /// Where that instance is, or will be: tells calls on one from calls on another, and is not to be looked at.
  package var selfAddress: UnsafeRawPointer? {
    let (slot, endsSelf) = withPlan { ($0.selfSlot, $0.consumesSelf) }
    if endsSelf, call.pointee.state & UInt32(HKT_CALL_ORIGINAL_RAN) != 0 { return nil }
    if case .object = slot.kind { return slot.place.address(in: frame).load(as: UnsafeRawPointer?.self) }
    guard case .object(let place) = plan.selfPlan else { return nil }
    return UnsafeRawPointer(bitPattern: UInt(reader.argumentWord(place)))
  }
  /// The class of the object that the record says the call is on, while it is there for certain; 0 where that is not known.
  @inline(__always)
  var classAtEntry: UInt {
    // Every call has its record and its frame.
    let at = call.pointee.body.unsafelyUnwrapped.pointee.self_at
    guard at != UInt16(HKT_SELF_UNKNOWN), call.pointee.state & UInt32(HKT_CALL_ORIGINAL_RAN) == 0 else { return 0 }
    // An object, or a class, which is one to memory; nil where a word that was Optional in the source is none.
    let word = (UnsafeRawPointer(call.pointee.frame.unsafelyUnwrapped) + Int(at)).load(as: UnsafeRawPointer?.self)
    return word?.load(as: UInt.self) ?? 0
  }
  /// The class of that instance, or what it was when the call began; of what runs on a class, that. 0 where it is not known.
  @inline(__always)
  package var selfClass: UInt {
    let (slot, endsSelf) = withPlan { ($0.selfSlot, $0.consumesSelf) }
    if endsSelf, call.pointee.state & UInt32(HKT_CALL_ORIGINAL_RAN) != 0 { return UInt(call.pointee.self_class) }
    guard case .object = slot.kind else { return classBySelfPlan }
    return slot.place.address(in: frame).load(as: UnsafeRawPointer?.self)?.load(as: UInt.self) ?? 0
  }

  /// That class, where self is no object that lies in a word of the frame.
  private var classBySelfPlan: UInt {
    if case .metatype(let place) = plan.selfPlan { return UInt(reader.argumentWord(place)) }
    return selfObject?.load(as: UInt.self) ?? 0
  }
}
