// CallView+Inlined — what every call of a handler or a rule reads, where this module's optimiser can see it.
//
// swiftc 6.3 does not inline `package` functions of another module, whatever they are marked with; stored properties it
// does read in place. Keep in step with HookRuntime/Dispatch/CallView.swift.
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
    withPlan { $0.mayReturnError || $0.throwsTyped }
      && call.pointee.frame.pointee.results.error != call.pointee.frame.pointee.error_register
  }

  /// The original ends arguments or self. By patterns: comparing another module's enums is a call.
  @inline(__always)
  var consumes: Bool {
    withPlan { plan in
      if case .consumed = plan.selfUse { return true }
      return plan.consumesArguments
    }
  }

  /// The class of the instance the method runs on, or what it was when the call began: an initialiser that failed has ended
  /// the instance. Of what runs on a class, that. 0 for other kinds of `self`, and where it is not known.
  @inline(__always)
  var receiverClass: UInt {
    let (slot, isEnded) = withPlan { ($0.selfSlot, $0.consumesSelf) }
    if isEnded, call.pointee.state & UInt32(HKT_CALL_ORIGINAL_RAN) != 0 { return UInt(call.pointee.self_class) }
    guard case .object = slot.kind else { return selfClass }
    return slot.address(in: call).load(as: UnsafeRawPointer?.self)?.load(as: UInt.self) ?? 0
  }
}

extension CallView {
  /// The class that an object must be of, or inherit from, to be the call's result; nil where any of the declared type will do,
  /// and where it is not known.
  var resultClass: Metadata? {
    guard withPlan({ $0.resultIsOfSelf }) else { return nil }
    return UnsafeRawPointer(bitPattern: receiverClass).map(Metadata.init)
  }
}

extension ValueRecipe {
  /// Gives `body` the bytes of the argument as they would lie in memory; nil where there is no recipe. Valid only inside.
  @inline(__always)
  func withMemory<R>(_ call: UnsafeMutablePointer<HKTCall>, _ body: (UnsafeRawPointer) -> R) -> R? {
    switch kind {
    case .none: return nil
    case .address: return UnsafeRawPointer(bitPattern: parts.0.source.address(in: call.pointee.frame).load(as: UInt.self)).map(body)
    case .parts:
      // ValueRecipe.room
      return withUnsafeTemporaryAllocation(byteCount: 48, alignment: 16) { buffer in
        let memory = buffer.initializeMemory(as: UInt8.self, repeating: 0).baseAddress.map { UnsafeMutableRawPointer($0) }!
        copy(parts.0, call, memory)
        if count > 1 { copy(parts.1, call, memory) }
        if count > 2 { copy(parts.2, call, memory) }
        if count > 3 { copy(parts.3, call, memory) }
        return body(UnsafeRawPointer(memory))
      }
    }
  }

  /// Copies one part from the frame to its place in the value at `memory`.
  @inline(__always)
  private func copy(_ part: Part, _ call: UnsafeMutablePointer<HKTCall>, _ memory: UnsafeMutableRawPointer) {
    let source = UnsafeRawPointer(part.source.address(in: call.pointee.frame))
    let target = memory + Int(part.offset)
    if part.size == 8 {
      target.storeBytes(of: source.load(as: UInt64.self), as: UInt64.self)
    } else {
      target.copyMemory(from: source, byteCount: Int(part.size))
    }
  }
}

extension ValueSlot {
  /// The value's first byte. Results are there after the original ran.
  @inline(__always)
  func address(in call: UnsafeMutablePointer<HKTCall>) -> UnsafeMutableRawPointer { place.address(in: call.pointee.frame) }

  /// Puts a value there that is bits alone, as `StagedBits` has it; the slot is an argument's.
  /// - Returns: false: it held the same bits.
  @inline(__always)
  func put(_ bits: StagedBits, in call: UnsafeMutablePointer<HKTCall>) -> Bool {
    let address = address(in: call)
    var isNew = address.load(as: UInt64.self) != bits.0
    address.storeBytes(of: bits.0, as: UInt64.self)
    if case .string = kind {
      isNew = isNew || address.load(fromByteOffset: 8, as: UInt64.self) != bits.1
      address.storeBytes(of: bits.1, toByteOffset: 8, as: UInt64.self)
    }
    return isNew
  }

  /// The word that holds the integer; nil for kinds that are none and for what the kind cannot hold.
  @inline(__always)
  func bits(of value: Int64) -> UInt64? {
    switch kind {
    case .int64: UInt64(bitPattern: value)
    case .int32: Int32(exactly: value).map { UInt64(UInt32(bitPattern: $0)) }
    case .int16: Int16(exactly: value).map { UInt64(UInt16(bitPattern: $0)) }
    case .int8: Int8(exactly: value).map { UInt64(UInt8(bitPattern: $0)) }
    case .uint8: UInt8(exactly: value).map { UInt64($0) }
    case .uint16: UInt16(exactly: value).map { UInt64($0) }
    case .uint32: UInt32(exactly: value).map { UInt64($0) }
    case .uint64: UInt64(exactly: value)
    default: nil
    }
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
