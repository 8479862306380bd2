// ValueWriter — replaces arguments and results of a call in its frame. The one writer of saved registers.
package import CHookTrampoline

/// A value in memory of its own. Move-only in spirit: exactly one owner destroys or gives it away.
package struct OwnedValue {
  package let memory: UnsafeMutableRawPointer
  package let info: TypeInfo

  /// Uninitialised memory for one value.
  package init(uninitialized info: TypeInfo) {
    self.info = info
    // Whole registers are read of it, also where the last one holds less.
    let room = (max(info.size, 1) + 15) / 16 * 16
    memory = .allocate(byteCount: room, alignment: max(info.alignment, 16))
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: room)
  }
  /// Takes over a value made by another OwnedValue that was forgotten bit by bit.
  package init(adopting memory: UnsafeMutableRawPointer, _ info: TypeInfo) {
    self.memory = memory
    self.info = info
  }
  /// Ends the value and frees its memory.
  package func destroy() {
    if !info.isTrivial { info.metadata.destroy(memory) }
    memory.deallocate()
  }
  /// Frees the memory only: the value was given away bit by bit.
  package func forget() { memory.deallocate() }
  package func copy() -> OwnedValue {
    let copy = OwnedValue(uninitialized: info)
    info.metadata.initialize(copy.memory, copying: memory)
    return copy
  }
}

package struct ValueWriter {
  package let call: UnsafeMutablePointer<HKTCall>
  private let frame: UnsafeMutablePointer<HKTFrame>
  package init(_ call: UnsafeMutablePointer<HKTCall>) {
    self.call = call
    frame = call.pointee.frame
  }

  /// Set once at start: how the dispatcher releases what calls kept alive.
  static func installReleaseHandler() {
    hkt_set_release_values { list in Unmanaged<ReleaseBox>.fromOpaque(list!).release() }
    hkt_set_restore_arguments { call, index in ValueWriter(call!).restoreArguments(of: index) }
  }

  /// What the call ends when it is over.
  private var releases: ReleaseBox {
    if call.pointee.releases == nil { call.pointee.releases = Unmanaged.passRetained(ReleaseBox()).toOpaque() }
    call.pointee.state |= UInt32(HKT_CALL_MUST_RETURN)
    // Only this file stores `releases`.
    return Unmanaged<ReleaseBox>.fromOpaque(call.pointee.releases!).takeUnretainedValue()
  }

  private func release(_ value: OwnedValue) { releases.values.append(value) }

  // MARK: Arguments of layers further out

  /// To be called before a layer puts new arguments into the frame: layers around it go on with those they passed.
  package func noteArguments() {
    let index = call.pointee.index
    let isInner = index > call.pointee.first
    // Without a layer that comes back to work nobody looks at them again.
    guard isInner, canReleaseAfterCall, let layers = call.pointee.layers, layers.pointee.phases & UInt32(HKT_ON_AROUND | HKT_ON_EXIT) != 0 else {
      return
    }
    let releases = releases
    if releases.replaced.last?.index == index { return }
    // HookedBody retained the plan for ever when it filled in the record.
    let plan = call.pointee.body.pointee.plan.map { Unmanaged<CallPlan>.fromOpaque($0) }
    let stackWords = plan?._withUnsafeGuaranteedRef { $0.argumentWords } ?? 0
    let words = 6 + 16 + stackWords
    let memory = UnsafeMutablePointer<UInt64>.allocate(capacity: words)
    Self.copyArguments(between: frame, and: memory, stackWords, isSaving: true)
    releases.replaced.append(ReplacedArguments(index: index, stackWords: stackWords, memory: memory))
    call.pointee.state |= UInt32(HKT_CALL_REPLACED)
  }

  /// The layer of this index is over.
  private func restoreArguments(of index: UInt32) {
    guard let list = call.pointee.releases else { return }
    // Only this file stores `releases`.
    let releases = Unmanaged<ReleaseBox>.fromOpaque(list).takeUnretainedValue()
    while let last = releases.replaced.last, last.index >= index {
      Self.copyArguments(between: frame, and: last.memory, last.stackWords, isSaving: false)
      last.memory.deallocate()
      releases.replaced.removeLast()
    }
    if releases.replaced.isEmpty { call.pointee.state &= ~UInt32(HKT_CALL_REPLACED) }
  }

  /// The integer and vector registers of arguments, and their words on the stack, no more: what follows is the caller's. What was passed by
  /// address and not consumed lies where it lay: a replacement has memory of its own.
  private static func copyArguments(
    between frame: UnsafeMutablePointer<HKTFrame>, and memory: UnsafeMutablePointer<UInt64>, _ stackWords: Int, isSaving: Bool
  ) {
    func copy(_ place: UnsafeMutableRawPointer, _ kept: UnsafeMutableRawPointer, _ bytes: Int) {
      if isSaving { kept.copyMemory(from: place, byteCount: bytes) } else { place.copyMemory(from: kept, byteCount: bytes) }
    }
    let base = UnsafeMutableRawPointer(frame)
    copy(base + MemoryLayout<HKTFrame>.offset(of: \.integer)!, memory, 6 * 8)
    copy(base + MemoryLayout<HKTFrame>.offset(of: \.xmm)!, memory + 6, 8 * 16)
    if stackWords > 0 { copy(frame.pointee.stack, memory + 22, stackWords * 8) }
  }

  /// Keeps what the call's caller had given or was to get until the call is over, and on until the caller cannot use it any more.
  package func keepForCaller(_ value: OwnedValue, borrowedBy borrower: DeferredReleases.Borrower = .caller) {
    if value.info.isTrivial { return value.forget() }
    guard DeferredReleases.mayBeBorrowed(call, by: borrower) else { return release(value) }
    releases.kept.append((value, DeferredReleases.end(of: call, borrower)))
  }

  /// Takes the old value at `memory`, bit by bit, until nobody around the call can use it any more.
  private func retire(_ memory: UnsafeRawPointer, _ info: TypeInfo, borrowedBy borrower: DeferredReleases.Borrower) {
    if info.isTrivial { return }
    let old = OwnedValue(uninitialized: info)
    old.memory.copyMemory(from: memory, byteCount: info.size)
    DeferredReleases.keep(old, replacedBy: call, borrowedBy: borrower)
  }

  /// Frees the memory after the call; the callee ends what is in it.
  private func keepMemory(_ memory: UnsafeMutableRawPointer) {
    // Left by a jump, the call ends where we do not see it, and needs the memory until then.
    guard canReleaseAfterCall else { return }
    releases.memories.append(memory)
  }

  /// Whether a borrowed replacement can be released after the call: not when the call is left by a jump.
  package var canReleaseAfterCall: Bool { hkt_record_flags(call.pointee.body) & UInt32(HKT_BODY_ENTER_ONLY) == 0 }

  /// Replaces the argument of that number, whose plan most values do without.
  package func replace(_ index: Int, of plan: CallPlan, with value: OwnedValue) {
    if !plan.arguments[index].isInout { noteArguments() }
    let recipe = plan.recipes[index]
    guard case .parts = recipe.kind, !recipe.isConsumed else { return replace(plan.arguments[index], with: value) }
    recipe.put(value.memory, in: frame)
    if value.info.isTrivial { value.forget() } else { release(value) }
  }

  /// Puts `value` in the argument's place and takes ownership of it. The caller has checked that it is replaceable (`ArgumentPlan.isReplaceable`).
  func replace(_ argument: ArgumentPlan, with value: OwnedValue) {
    if !argument.isInout { noteArguments() }
    switch argument.location {
    case .optimizedOut, .unknown: value.destroy()
    case .parts(let parts): replace(parts, of: argument, with: value)
    case .address(let place):
      guard let target = UnsafeMutableRawPointer(bitPattern: UInt(ValueReader(frame).argumentWord(place))) else { return value.destroy() }
      if argument.isOwned, !argument.isInout {
        // The callee ends the value, but the memory may be the caller's variable still: a value too large for registers is
        // retained once more and its variable's address given. So the new value has memory of its own.
        retire(target, value.info, borrowedBy: .giver)
        setArgument(place, UInt64(UInt(bitPattern: value.memory)))
        keepMemory(value.memory)
      } else if argument.isInout {
        // The caller's variable. Where it may end the old value itself, by what it knows, one reference is lost rather than one too many given up.
        if !OutcomeReach.mayEndOldValue(of: argument, call) {
          retire(target, value.info, borrowedBy: .callers)
        } else if !value.info.isTrivial {
          DeferredReleases.countLeft()
        }
        target.copyMemory(from: value.memory, byteCount: value.info.size)
        value.forget()
      } else {
        setArgument(place, UInt64(UInt(bitPattern: value.memory)))
        release(value)
      }
    case .pieces(let pieces):
      if argument.isOwned, !value.info.isTrivial {
        _ = ValueReader(frame).withMemory(argument.location, value.info, isResult: false) {
          retire($0, value.info, borrowedBy: .giver)
        }
      }
      for piece in pieces { setArgument(piece, value.memory) }
      if argument.isOwned || value.info.isTrivial { value.forget() } else { release(value) }
    }
  }

  /// A value whose parts are passed in different ways. What is missing is not written.
  private func replace(_ parts: [ValuePart], of argument: ArgumentPlan, with value: OwnedValue) {
    if argument.isOwned, !value.info.isTrivial {
      _ = ValueReader(frame).withMemory(argument.location, value.info, isResult: false) {
        retire($0, value.info, borrowedBy: .giver)
      }
    }
    for part in parts {
      switch part.location {
      case .pieces(let pieces): for piece in pieces { setArgument(piece, value.memory) }
      // Never written where it lies: that may be the caller's variable still, or another argument's memory too.
      case .address(let place): setArgument(place, UInt64(UInt(bitPattern: value.memory + part.offset)))
      case .optimizedOut, .unknown, .parts: continue
      }
    }
    guard argument.isOwned else { return release(value) }
    if parts.contains(where: { if case .address = $0.location { true } else { false } }) {
      keepMemory(value.memory)
    } else {
      value.forget()
    }
  }

  /// Writes the bytes of `value` into the argument's place without ending what was there.
  package func overwrite(_ argument: ArgumentPlan, with value: OwnedValue) {
    switch argument.location {
    case .pieces(let pieces): for piece in pieces { setArgument(piece, value.memory) }
    case .address(let place):
      if argument.isOwned, !argument.isInout {
        let copy = OwnedValue(uninitialized: value.info)
        copy.memory.copyMemory(from: value.memory, byteCount: value.info.size)
        setArgument(place, UInt64(UInt(bitPattern: copy.memory)))
        return keepMemory(copy.memory)
      }
      guard let target = UnsafeMutableRawPointer(bitPattern: UInt(ValueReader(frame).argumentWord(place))) else { return }
      target.copyMemory(from: value.memory, byteCount: value.info.size)
    case .parts(let parts):
      for part in parts {
        switch part.location {
        case .pieces(let pieces): for piece in pieces { setArgument(piece, value.memory) }
        case .address(let place) where argument.isOwned:
          let copy = UnsafeMutableRawPointer.allocate(byteCount: max(part.size, 1), alignment: max(value.info.alignment, 16))
          copy.copyMemory(from: value.memory + part.offset, byteCount: part.size)
          setArgument(place, UInt64(UInt(bitPattern: copy)))
          keepMemory(copy)
        case .address(let place):
          guard let target = UnsafeMutableRawPointer(bitPattern: UInt(ValueReader(frame).argumentWord(place))) else { continue }
          target.copyMemory(from: value.memory + part.offset, byteCount: part.size)
        case .optimizedOut, .unknown, .parts: continue
        }
      }
    case .optimizedOut, .unknown: break
    }
  }

  /// The first bytes at `memory` as a word, of which the others are 0.
  fileprivate static func word(_ memory: UnsafeRawPointer, _ size: Int) -> UInt64 {
    var word: UInt64 = 0
    withUnsafeMutableBytes(of: &word) { $0.baseAddress!.copyMemory(from: memory, byteCount: min(size, 8)) }
    return word
  }

  /// Puts part of the value at `memory` into its place in the frame.
  private func setArgument(_ piece: Piece, _ memory: UnsafeRawPointer) { Self.set(piece, memory, in: frame) }
  private func setArgument(_ place: Place, _ word: UInt64) { Self.set(place, word, in: frame) }

  /// Part of the value at `memory`; a vector fills its register.
  static func set(_ piece: Piece, _ memory: UnsafeRawPointer, in frame: UnsafeMutablePointer<HKTFrame>) {
    if case .float(let i) = piece.place, piece.size > 8 {
      let target = UnsafeMutableRawPointer(frame) + MemoryLayout<HKTFrame>.offset(of: \.xmm)! + 16 * i
      return target.copyMemory(from: memory + piece.offset, byteCount: min(16, piece.size))
    }
    set(piece.place, word(memory + piece.offset, piece.size), in: frame)
  }

  /// Puts a word into a register or a stack slot of the frame.
  static func set(_ place: Place, _ word: UInt64, in frame: UnsafeMutablePointer<HKTFrame>) {
    let base = UnsafeMutableRawPointer(frame)
    switch place {
    case .integer(let i): (base + 8 * i).storeBytes(of: word, as: UInt64.self)
    case .float(let i): (base + MemoryLayout<HKTFrame>.offset(of: \.xmm)! + 16 * i).storeBytes(of: word, as: UInt64.self)
    case .stack(let i): frame.pointee.stack[i] = word
    case .selfRegister: frame.pointee.self_register = word
    case .indirectResult: frame.pointee.indirect_result = word
    case .yielded, .x87: break  // no argument
    }
  }

  /// Ends what a call without a dispatcher kept alive.
  func endCall() {
    guard let list = call.pointee.releases else { return }
    call.pointee.releases = nil
    Unmanaged<ReleaseBox>.fromOpaque(list).release()
  }

  /// The address of a C string with these bytes, which lives until the call is over. nil where its end is not seen.
  package func text(_ bytes: UnsafeRawBufferPointer) -> UInt? {
    guard canReleaseAfterCall else { return nil }
    let memory = CText.copy(bytes)
    keepMemory(memory)
    return UInt(bitPattern: memory)
  }

  /// Keeps a value alive until the call is over, for those who were borrowed it.
  package func keepUntilEnd(_ value: OwnedValue) { release(value) }

  // MARK: Results

  /// Takes the result out of the registers and keeps it until the call is over; the registers are free then.
  package func retireResult(_ result: ResultPlan) {
    guard let info = result.info, !info.isTrivial, result.isOwned else { return }
    _ = ValueReader(frame).withMemory(result.location, info, isResult: true) {
      let value = OwnedValue(uninitialized: info)
      // The bits are moved: the registers hold nothing any more.
      value.memory.copyMemory(from: $0, byteCount: info.size)
      keepForCaller(value)
    }
  }

  /// Takes the thrown error out of the results and keeps it until the call is over.
  package func retireError() {
    // 1 says that a typed error lies elsewhere: callers have seen to that.
    guard frame.pointee.results.error > 1 else { return }
    if let error = Self.reference(UInt(frame.pointee.results.error)) { keepForCaller(error) }
    frame.pointee.results.error = frame.pointee.error_register
  }

  /// Ends a typed error the original threw, wherever it is. False, with nothing changed, when its type is not known.
  package func retireTypedError(_ thrown: ResultPlan) -> Bool {
    guard let info = thrown.info, frame.pointee.results.error != 0 else { return false }
    let isThere: Void? = ValueReader(frame).withMemory(thrown.location, info, isResult: true) {
      // Moved out of the registers, or out of the caller's memory: the caller is notified that there is no error.
      let value = OwnedValue(uninitialized: info)
      value.memory.copyMemory(from: $0, byteCount: info.size)
      keepForCaller(value)
    }
    guard isThere != nil else { return false }
    frame.pointee.results.error = 0
    return true
  }

  /// Keeps an owned reference, to an error box or a closure's context, until the call is over.
  package func keepReferenceUntilEnd(_ object: UInt) {
    if let value = Self.reference(object) { release(value) }
  }

  private static func reference(_ object: UInt) -> OwnedValue? {
    guard object != 0, case .success(let info) = TypeResolver.shared.type(of: Metadata((any Error).self)) else { return nil }
    let value = OwnedValue(uninitialized: info)
    // `any Error` is one reference to a native object, and so is a context.
    value.memory.storeBytes(of: object, as: UInt.self)
    return value
  }

  /// The method was not run that would have used its self up: that ends with the call.
  package func useUpSelf(_ plan: CallPlan) {
    guard plan.selfUse == .consumed, case .object(let place) = plan.selfPlan else { return }
    if let object = Self.reference(UInt(ValueReader(frame).argumentWord(place))) { keepForCaller(object) }
  }

  /// Makes an error box the error the call throws, given away to the caller. Result and former error were retired before.
  package func setError(_ box: UInt) {
    frame.pointee.results.error = UInt64(box)
    frame.pointee.x87_count = 0
  }

  /// Makes `value` the error that a function which states its error's type throws, given away to the caller. Result and
  /// former error were retired before.
  package func setTypedError(_ thrown: ResultPlan, to value: OwnedValue) {
    switch thrown.location {
    case .pieces(let pieces): for piece in pieces { setResult(piece, value.memory) }
    case .address(let place):
      // Of an error without bytes, the address leads anywhere.
      let target = UnsafeMutableRawPointer(bitPattern: UInt(ValueReader(frame).argumentWord(place)))
      if value.info.size > 0 { target?.copyMemory(from: value.memory, byteCount: value.info.size) }
    case .parts, .optimizedOut, .unknown: return value.destroy()
    }
    frame.pointee.results.error = 1
    frame.pointee.x87_count = 0
    value.forget()
  }

  /// Makes `value` the result, given away to the caller.
  package func setResult(_ result: ResultPlan, to value: OwnedValue) {
    switch result.location {
    case .optimizedOut, .unknown: return value.destroy()
    case .address:
      guard let target = UnsafeMutableRawPointer(bitPattern: UInt(frame.pointee.indirect_result)) else { return value.destroy() }
      target.copyMemory(from: value.memory, byteCount: value.info.size)
      frame.pointee.results.integer.0 = frame.pointee.indirect_result
    case .pieces(let pieces): for piece in pieces { setResult(piece, value.memory) }
    case .parts(let parts):
      for part in parts {
        switch part.location {
        case .pieces(let pieces): for piece in pieces { setResult(piece, value.memory) }
        case .address(let place):
          guard let target = UnsafeMutableRawPointer(bitPattern: UInt(ValueReader(frame).argumentWord(place))) else { continue }
          (target + part.skip).copyMemory(from: value.memory + part.offset, byteCount: part.size)
          if place == .indirectResult { frame.pointee.results.integer.0 = frame.pointee.indirect_result }
        case .optimizedOut, .unknown, .parts: continue
        }
      }
    }
    value.forget()
  }

  /// Part of the value at `memory`; a vector fills its register.
  private func setResult(_ piece: Piece, _ memory: UnsafeRawPointer) {
    let base = UnsafeMutableRawPointer(frame) + MemoryLayout<HKTFrame>.offset(of: \.results)!
    let floats = base + MemoryLayout<HKTResults>.offset(of: \.xmm)!
    switch piece.place {
    case .x87(let i):
      ValueReader.x87(i, in: frame).copyMemory(from: memory + piece.offset, byteCount: min(10, piece.size))
      frame.pointee.x87_count = max(frame.pointee.x87_count, UInt64(i) + 1)
    case .float(let i) where piece.size > 8: (floats + 16 * i).copyMemory(from: memory + piece.offset, byteCount: min(16, piece.size))
    case .float(let i): (floats + 16 * i).storeBytes(of: Self.word(memory + piece.offset, piece.size), as: UInt64.self)
    case .integer(let i):
      let word = Self.word(memory + piece.offset, piece.size)
      // What comes before it in the register was stored before.
      let low = piece.skip == 0 ? 0 : (base + 8 * i).load(as: UInt64.self) & (1 << UInt64(8 * piece.skip) - 1)
      (base + 8 * i).storeBytes(of: low | word << UInt64(8 * piece.skip), as: UInt64.self)
    default: break
    }
  }
}

extension ValueRecipe {
  /// Puts the value at `memory` into its registers and slots; the recipe is one of parts.
  fileprivate func put(_ memory: UnsafeRawPointer, in frame: UnsafeMutablePointer<HKTFrame>) {
    withUnsafeBytes(of: parts) { parts in
      for part in parts.bindMemory(to: Part.self).prefix(Int(count)) {
        part.source.address(in: frame).storeBytes(of: ValueWriter.word(memory + Int(part.offset), Int(part.size)), as: UInt64.self)
      }
    }
  }
}

/// The values one call keeps alive; destroyed when the dispatcher lets go of it.
private final class ReleaseBox {
  var values: [OwnedValue] = []
  /// What the caller may use still, with the end of its frame.
  var kept: [(value: OwnedValue, end: UInt64)] = []
  /// Of values that were given away.
  var memories: [UnsafeMutableRawPointer] = []
  /// The innermost layer's last.
  var replaced: [ReplacedArguments] = []
  deinit {
    for each in replaced { each.memory.deallocate() }
    for value in values { value.destroy() }
    for (value, end) in kept { DeferredReleases.keep(value, until: end) }
    for memory in memories { memory.deallocate() }
  }
}

/// The arguments in a frame before the layer of that index replaced some of them.
private struct ReplacedArguments {
  let index: UInt32
  let stackWords: Int
  let memory: UnsafeMutablePointer<UInt64>
}
