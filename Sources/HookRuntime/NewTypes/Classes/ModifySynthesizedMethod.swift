// SynthesizedModify — the `modify` of a property whose getter or setter a new class overrides: `x.n += 1` gets, changes, sets.
//
// A coroutine of the older form (docs/abi-notes.md, "Coroutine accessors"): entered with a buffer of 32 bytes in rdi, it
// answers who goes on in rax and the address of a variable in rdx. What goes on is called with the buffer and whether the
// access is unwound; it sets in both cases, as what compilers make of `get` and `set` does.
internal import CHookTrampoline

/// Never freed, as its stub.
final class SynthesizedModify: Sendable {
  private let plan: CallPlan
  private let get: Callable
  private let set: Callable
  /// Where the new class has the two.
  private let getSlot: UInt
  private let setSlot: UInt

  /// - Parameters:
  ///   - plan: of the `modify` that is replaced.
  ///   - words: the metadata words that hold the getter and the setter.
  init(plan: CallPlan, get: Callable, set: Callable, words: (get: UnsafeRawPointer, set: UnsafeRawPointer)) {
    self.plan = plan
    self.get = get
    self.set = set
    getSlot = UInt(bitPattern: words.get)
    setSlot = UInt(bitPattern: words.set)
  }

  /// What the word at `place` is to hold instead of `former`.
  func install(at place: UnsafeRawPointer, former: UInt) throws(NewTypeError) -> UInt {
    let slot = try SynthesizedMethod.prepare(at: place, former: former)
    slot.site.pointee.owner = Unmanaged.passRetained(self).toOpaque()
    slot.site.pointee.handler = { frame, site in
      // `install` retained the object for its site.
      Unmanaged<SynthesizedModify>.fromOpaque(site!.pointee.owner)._withUnsafeGuaranteedRef { $0.begin(frame!) }
      return HKT_RETURN
    }
    hkt_enable(slot.site)
    return UInt(slot.ours)
  }

  /// One access, from its entry until it goes on. Kept by the first word of the caller's buffer.
  private final class Access {
    let of: SynthesizedModify
    let object: UInt
    let indices: [OwnedValue]
    let value: OwnedValue

    init(of synthesizedMethod: SynthesizedModify, object: UInt, indices: [OwnedValue], value: OwnedValue) {
      of = synthesizedMethod
      self.object = object
      self.indices = indices
      self.value = value
    }
  }

  /// Begins an access: reads the property and yields a copy, which the end of the access writes back.
  func begin(_ frame: UnsafeMutablePointer<HKTFrame>) {
    let object = UInt(frame.pointee.self_register)
    // The caller keeps the indices and the object until the access is over; copies cost little, and need no such promise.
    let indices = plan.arguments.map { argument in
      let copy = OwnedValue(uninitialized: argument.info!)  // `init` is given plans whose arguments are known
      _ = ValueReader(frame).withMemory(argument.location, copy.info, isResult: false) {
        copy.info.metadata.initialize(copy.memory, copying: $0)
      }
      return copy
    }
    _ = Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(bitPattern: object)!).retain()
    let access = Access(of: self, object: object, indices: indices, value: OwnedValue(uninitialized: get.result!))
    call(get, getSlot, access, first: nil, result: access.value.memory)
    let buffer = UnsafeMutableRawPointer(bitPattern: UInt(frame.pointee.integer.0))!
    buffer.storeBytes(of: Unmanaged.passRetained(access).toOpaque(), as: UnsafeMutableRawPointer.self)
    FrameAnswer(frame).yield(UInt(bitPattern: access.value.memory), then: Self.resume)
  }

  /// What goes on. Called as a swiftcc function of a pointer and a Bool, which C agrees with.
  private static let resume: UInt = {
    let code: @convention(c) (UnsafeMutableRawPointer, UInt32) -> Void = { buffer, _ in
      // `begin` put it there.
      let access = Unmanaged<Access>.fromOpaque(buffer.load(as: UnsafeMutableRawPointer.self)).takeRetainedValue()
      access.of.call(access.of.set, access.of.setSlot, access, first: access.value, result: nil)
      for index in access.indices { index.destroy() }
      ProgramCall.release(access.object)
    }
    return UInt(bitPattern: unsafeBitCast(code, to: UnsafeRawPointer.self))
  }()

  /// Calls what the class has in the slot now. Takes `first`.
  private func call(_ callable: Callable, _ slot: UInt, _ access: Access, first: OwnedValue?, result: UnsafeMutableRawPointer?) {
    withUnsafeTemporaryAllocation(byteCount: max(callable.blockBytes, 16), alignment: 16) { block in
      let block = block.baseAddress!
      var next = 0
      if let first {
        (block + callable.arguments[0].offset).copyMemory(from: first.memory, byteCount: first.info.size)
        first.forget()
        next = 1
      }
      for (index, value) in access.indices.enumerated() {
        value.info.metadata.initialize(block + callable.arguments[next + index].offset, copying: value.memory)
      }
      let entry = UnsafeRawPointer(bitPattern: slot)!.load(as: UInt.self)
      // Neither throws: a property that can fail has no `modify`.
      _ = callable.run(block, receiver: access.object, entry: entry, result: result)
    }
  }
}
