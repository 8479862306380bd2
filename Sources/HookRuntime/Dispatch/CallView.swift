// CallView — a call in flight, as layer functions see it.
package import CHookTrampoline
private import SwiftMangling

/// Valid during the layer function it was given to.
package struct CallView {
  package let call: UnsafeMutablePointer<HKTCall>
  package init(_ call: UnsafeMutablePointer<HKTCall>) { self.call = call }

  package var frame: UnsafeMutablePointer<HKTFrame> { call.pointee.frame }
  /// The plan of the body that was entered.
  package var plan: CallPlan { unmanagedPlan.takeUnretainedValue() }
  /// The same, without counting a reference.
  @inline(__always)
  func withPlan<R>(_ body: (CallPlan) -> R) -> R { unmanagedPlan._withUnsafeGuaranteedRef(body) }
  // HookedBody retained the plan for ever when it filled in the record.
  @inline(__always)
  private var unmanagedPlan: Unmanaged<CallPlan> { Unmanaged.fromOpaque(call.pointee.body.pointee.plan) }
  /// Hooked calls around this one on the thread; around an async call, in its task.
  package var depth: Int { Int(call.pointee.site.pointee.flags & UInt64(HKT_SITE_ASYNC) != 0 ? hkt_async_depth(call) : call.pointee.depth) }
  package var durationNanoseconds: UInt64 { hkt_call_duration_ns(call) }
  package var reader: ValueReader { ValueReader(call.pointee.frame) }

  /// The error the original threw (a box reference), 0 for none. Only after the original ran.
  package var thrownError: UInt {
    guard withPlan({ $0.mayReturnError }) else { return 0 }
    let error = frame.pointee.results.error
    return error == frame.pointee.error_register ? 0 : UInt(error)
  }
  /// A `deinit`: there is no self any more when it is over.
  package var selfEndsWithCall: Bool { plan.selfEndsWithCall }
  /// The class instance the method runs on, borrowed for the call; nil once the call has ended it.
  package var selfObject: UnsafeRawPointer? {
    if withPlan(\.consumesSelf), call.pointee.state & UInt32(HKT_CALL_ORIGINAL_RAN) != 0 { return nil }
    let slot = withPlan(\.selfSlot)
    if slot.kind == .object { return slot.address(in: frame).load(as: UnsafeRawPointer?.self) }
    guard case .object(let place) = plan.selfPlan else { return nil }
    return UnsafeRawPointer(bitPattern: UInt(reader.argumentWord(place)))
  }
}
