// Callable — a function of the program made ready to be called: which body, and where each value goes.
//
// The body is the one every compiler-made caller of the declared convention could call: the base body, never a clone
// whose arguments were changed. Places come from the same plan that hooks read calls with, so what is proved for
// reading holds for calling. Made once per selector, kept for ever.
package import CHookTrampoline
private import Glibc
package import SwiftMangling

package final class Callable: @unchecked Sendable {
  // Immutable after init; the tables are allocated there and live as long as the object.

  /// Who `self` is.
  package enum Receiver: Sendable {
    case none
    /// An instance of the class or a subclass.
    case object(Metadata)
    /// The class itself or a subclass: class methods and allocating initialisers.
    case metatype(Metadata)
    /// A struct or enum, which lies in the block like an argument, behind them.
    case value(TypeInfo)
  }

  /// One argument in the block of a call.
  package struct Argument {
    /// Bytes from the start of the block.
    package let offset: Int
    /// `.none` for what is no scalar, string or object.
    package let kind: ValueSlot.Kind
    /// The callee leaves a value here that is the caller's: an extra result.
    package let isInout: Bool
    // Type infos are kept by the resolver for ever.
    fileprivate let unmanagedInfo: Unmanaged<TypeInfo>
    package var info: TypeInfo { unmanagedInfo.takeUnretainedValue() }
  }

  package let selector: String
  package let declaration: Declaration
  package let plan: CallPlan
  package let receiver: Receiver
  /// The body's address in this process.
  package let entry: UInt
  package let argumentCount: Int
  package let arguments: UnsafePointer<Argument>
  /// Bytes of the block that holds the arguments of one call; alignment 16.
  package let blockBytes: Int
  package let result: TypeInfo?
  package let resultKind: ValueSlot.Kind
  package let hasInout: Bool
  // What every call asks for: plain values, so that asking costs no reference count.
  /// Not to be called: what it is generic over, the arguments of each call tell. See `GenericFunction.callable`.
  package let generic: GenericFunction?
  package let isGeneric: Bool
  package let isOnObject: Bool
  package let isOnValue: Bool
  package let isAsync: Bool
  private let hasBorrowed: Bool
  private let hasResultAddresses: Bool
  /// Reads, and nothing else, as far as its name tells: a getter.
  package let isGetter: Bool
  /// The address of its async function pointer in this process; nil for what is not async.
  package let asyncPointer: UInt?

  /// Where in the block a struct's or enum's `self` goes.
  package let selfOffset: Int
  private let moves: UnsafePointer<Move>
  private let moveCount: Int
  private let returns: UnsafePointer<Move>
  private let returnCount: Int
  private let resultIsIndirect: Bool
  private let isOnX87: Bool
  private let receiverOffset: Int?
  let stackSlots: Int
  private let borrowed: [(offset: Int, info: TypeInfo)]
  private let thrown: Thrown?
  /// Metadata and witness tables, which are the same in all calls: the offset in the block.
  private let constants: [(offset: Int, word: UInt)]
  /// Results that go through an address beside others: the frame's place, and the offset in the result.
  private let resultAddresses: [(place: Int32, offset: Int)]
  /// Elements of the result that come packed, in memory of their own in the block.
  private let packed: [ValuePart]
  private let packedOffset: Int
  /// Takes `self` by address, and whether to change it is not known.
  private let mayChangeSelf: Bool
  /// The copy of `self` that a call works on may be left behind: whether the function consumes its self is not known.
  package let mayLeaveSelf: Bool
  /// The bits that `self` had, where they may change; behind them a byte says whether they did.
  private let bitsOffset: Int

  /// What no argument of the declaration is.
  struct Hidden {
    let place: Place
    let word: UInt
  }

  private struct Thrown {
    let info: TypeInfo
    /// Where it lies, in bytes from the start of the block.
    let offset: Int
    let returns: [Move]
  }

  /// One machine word (or vector) between the block and a frame.
  private struct Move {
    /// Bytes from the start of the frame; a stack slot's number, complemented, when negative.
    var place: Int32
    /// Bytes from the start of the block, or of the result.
    var memory: Int32
    var size: UInt8
    /// The place takes the address of the memory.
    var isAddress: Bool

    init(place: Int32, memory: Int32, size: UInt8, isAddress: Bool) {
      self.place = place
      self.memory = memory
      self.size = size
      self.isAddress = isAddress
    }

    /// Part of a result, which is in result registers.
    init(result piece: Piece) {
      let results = MemoryLayout<HKTFrame>.offset(of: \.results)!
      let place =
        switch piece.place {
        case .float(let i): results + MemoryLayout<HKTResults>.offset(of: \.xmm)! + 16 * i
        case .integer(let i): results + 8 * i
        case .x87(let i): MemoryLayout<HKTFrame>.offset(of: \.x87)! + 16 * i
        default: results
        }
      self.init(place: Int32(place + piece.skip), memory: Int32(piece.offset), size: UInt8(min(piece.size, 16)), isAddress: false)
    }
  }

  deinit {
    arguments.deallocate()
    moves.deallocate()
    returns.deallocate()
  }

  // MARK: Making

  /// - Parameters:
  ///   - entry: the body's address.
  ///   - ownType: the type it is a member of, where its name alone does not tell.
  ///   - known: who `self` is, where the declaration does not tell.
  init(
    _ declaration: Declaration, selector: String, plan: CallPlan, selfPlan: SelfPlan, entry: UInt, asyncPointer: UInt? = nil,
    hidden: [Hidden] = [], ownType: Metadata? = nil, receiver known: Receiver? = nil
  ) throws(CallRefusal) {
    (generic, isGeneric) = (nil, false)
    self.asyncPointer = asyncPointer
    self.declaration = declaration
    self.selector = selector
    self.plan = plan
    self.entry = entry
    isGetter = declaration.kind == .getter
    var layout = Layout()
    for (index, argument) in plan.arguments.enumerated() { try layout.add(argument, index) }
    hasInout = layout.arguments.contains(where: \.isInout)
    if case .value(let value) = selfPlan {
      // No name tells what is mutating: a method that takes its self by address may be, whatever becomes of the copy.
      let isAddressed = if case .address = value.location { declaration.kind == .function } else { false }
      mayChangeSelf = isAddressed || value.access == .unknown
      let (offset, info) = try layout.add(value)
      receiver = .value(info)
      selfOffset = offset
      bitsOffset = mayChangeSelf ? layout.room(bytes: info.size + 1) : 0
      mayLeaveSelf = !info.isTrivial && value.access == .unknown
    } else {
      (mayChangeSelf, mayLeaveSelf, bitsOffset) = (false, false, 0)
      if let known { receiver = known } else { receiver = try Self.receiver(selfPlan, declaration, ownType) }
      selfOffset = 0
    }
    constants = try hidden.map { (each) throws(CallRefusal) in (try layout.add(each), each.word) }
    thrown = try plan.thrownValue.map { (value) throws(CallRefusal) in try layout.add(thrown: value) }
    if thrown == nil, case .typed = plan.thrown { throw .thrown("where it is left is not known") }
    borrowed = layout.borrowed
    hasBorrowed = !layout.borrowed.isEmpty
    isAsync = asyncPointer != nil
    if case .object = receiver { isOnObject = true } else { isOnObject = false }
    if case .value = receiver { isOnValue = true } else { isOnValue = false }
    switch selfPlan {
    case .object(let place), .metatype(let place): receiverOffset = Self.frameOffset(place).map(Int.init)
    default: receiverOffset = nil
    }
    let returned = try Self.result(plan.result)
    result = returned.info
    returns = Self.table(returned.moves)
    returnCount = returned.moves.count
    resultIsIndirect = returned.isIndirect
    isOnX87 = plan.result.location.isOnX87
    resultAddresses = returned.addresses
    hasResultAddresses = !returned.addresses.isEmpty
    resultKind = result.flatMap { ValueSlot.Kind($0.kind) } ?? (result == nil ? .void : .none)
    packed = returned.packed
    packedOffset = packed.isEmpty ? 0 : layout.room(for: result!)
    argumentCount = layout.arguments.count
    arguments = Self.table(layout.arguments)
    moves = Self.table(layout.moves)
    moveCount = layout.moves.count
    stackSlots = layout.stackSlots
    // Words are read whole: eight bytes more than the last value's.
    blockBytes = (layout.bytes + 8 + 15) / 16 * 16
  }

  /// What stands for a generic function until the types of a call are known: nothing of it goes anywhere.
  init(_ generic: GenericFunction, plan: CallPlan, receiver: Receiver, entry: UInt, asyncPointer: UInt?) {
    (self.generic, isGeneric) = (generic, true)
    (declaration, selector, self.plan, self.receiver) = (generic.declaration, generic.selector, plan, receiver)
    (self.entry, self.asyncPointer) = (entry, asyncPointer)
    isGetter = generic.declaration.kind == .getter
    isAsync = asyncPointer != nil
    if case .object = receiver { isOnObject = true } else { isOnObject = false }
    if case .value = receiver { isOnValue = true } else { isOnValue = false }
    argumentCount = generic.argumentCount
    (arguments, moves, returns) = (Self.table([]), Self.table([]), Self.table([]))
    (moveCount, returnCount, stackSlots, blockBytes, selfOffset, packedOffset) = (0, 0, 0, 16, 0, 0)
    (hasInout, hasBorrowed, hasResultAddresses, resultIsIndirect, isOnX87) = (false, false, false, false, false)
    (mayChangeSelf, mayLeaveSelf, bitsOffset) = (false, false, 0)
    (result, resultKind, receiverOffset, thrown) = (nil, .none, nil, nil)
    (borrowed, constants, resultAddresses, packed) = ([], [], [], [])
  }

  /// A member of instances, of a type that is not known yet.
  package var wantsInstance: Bool { isGeneric && declaration.hasInstance && declaration.context != nil }

  /// The elements in memory that is never freed, for what is asked by every call.
  private static func table<T>(_ elements: [T]) -> UnsafePointer<T> {
    let table = UnsafeMutablePointer<T>.allocate(capacity: max(1, elements.count))
    table.initialize(from: elements, count: elements.count)
    return UnsafePointer(table)
  }

  /// Lays the arguments out, each with room to read whole words.
  private struct Layout {
    var arguments: [Argument] = []
    var moves: [Move] = []
    var borrowed: [(offset: Int, info: TypeInfo)] = []
    var stackSlots = 0
    var bytes = 0

    mutating func add(_ plan: ArgumentPlan, _ index: Int) throws(CallRefusal) {
      func refusal(_ reason: String) -> CallRefusal { .argument(position: index, label: plan.label, reason: reason) }
      guard let info = plan.info else { throw refusal(Self.reason(plan.location) ?? "its type is not known in this process") }
      if plan.hasMixedOwnership { throw refusal("parts of it are owned, others borrowed") }
      guard info.isCopyable else { throw refusal("values of '\(info.name)' cannot be copied") }
      let offset = room(for: info)
      do throws(Unplaced) { try place(plan.location, offset) } catch { throw refusal(error.reason) }
      if !plan.isOwned, !plan.isInout, !info.isTrivial { borrowed.append((offset, info)) }
      arguments.append(
        Argument(
          offset: offset, kind: ValueSlot.Kind(info.kind) ?? .none, isInout: plan.isInout, unmanagedInfo: .passUnretained(info)))
    }

    /// Answers where in the block `self` goes.
    mutating func add(_ plan: ValueSelfPlan) throws(CallRefusal) -> (offset: Int, info: TypeInfo) {
      guard let info = plan.info else { throw .receiver(Self.reason(plan.location) ?? "its type is not known in this process") }
      guard info.isCopyable else { throw .receiver("values of '\(info.name)' cannot be copied") }
      if plan.access == .inPlace { throw .mutating }
      let offset = room(for: info)
      do throws(Unplaced) { try place(plan.location, offset) } catch { throw .receiver(error.reason) }
      // A method may be consuming, which its name does not tell: it then has ended the copy, which is better not ended than twice.
      if plan.access == .borrowed, !info.isTrivial { borrowed.append((offset, info)) }
      return (offset, info)
    }

    /// Answers where in the block the word goes.
    mutating func add(_ hidden: Hidden) throws(CallRefusal) -> Int {
      let offset = bytes
      bytes += 8
      do throws(Unplaced) { try move(hidden.place, offset, 8, false) } catch { throw .generic(error.reason) }
      return offset
    }

    /// Room for a typed error, which the callee leaves there or, packed, in result registers.
    mutating func add(thrown plan: ResultPlan) throws(CallRefusal) -> Thrown {
      guard let info = plan.info else { throw .thrown("its type is not known in this process") }
      let offset = room(for: info)
      switch plan.location {
      case .address(let place):
        do throws(Unplaced) { try move(place, offset, 8, true) } catch { throw .thrown(error.reason) }
        return Thrown(info: info, offset: offset, returns: [])
      case .pieces(let pieces): return Thrown(info: info, offset: offset, returns: pieces.map(Move.init(result:)))
      case .unknown(let reason): throw .thrown(reason)
      case .parts, .optimizedOut: throw .thrown("it is not left in one place")
      }
    }

    mutating func room(for info: TypeInfo) -> Int {
      let alignment = max(info.alignment, 8)
      let offset = (bytes + alignment - 1) / alignment * alignment
      bytes = offset + (info.size + 7) / 8 * 8
      return offset
    }

    mutating func room(bytes count: Int) -> Int {
      let offset = bytes
      bytes = offset + (count + 7) / 8 * 8
      return offset
    }

    private struct Unplaced: Error { var reason: String }

    private static func reason(_ location: Location) -> String? { if case .unknown(let text) = location { text } else { nil } }

    /// - Parameter base: where the value starts in the block.
    private mutating func place(_ location: Location, _ base: Int) throws(Unplaced) {
      switch location {
      case .pieces(let pieces): for piece in pieces { try move(piece.place, base + piece.offset, piece.size, false) }
      case .address(let place): try move(place, base, 8, true)
      case .parts(let parts):
        for part in parts {
          if case .pieces = part.location { try place(part.location, base) } else { try place(part.location, base + part.offset) }
        }
      case .optimizedOut: throw Unplaced(reason: "the body does not take it")
      case .unknown(let reason): throw Unplaced(reason: reason)
      }
    }

    private mutating func move(_ place: Place, _ memory: Int, _ size: Int, _ isAddress: Bool) throws(Unplaced) {
      let target: Int32
      if case .stack(let slot) = place {
        stackSlots = max(stackSlots, slot + (size > 8 ? 2 : 1))
        target = ~Int32(slot)
      } else if let offset = Callable.frameOffset(place) {
        target = offset
      } else {
        throw Unplaced(reason: "its place is not known")
      }
      moves.append(Move(place: target, memory: Int32(memory), size: UInt8(min(size, 16)), isAddress: isAddress))
    }
  }

  /// Bytes from the start of the frame, nil for the stack.
  private static func frameOffset(_ place: Place) -> Int32? {
    switch place {
    case .integer(let i): Int32(8 * i)
    case .float(let i): Int32(MemoryLayout<HKTFrame>.offset(of: \.xmm)! + 16 * i)
    case .selfRegister: Int32(MemoryLayout<HKTFrame>.offset(of: \.self_register)!)
    case .indirectResult: Int32(MemoryLayout<HKTFrame>.offset(of: \.indirect_result)!)
    case .stack, .yielded, .x87: nil
    }
  }

  private static func receiver(_ plan: SelfPlan, _ declaration: Declaration, _ ownType: Metadata?) throws(CallRefusal) -> Receiver {
    switch plan {
    case .none: return .none
    case .object(let place), .metatype(let place):
      let named = declaration.context.flatMap { TypeResolver.shared.metadata(.nominal($0, kind: .classType, arguments: [])) }
      guard frameOffset(place) != nil, let type = ownType ?? named else { throw .receiver("its class is not known in this process") }
      if case .object = plan { return .object(type) }
      return .metatype(type)
    case .value: throw .receiver("it is a value")  // placed before
    case .unknown(let reason): throw .receiver(reason)
    }
  }

  private struct Returned {
    var info: TypeInfo?
    var moves: [Move] = []
    var isIndirect = false
    var addresses: [(place: Int32, offset: Int)] = []
    var packed: [ValuePart] = []
  }

  private static func result(_ plan: ResultPlan) throws(CallRefusal) -> Returned {
    if plan.type.isVoid { return Returned() }
    if plan.type.isNever { throw .neverReturns }
    guard plan.isOwned else { throw .result("somebody else owns it") }
    guard let info = plan.info else {
      if case .unknown(let reason) = plan.location { throw .result(reason) }
      throw .result("its type is not known in this process")
    }
    var returned = Returned(info: info)
    switch plan.location {
    case .address(.indirectResult): returned.isIndirect = true
    case .pieces(let pieces): returned.moves = pieces.map(Move.init(result:))
    case .parts(let parts):
      for part in parts {
        switch part.location {
        case .pieces(let pieces): returned.moves += pieces.map(Move.init(result:))
        case .address(.indirectResult): returned.packed.append(part)
        case .address(let place):
          guard let offset = frameOffset(place) else { throw .result("its place is not known") }
          returned.addresses.append((offset, part.offset))
        case .unknown(let reason): throw .result(reason)
        case .parts, .optimizedOut: throw .result("it is not returned whole")
        }
      }
    case .unknown(let reason): throw .result(reason)
    case .address, .optimizedOut: throw .result("it is not returned by this body")
    }
    return returned
  }

  // MARK: Calling

  /// Makes the call on this thread, hooks on the function included (a handler's call to the function it handles goes to
  /// the next layer). All checks were made before: `block` holds the arguments, `result` has room for the result.
  ///
  /// Takes the values in the block: given away or destroyed when this returns, but for inout ones, which are the
  /// caller's with what the callee left in them. The result is the caller's, and is not there when an error is.
  /// - Parameters:
  ///   - receiver: the object or metatype, kept alive by the caller; 0 for none.
  ///   - entry: the implementation, of this callable's convention.
  ///   - trap: a trap of the function ends up here, and its call is left: the values in the block are lost, there is no result.
  ///     nil: it is the program's.
  /// - Returns: the thrown error's box, owned by the caller, 0 for none.
  package func run(
    _ block: UnsafeMutableRawPointer, receiver: UInt, entry: UInt, result: UnsafeMutableRawPointer?,
    trap: UnsafeMutablePointer<HKTTrap>? = nil
  ) -> UInt {
    guard stackSlots > 0 else { return run(block, receiver, entry, result, nil, trap) }
    return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: stackSlots) {
      run(block, receiver, entry, result, $0.baseAddress!, trap)
    }
  }

  private func run(
    _ block: UnsafeMutableRawPointer, _ receiver: UInt, _ entry: UInt, _ result: UnsafeMutableRawPointer?,
    _ stack: UnsafeMutablePointer<UInt64>?, _ trap: UnsafeMutablePointer<HKTTrap>?
  ) -> UInt {
    var frame = HKTFrame()
    frame.stack = stack
    return withUnsafeMutablePointer(to: &frame) { frame in
      load(frame, block, receiver, result, stack)
      guard ProgramCall.invoke(frame, entry, stackBytes: 8 * stackSlots, trap: trap) else { return 0 }
      if isOnX87 { hkt_x87_take(frame) }
      // What throws nothing hands the register back as it was, which is 0; a throwing getter's name does not tell that it is.
      return unload(frame, block, result, UInt(frame.pointee.results.error))
    }
  }

  /// Puts what the callee takes into the registers and stack slots.
  @inline(__always)
  func load(
    _ frame: UnsafeMutablePointer<HKTFrame>, _ block: UnsafeMutableRawPointer, _ receiver: UInt, _ result: UnsafeMutableRawPointer?,
    _ stack: UnsafeMutablePointer<UInt64>?
  ) {
    let base = UnsafeMutableRawPointer(frame)
    if !constants.isEmpty {
      for (offset, word) in constants { block.storeBytes(of: word, toByteOffset: offset, as: UInt.self) }
    }
    if mayChangeSelf { (block + bitsOffset).copyMemory(from: block + selfOffset, byteCount: selfBytes) }
    for index in 0..<moveCount { fill(moves[index], base, block, stack) }
    // What consumes its self gets a reference of its own: whoever calls keeps theirs.
    if plan.selfUse == .consumed, let object = UnsafeRawPointer(bitPattern: receiver) {
      _ = Unmanaged<AnyObject>.fromOpaque(object).retain()
    }
    if let receiverOffset { base.storeBytes(of: UInt64(receiver), toByteOffset: receiverOffset, as: UInt64.self) }
    if resultIsIndirect { frame.pointee.indirect_result = UInt64(UInt(bitPattern: result)) }
    if !packed.isEmpty { frame.pointee.indirect_result = UInt64(UInt(bitPattern: block + packedOffset)) }
    if hasResultAddresses, let result {
      for (place, offset) in resultAddresses {
        base.storeBytes(of: UInt(bitPattern: result + offset), toByteOffset: Int(place), as: UInt.self)
      }
    }
  }

  /// Ends what was borrowed, and takes the result out of the registers unless there is an error, whose box is answered.
  @inline(__always)
  func unload(
    _ frame: UnsafeMutablePointer<HKTFrame>, _ block: UnsafeMutableRawPointer, _ result: UnsafeMutableRawPointer?, _ error: UInt
  ) -> UInt {
    // Before it is ended, which changes the bits of what holds a weak reference.
    if mayChangeSelf { noteChange(in: block) }
    if hasBorrowed { for (offset, info) in borrowed { info.metadata.destroy(block + offset) } }
    let base = UnsafeMutableRawPointer(frame)
    if error != 0 { return self.error(error, base, block) }
    guard let result else { return 0 }
    for index in 0..<returnCount { empty(returns[index], base, result) }
    for part in packed { (result + part.offset).copyMemory(from: block + packedOffset + part.skip, byteCount: part.size) }
    return 0
  }

  private var selfBytes: Int { if case .value(let info) = receiver { info.size } else { 0 } }

  /// Notes in the block whether the method changed the copy of self that it ran on.
  private func noteChange(in block: UnsafeMutableRawPointer) {
    let isChanged = memcmp(block + selfOffset, block + bitsOffset, selfBytes) != 0
    block.storeBytes(of: isChanged, toByteOffset: bitsOffset + selfBytes, as: Bool.self)
  }

  /// The call that has returned was of a mutating method: what it changed is the copy in its block, and its results speak of that.
  package func changedSelf(in block: UnsafeMutableRawPointer) -> Bool {
    mayChangeSelf && block.load(fromByteOffset: bitsOffset + selfBytes, as: Bool.self)
  }

  /// The box of what was thrown: the error register has it, or says that a typed error is in its place.
  private func error(_ register: UInt, _ frame: UnsafeMutableRawPointer, _ block: UnsafeMutableRawPointer) -> UInt {
    guard let thrown else {
      guard register == 1 else { return register }
      // A getter whose name does not tell that it throws a typed error: what lies where is not known.
      return ErrorBox(CallError.refused(selector: selector, reason: "it threw an error whose type is not in its name")).word
    }
    let memory = block + thrown.offset
    for move in thrown.returns { empty(move, frame, memory) }
    let box = thrown.info.metadata.box(memory)
    guard box != 0 else { fatalError("internal error: a typed error that is no Error; please report it") }
    return box
  }

  /// Puts part of an argument from the block into its register or slot.
  @inline(__always)
  private func fill(
    _ move: Move, _ frame: UnsafeMutableRawPointer, _ block: UnsafeMutableRawPointer, _ stack: UnsafeMutablePointer<UInt64>?
  ) {
    let source = block + Int(move.memory)
    let target = move.place >= 0 ? frame + Int(move.place) : UnsafeMutableRawPointer(stack! + Int(~move.place))
    if move.size > 8 { return target.copyMemory(from: source, byteCount: 16) }
    var word = move.isAddress ? UInt64(UInt(bitPattern: source)) : source.loadUnaligned(as: UInt64.self)
    // The block has room behind the last value; what is read too much is cut off.
    if move.size < 8 { word &= (1 << (8 * UInt64(move.size))) - 1 }
    target.storeBytes(of: word, as: UInt64.self)
  }

  /// Takes part of the result out of its register.
  @inline(__always)
  private func empty(_ move: Move, _ frame: UnsafeRawPointer, _ result: UnsafeMutableRawPointer) {
    let source = frame + Int(move.place)
    let target = result + Int(move.memory)
    if move.size == 8 { return target.storeBytes(of: source.load(as: UInt64.self), as: UInt64.self) }
    // Only bit 0 of a Bool's register is its value.
    if case .bool = resultKind, move.size == 1 { return target.storeBytes(of: source.load(as: UInt8.self) & 1, as: UInt8.self) }
    target.copyMemory(from: source, byteCount: Int(move.size))
  }
}

/// The way from our code into the program's.
package enum ProgramCall {
  /// What a script or a closure of ours calls is the program's work, not the host's: hooks see it.
  /// - Parameter trap: where a trap that was contained is reported; nil: nothing is contained.
  /// - Returns: false when it trapped.
  @discardableResult
  package static func invoke(
    _ frame: UnsafeMutablePointer<HKTFrame>, _ entry: UInt, stackBytes: Int, trap: UnsafeMutablePointer<HKTTrap>? = nil
  ) -> Bool {
    let target = UnsafeMutableRawPointer(bitPattern: entry)
    guard let thread = hkt_thread() else {
      hkt_invoke(frame, target, stackBytes)
      return true
    }
    let host = thread.pointee.host
    thread.pointee.host = thread.pointee.unseen
    defer { thread.pointee.host = host }
    if let trap { return hkt_invoke_contained(frame, target, stackBytes, trap) }
    hkt_invoke(frame, target, stackBytes)
    return true
  }

  /// Program code called inside is our own work, which no hook sees: a getter that is asked what to tell a script.
  static func unseen<R>(_ body: () -> R) -> R {
    guard let thread = hkt_thread() else { return body() }
    thread.pointee.unseen += 1
    defer { thread.pointee.unseen -= 1 }
    return body()
  }

  /// Runs what ends values of the program: a `deinit` is the program's work, too.
  package static func asProgram(_ body: () -> Void) {
    let thread = hkt_thread()
    let host = thread?.pointee.host ?? 0
    thread?.pointee.host = 0
    body()
    thread?.pointee.host = host
  }

  /// Gives back a reference to a native object or error box.
  package static func release(_ object: UInt) {
    // The word is a reference that the caller owns.
    asProgram { if let pointer = UnsafeRawPointer(bitPattern: object) { Unmanaged<AnyObject>.fromOpaque(pointer).release() } }
  }
}
