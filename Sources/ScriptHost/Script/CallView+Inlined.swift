// CallView+Inlined — what every call of a handler or a rule reads, where this module's optimiser can see it.
//
// swiftc 6.3 does not inline `package` functions of another module, whatever they are marked with; stored properties it
// does read in place. Keep in step with HookRuntime/Dispatch/CallView.swift and HookRuntime/Values/ValueSlot.swift.
internal import CHookTrampoline
internal import HookRuntime

extension CallView {
  /// Gives `body` the plan of the body that was entered, without counting a reference.
  @inline(__always)
  func withPlan<R>(_ body: (CallPlan) -> R) -> R {
    // HookedBody retained the plan for ever when it filled in the record.
    Unmanaged<CallPlan>.fromOpaque(call.pointee.body.pointee.plan)._withUnsafeGuaranteedRef(body)
  }

  /// The original ran and threw, so its result is not there.
  @inline(__always)
  var didThrow: Bool {
    withPlan { $0.mayReturnError || $0.throwsTyped } && call.pointee.frame.pointee.results.error != call.pointee.frame.pointee.error_register
  }

  /// The class instance the method runs on, borrowed for the call; nil for other kinds of `self`.
  @inline(__always)
  var receiver: UnsafeRawPointer? {
    let slot = withPlan { $0.selfSlot }
    if case .object = slot.kind { return slot.address(in: call).load(as: UnsafeRawPointer?.self) }
    return selfObject
  }
}

extension ValueSlot {
  /// The value's first byte. Results are there after the original ran.
  @inline(__always)
  func address(in call: UnsafeMutablePointer<HKTCall>) -> UnsafeMutableRawPointer {
    UnsafeMutableRawPointer(call.pointee.frame) + Int(offset)
  }

  /// The value as an integer, sign-extended; nil for kinds that are none and for what exceeds Int64.
  @inline(__always)
  func integer(at address: UnsafeRawPointer) -> Int64? {
    switch kind {
    case .int64: address.load(as: Int64.self)
    case .int32: Int64(address.load(as: Int32.self))
    case .int16: Int64(address.load(as: Int16.self))
    case .int8: Int64(address.load(as: Int8.self))
    case .uint8: Int64(address.load(as: UInt8.self))
    case .uint16: Int64(address.load(as: UInt16.self))
    case .uint32: Int64(address.load(as: UInt32.self))
    case .uint64: Int64(exactly: address.load(as: UInt64.self))
    default: nil
    }
  }
}
