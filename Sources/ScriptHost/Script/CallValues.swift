// CallValues — the arguments and results of a running call, as a handler sees and changes them.
internal import CHookTrampoline
internal import CLuaShim
private import Glibc
internal import HookRuntime
internal import SwiftMangling

enum CallValues {
  typealias Call = UnsafeMutablePointer<ScriptCall>

  // MARK: Reading

  /// Argument `index` for Lua, straight from its register where that is possible.
  @inline(__always)
  static func argument(_ index: Int, _ script: Call, _ bridge: ValueBridge, _ scratch: Scratch) -> SHLValue {
    let view = script.pointee.view
    if script.pointee.argumentsAreInFrame {
      let slot = view.withPlan { $0.slots[index] }
      if script.pointee.arguments.hasStaged(index) { return staged(slot, script.pointee.arguments.stagedBits(index), bridge, scratch) }
      if let value = read(slot, at: slot.address(in: view.call), bridge, scratch) { return value }
    }
    return argumentByRecipe(index, script, bridge, scratch) ?? argumentByPlan(index, script, bridge, scratch)
  }

  /// Reads the numbers and Bools that most slots hold; nil for all else.
  @inline(__always)
  static func scalar(_ slot: ValueSlot, at address: UnsafeRawPointer) -> SHLValue? {
    switch slot.kind {
    case .int64: return shl_int(address.load(as: Int64.self))
    case .double: return shl_number(address.load(as: Double.self))
    case .bool: return shl_bool(address.load(as: UInt8.self) & 1 == 1)
    default: return nil
    }
  }

  /// What the handler has put in the slot's place.
  private static func staged(_ slot: ValueSlot, _ bits: StagedBits, _ bridge: ValueBridge, _ scratch: Scratch) -> SHLValue {
    // Of a kind that `bits(of:for:)` knows: it is read as it would be from the frame.
    withUnsafeBytes(of: bits) { read(slot, at: $0.baseAddress!, bridge, scratch) ?? shl_nil() }
  }

  /// What the slot holds; nil when it has to be read by plan.
  @inline(__always)
  private static func read(_ slot: ValueSlot, at address: UnsafeRawPointer, _ bridge: ValueBridge, _ scratch: Scratch) -> SHLValue? {
    if let scalar = scalar(slot, at: address) { return scalar }
    switch slot.kind {
    case .string:
      let text = ValueBridge.string(address.load(as: UInt64.self), address.load(fromByteOffset: 8, as: UInt64.self), scratch)
      return text.s.n > ValueBridge.longestText ? nil : text
    case .object: return bridge.object(address.load(as: UInt.self))
    case .float: return shl_number(Double(address.load(as: Float.self)))
    case .void: return shl_nil()
    case .none: return nil
    default: return slot.integer(at: address).map(shl_int)
    }
  }

  /// What most values are read by; nil where only the plan tells.
  private static func argumentByRecipe(_ index: Int, _ script: Call, _ bridge: ValueBridge, _ scratch: Scratch) -> SHLValue? {
    guard let recipe = script.pointee.recipe(index), let info = recipe.info?.takeUnretainedValue() else { return nil }
    let borrowed = BorrowedValue(root: .argument(index), info: info, serial: bridge.serial)
    let value = recipe.withMemory(script.pointee.view.call) { bridge.lua($0, info, borrowed: borrowed, scratch: scratch) }
    if value?.tag == SHL_HANDLE { script.pointee.arguments.borrow(index) }
    return value
  }

  /// Unknown and optimised-out values become handles that say so when used.
  private static func argumentByPlan(_ index: Int, _ script: Call, _ bridge: ValueBridge, _ scratch: Scratch) -> SHLValue {
    let plan = script.pointee.plan
    let argument = plan.arguments[index]
    if script.pointee.changes.isConsumed(index) { return missing(.unknown("consumed"), bridge, kind: consumedMark) }
    // What the handler put there may be replaced again while it has a handle: it gets a copy.
    if let staged = script.pointee.changes.staged(index) { return bridge.snapshot(staged.memory, staged.info, scratch) }
    guard let info = argument.info else { return missing(argument.location, bridge) }
    // What cannot be copied cannot be replaced either, and is borrowed where it lies.
    let isInParts = if case .parts = argument.location { true } else { false }
    if argument.isInout && !isInParts || script.pointee.changes.original(index) != nil, info.isCopyable {
      let applied = script.pointee.changes.held(index).map { bridge.snapshot($0.memory, info, scratch) }
      return applied ?? script.pointee.view.reader.withMemory(argument.location, info, isResult: false) {
        bridge.snapshot($0, info, scratch)
      } ?? missing(argument.location, bridge)
    }
    let borrowed = BorrowedValue(root: .argument(index), offset: 0, info: info, serial: bridge.serial)
    let value = script.pointee.withMemory(of: borrowed) { bridge.lua($0, info, borrowed: borrowed, scratch: scratch) }
    if value?.tag == SHL_HANDLE { script.pointee.arguments.borrow(index) }
    if value == nil, case .parts = argument.location {
      return hasMembers(info) ? borrowedParts(borrowed, bridge) : missing(.optimizedOut, bridge)
    }
    return value ?? missing(argument.location, bridge)
  }

  /// What is read member by member is of use with some of them gone. Of texts, numbers and closures nothing is left then, and
  /// nothing tells whether an Optional has a value in it: a handle is never nil.
  private static func hasMembers(_ info: TypeInfo) -> Bool {
    switch info.kind {
    case .structure, .tuple: StandardType.of(info) == nil
    case .enumeration, .existential, .object, .metatype, .opaque: true
    default: false
    }
  }

  /// A value of which the optimiser left parts: they can be read one by one.
  private static func borrowedParts(_ borrowed: BorrowedValue, _ bridge: ValueBridge) -> SHLValue {
    let (a, b, c) = borrowed.words()
    return shl_handle(bridge.classes.value, a, b, c)
  }

  /// A value that is not there: reading it raises, passing it on is harmless.
  private static func missing(_ location: Location, _ bridge: ValueBridge, kind: UInt64? = nil) -> SHLValue {
    shl_handle(bridge.classes.value, kind ?? (location == .optimizedOut ? optimizedOutMark : notDecodedMark), 0, 0)
  }
  /// What a value handle without a type stands for.
  static let optimizedOutMark: UInt64 = 1
  static let notDecodedMark: UInt64 = 2
  static let consumedMark: UInt64 = 3
  /// Let go by the script.
  static let releasedMark: UInt64 = 4
  /// It lies in a frame, and the handle would be the script's own.
  static let inFrameMark: UInt64 = 5
  /// What an initialiser makes, which is no value yet.
  static let unmadeMark: UInt64 = 7
  /// Whether the original consumed it, its code does not tell.
  static let perhapsConsumedMark: UInt64 = 6

  @inline(__always)
  static func result(_ script: Call, _ bridge: ValueBridge, _ scratch: Scratch) -> SHLValue {
    let view = script.pointee.view
    if script.pointee.hasNoRecord {
      let slot = view.withPlan { $0.resultSlot }
      if let value = read(slot, at: slot.address(in: view.call), bridge, scratch) { return value }
    }
    return resultByPlan(script, bridge, scratch)
  }

  private static func resultByPlan(_ script: Call, _ bridge: ValueBridge, _ scratch: Scratch) -> SHLValue {
    let result = script.pointee.plan.result
    if script.pointee.threwTyped, script.pointee.changes.stagedResult == nil { return missing(.unknown("typed throws"), bridge) }
    guard let info = result.info else { return result.type.isVoid ? shl_nil() : missing(result.location, bridge) }
    if let staged = script.pointee.changes.stagedResult { return bridge.snapshot(staged.memory, staged.info, scratch) }
    let borrowed = BorrowedValue(root: .result(script.pointee.changes.resultNumber), info: info, serial: bridge.serial)
    return script.pointee.withMemory(of: borrowed) { bridge.lua($0, info, borrowed: borrowed, scratch: scratch) } ?? missing(result.location, bridge)
  }

  // MARK: Changing

  /// Most numbers and Bools are staged without us: see StagedBits.
  /// - Parameter forNextRun: it is passed to a run of the original, the first or a further one.
  static func stageArgument(_ index: Int, _ value: SHLValue, _ script: Call, _ bridge: ValueBridge, forNextRun: Bool) throws(BridgeError) {
    if !stageBits(index, value, script, forNextRun: forNextRun) { try stageByPlan(index, value, script, bridge) }
  }

  /// A number, a Bool or a short text for a slot of its kind. False, with nothing done, for all else.
  @inline(__always)
  private static func stageBits(_ index: Int, _ value: SHLValue, _ script: Call, forNextRun: Bool) -> Bool {
    // A handle to the argument goes on showing what was passed, which is a matter of the record.
    guard script.pointee.arguments.changeable || forNextRun && script.pointee.hasNoRecord, index < SHLArguments.room,
      !script.pointee.arguments.isBorrowed(index),
      let bits = bits(of: value, for: script.pointee.view.withPlan { $0.slots[index] }, index, script)
    else { return false }
    script.pointee.arguments.stage(bits, at: index)
    return true
  }

  /// The value as the slot holds it; nil where it is of another type or out of range, or owns something.
  @inline(__always)
  private static func bits(of value: SHLValue, for slot: ValueSlot, _ index: Int, _ script: Call) -> StagedBits? {
    switch (slot.kind, value.tag) {
    case (.int64, SHL_INT): return (UInt64(bitPattern: value.i), 0)
    case (.double, SHL_NUMBER): return (value.n.bitPattern, 0)
    case (.bool, SHL_BOOL): return (value.b ? 1 : 0, 0)
    case (.double, SHL_INT): return Double(exactly: value.i).map { ($0.bitPattern, 0) }
    case (.float, SHL_NUMBER):
      let isTooLarge = value.n.isFinite && value.n.magnitude > Double(Float.greatestFiniteMagnitude)
      return isTooLarge ? nil : (UInt64(Float(value.n).bitPattern), 0)
    case (.string, SHL_STRING):
      let bytes = UnsafeRawBufferPointer(start: value.s.p, count: value.s.n)
      return isReplaceableText(index, script) ? StringBits.small(bytes) : nil
    case (_, SHL_INT): return slot.bits(of: value.i).map { ($0, 0) }
    default: return nil
    }
  }

  /// A String that the callee only borrows, in a call whose end is seen: there a text needs no more than its place.
  private static func isReplaceableText(_ index: Int, _ script: Call) -> Bool {
    let (isKnown, isConsumed) = script.pointee.view.withPlan { plan in
      if case .none = plan.recipes[index].kind { return (false, false) }
      return (true, plan.recipes[index].isConsumed)
    }
    return isKnown && !isConsumed && ValueWriter(script.pointee.view.call).canReleaseAfterCall
  }

  private static func stageByPlan(_ index: Int, _ value: SHLValue, _ script: Call, _ bridge: ValueBridge) throws(BridgeError) {
    let plan = script.pointee.plan
    if script.pointee.changes.original(index) == nil, isSame(value, root: .argument(index), script, bridge) {
      // Back to what was passed.
      script.pointee.arguments.unstage(index)
      return script.pointee.changes.unstage(index)
    }
    if let obstacle = script.pointee.changes.obstacle(toStaging: index) { throw notReplaceable(index, obstacle, script) }
    // What can be replaced is of a known type, which the plan keeps.
    let info = plan.traits[index].info!.takeUnretainedValue()
    let writer = ValueWriter(script.pointee.view.call)
    if ValueBridge.isNull(value), info.isAny, isUnchangedNull(index, script, bridge) { return }
    let made = OwnedValue(uninitialized: info)
    do throws(BridgeError) {
      if info.holdsFunction {
        try storeFunction(value, info, made.memory, .argument(index), script, bridge)
      } else if case .cString = info.kind, value.tag == SHL_STRING {
        let text = try cText(value)
        made.memory.storeBytes(of: writer.text(text) ?? CText.forever(text), as: UInt.self)
      } else if info.isAny {
        try storeAny(value, info, made.memory, .argument(index), script, bridge)
      } else {
        try bridge.store(value, as: info, at: made.memory)
      }
    } catch {
      made.forget()
      if case .notMadeHere = error, isUnchangedText(value, index, script, bridge) { return }
      throw error
    }
    if !isWhatCame(made, index, script) { try StackPromoted.settle(made, for: .pass) }
    script.pointee.settleBits()
    script.pointee.changes.stage(made, at: index)
  }

  private static func notReplaceable(_ index: Int, _ obstacle: HandlerChanges.ArgumentObstacle, _ script: Call) -> BridgeError {
    let argument = script.pointee.plan.arguments[index]
    return switch obstacle {
    case .outOfReach: .notReplaceable(type: argument.type.description(qualified: true))
    case .lost(let reach): .lost("argument \(index + 1) " + reach.reason(selector: script.pointee.hook?.selector ?? "the closure"))
    case .borrowed: .notConvertible(type: "\(argument.info?.name ?? "?") (borrowed by a coroutine or async function)")
    }
  }

  /// What the call has there now tells what its readers expect.
  private static func storeAny(
    _ value: SHLValue, _ info: TypeInfo, _ memory: UnsafeMutableRawPointer, _ root: BorrowedValue.Root, _ script: Call, _ bridge: ValueBridge
  ) throws(BridgeError) {
    let now = BorrowedValue(root: root, info: info, serial: bridge.serial)
    let stored: Result<Void, BridgeError>? = script.pointee.withMemory(of: now) { held in
      do throws(BridgeError) { return .success(try bridge.store(value, as: info, at: memory, inPlaceOf: held)) } catch { return .failure(error) }
    }
    if let stored { try stored.get() } else { try bridge.store(value, as: info, at: memory) }
  }

  /// The value is the one that came with the call, bit by bit: nothing gets further than it would.
  private static func isWhatCame(_ made: OwnedValue, _ index: Int, _ script: Call) -> Bool {
    guard let original = script.pointee.changes.original(index) else { return false }
    return memcmp(original, made.memory, made.info.size) == 0
  }

  /// The bytes of a string for a place that ends texts with NUL.
  private static func cText(_ value: SHLValue) throws(BridgeError) -> UnsafeRawBufferPointer {
    let bytes = UnsafeRawBufferPointer(start: value.s.p, count: value.s.n)
    if !bytes.isEmpty, memchr(bytes.baseAddress!, 0, bytes.count) != nil {
      throw .wrongType(expected: "a text for C, which ends at its first NUL", found: "a string with a NUL inside")
    }
    return bytes
  }

  /// A function for an argument or the result: the one it replaces stands in when a Lua function fails.
  private static func storeFunction(
    _ value: SHLValue, _ info: TypeInfo, _ memory: UnsafeMutableRawPointer, _ root: BorrowedValue.Root, _ script: Call, _ bridge: ValueBridge
  ) throws(BridgeError) {
    if case .optional(let payload) = info.kind {
      guard value.tag != SHL_NIL else { return info.metadata.injectEnumTag(memory, 1) }
      try storeFunction(value, payload, memory, root, script, bridge)
      return info.metadata.injectEnumTag(memory, 0)
    }
    guard case .closure = info.kind else { return try bridge.store(value, as: info, at: memory) }
    let writer = ValueWriter(script.pointee.view.call)
    if info.isBorrowedFunction, !writer.canReleaseAfterCall {
      throw .notConvertible(type: "\(info.name) (borrowed by a coroutine or async function)")
    }
    // Where the original threw, the result registers hold something else.
    let isThere = if case .result = root { !script.pointee.view.didThrow } else { true }
    let replaced =
      !isThere
      ? nil
      : script.pointee.withMemory(of: BorrowedValue(root: root, offset: 0, info: info, serial: bridge.serial)) {
        $0.loadUnaligned(as: UInt.self) == 0 ? nil : ClosureBridge.function(at: $0, info, bridge.serial)
      }
    try ClosureBridge.store(value, as: info, at: memory, bridge, replacing: replaced ?? nil)
    if info.isBorrowedFunction {
      // The callee does not release it, so the call does.
      writer.keepReferenceUntilEnd(memory.loadUnaligned(fromByteOffset: 8, as: UInt.self))
    }
  }

  /// The value is the one the call already has there: nothing to do, whatever its type.
  private static func isSame(_ value: SHLValue, root: BorrowedValue.Root, _ script: Call, _ bridge: ValueBridge) -> Bool {
    guard value.tag == SHL_HANDLE else { return false }
    if value.cls == bridge.classes.object { return isSameObject(value, root, script, bridge) }
    if value.cls == bridge.classes.closure { return isSameFunction(value, root, script, bridge) }
    guard value.cls == bridge.classes.value else { return false }
    if value.h.c == 0 && value.h.b == 0 { return value.h.a <= consumedMark }  // a value that is not there, passed on
    guard value.h.b != 0 else { return false }
    let borrowed = BorrowedValue(value)
    return borrowed.root == root && borrowed.offset == 0 && borrowed.serial == bridge.serial
  }

  /// An Any with a none of some type, which swift.null does not tell, passed on.
  private static func isUnchangedNull(_ index: Int, _ script: Call, _ bridge: ValueBridge) -> Bool {
    guard script.pointee.changes.current(index) == nil else { return false }
    return withUnsafeTemporaryAllocation(of: (UInt64, UInt64).self, capacity: 1) {
      ValueBridge.isNull(argument(index, script, bridge, $0.baseAddress!))
    }
  }

  /// A text that cannot be made anew (StaticString), and is the one that is there.
  private static func isUnchangedText(_ value: SHLValue, _ index: Int, _ script: Call, _ bridge: ValueBridge) -> Bool {
    guard value.tag == SHL_STRING, script.pointee.changes.current(index) == nil else { return false }
    return withUnsafeTemporaryAllocation(of: (UInt64, UInt64).self, capacity: 1) {
      let there = argument(index, script, bridge, $0.baseAddress!)
      return there.tag == SHL_STRING && there.s.n == value.s.n && (value.s.n == 0 || memcmp(there.s.p, value.s.p, value.s.n) == 0)
    }
  }

  /// The instance is the one that is there, alone or in a value of protocol type, which could not be made anew.
  private static func isSameObject(_ value: SHLValue, _ root: BorrowedValue.Root, _ script: Call, _ bridge: ValueBridge) -> Bool {
    guard let info = type(at: root, script), ScriptThread.isCurrent(value.h.c) else { return false }
    return script.pointee.withMemory(of: BorrowedValue(root: root, offset: 0, info: info, serial: bridge.serial)) { memory in
      if info.isObject { return memory.loadUnaligned(as: UInt64.self) == value.h.a }
      guard case .existential = info.kind, let (held, type) = info.openExistential(memory), type.isObject else { return false }
      return held.loadUnaligned(as: UInt64.self) == value.h.a
    } ?? false
  }

  /// The function is the one that is there, in the form it has there.
  private static func isSameFunction(_ value: SHLValue, _ root: BorrowedValue.Root, _ script: Call, _ bridge: ValueBridge) -> Bool {
    let function = ClosureBridge.value(value)
    guard let info = type(at: root, script), info.holdsFunction, ClosureBridge.isUsable(function) else { return false }
    return script.pointee.withMemory(of: BorrowedValue(root: root, offset: 0, info: info, serial: bridge.serial)) {
      $0.loadUnaligned(as: UInt.self) == function.code && $0.loadUnaligned(fromByteOffset: 8, as: UInt.self) == function.context
    } ?? false
  }

  /// nil also where an error came instead.
  private static func type(at root: BorrowedValue.Root, _ script: Call) -> TypeInfo? {
    switch root {
    case .argument(let index): script.pointee.plan.arguments[index].info
    case .result: script.pointee.view.didThrow ? nil : script.pointee.plan.result.info
    case .selfValue, .memory: nil
    }
  }

  static func stageResult(_ value: SHLValue, _ script: Call, _ bridge: ValueBridge) throws(BridgeError) {
    let result = script.pointee.plan.result
    let didThrow = script.pointee.hasRun && script.pointee.view.didThrow
    // Nothing, given instead of an error, is an end without error.
    if result.type.isVoid, !didThrow || value.tag != SHL_NIL { return }
    if !didThrow, isSame(value, root: .result(script.pointee.changes.resultNumber), script, bridge), script.pointee.hasRun { return }
    guard let info = result.info, result.isReplaceable else {
      throw .notReplaceable(type: result.type.description(qualified: true))
    }
    if didThrow, !script.pointee.changes.canReplaceError {
      throw .notConvertible(type: "\(info.name) (the error that was thrown is of unknown type)")
    }
    let made = OwnedValue(uninitialized: info)
    do throws(BridgeError) {
      if info.holdsFunction {
        try storeFunction(value, info, made.memory, .result(script.pointee.changes.resultNumber), script, bridge)
      } else if case .cString = info.kind, value.tag == SHL_STRING {
        // The caller may keep it for ever.
        made.memory.storeBytes(of: CText.forever(try cText(value)), as: UInt.self)
      } else if info.isAny {
        try storeAny(value, info, made.memory, .result(script.pointee.changes.resultNumber), script, bridge)
      } else {
        try bridge.store(value, as: info, at: made.memory)
      }
    } catch {
      made.forget()
      throw error
    }
    try StackPromoted.settle(made, for: .pass)
    if let problem = notOfSelf(made, script) {
      made.destroy()
      throw problem
    }
    script.pointee.settleBits()
    script.pointee.changes.stageResult(made)
  }

  /// The object is not of the class that the caller, a subclass's code perhaps, goes on with.
  private static func notOfSelf(_ value: OwnedValue, _ script: Call) -> BridgeError? {
    guard let wanted = script.pointee.view.resultClass, value.info.size == 8,
      let object = UnsafeRawPointer(bitPattern: value.memory.load(as: UInt.self))
    else { return nil }
    let found = Instance.type(object)
    if found.isSubclass(of: wanted) { return nil }
    return .wrongType(expected: "an object of the class of self, '\(wanted.name)'", found: "one of '\(found.name)'")
  }

  /// How what a handler returned became the call's result.
  enum Returned: UInt8 {
    /// It did not, and nothing was changed.
    case notAtAll
    /// The original returned it.
    case already
    case anew
  }

  /// Puts what the handler returned straight into the result registers, where it need not be staged: it must be when the handler changed
  /// something else, the original threw, or the value is not exactly of the result's type.
  static func returnDirectly(_ value: UnsafePointer<SHLValue>, _ script: Call) -> Returned {
    let view = script.pointee.view
    let slot = view.withPlan { $0.resultSlot }
    let ran = script.pointee.originalRuns > 0
    guard script.pointee.hasNoRecord, !ran || !view.didThrow else { return .notAtAll }
    // Standing in may be refused where the original consumes arguments: the value must be ours until then.
    guard ran || !view.withPlan({ $0.consumesArguments }) else { return .notAtAll }
    let address = slot.address(in: view.call)
    // A handler that passes the result on replaces nothing, whatever its caller does with results.
    if ran, isSame(value, slot, address) { return .already }
    guard isResultRead(slot, script) else { return .notAtAll }
    switch (slot.kind, value.pointee.tag) {
    case (.int64, SHL_INT): address.storeBytes(of: value.pointee.i, as: Int64.self)
    case (.double, SHL_NUMBER): address.storeBytes(of: value.pointee.n, as: Double.self)
    case (.bool, SHL_BOOL): address.storeBytes(of: value.pointee.b ? 1 : 0, as: UInt64.self)
    case (.string, SHL_STRING):
      let text = value.pointee.s
      return returnString(UnsafeRawBufferPointer(start: text.p, count: text.n), address, replacing: ran) ? .anew : .notAtAll
    default: return .notAtAll
    }
    return .anew
  }

  /// The value is what the original returned.
  @inline(__always)
  private static func isSame(_ value: UnsafePointer<SHLValue>, _ slot: ValueSlot, _ address: UnsafeMutableRawPointer) -> Bool {
    switch (slot.kind, value.pointee.tag) {
    case (.void, _): return true
    case (.int64, SHL_INT): return address.load(as: Int64.self) == value.pointee.i
    case (.double, SHL_NUMBER): return address.load(as: UInt64.self) == value.pointee.n.bitPattern
    // Above its lowest bit a register that holds a Bool may hold anything.
    case (.bool, SHL_BOOL): return (address.load(as: UInt8.self) & 1 != 0) == value.pointee.b
    case (.string, SHL_STRING):
      let text = value.pointee.s
      return isSameString(UnsafeRawBufferPointer(start: text.p, count: text.n), address)
    default: return false
    }
  }

  /// It is copied to Lua and back: the same bytes are the same String.
  private static func isSameString(_ bytes: UnsafeRawBufferPointer, _ address: UnsafeMutableRawPointer) -> Bool {
    StringBits.withUTF8(address.load(as: UInt64.self), address.load(fromByteOffset: 8, as: UInt64.self)) {
      $0.count == bytes.count && (bytes.isEmpty || memcmp($0.baseAddress!, bytes.baseAddress!, bytes.count) == 0)
    }
  }

  /// - Parameter replacing: the original's result is in the registers, and is ours.
  private static func returnString(_ bytes: UnsafeRawBufferPointer, _ address: UnsafeMutableRawPointer, replacing: Bool) -> Bool {
    guard let text = ValueBridge.text(bytes) else { return false }
    // The two result words are a String's two words, which the caller owns.
    let result = address.assumingMemoryBound(to: String.self)
    if replacing { result.pointee = text } else { result.initialize(to: text) }
    return true
  }

  // MARK: Applying

  /// Puts new arguments that are bits where the original, and the handlers inside, find them.
  @inline(__always)
  static func applyBits(_ script: Call) { if script.pointee.arguments.isChanged { putBits(script) } }

  private static func putBits(_ script: Call) {
    let view = script.pointee.view
    script.pointee.withHook { $0.tellOfArguments(script.pointee.changes, words: UInt64(script.pointee.arguments.staged)) }
    ValueWriter(view.call).noteArguments()
    var left = script.pointee.arguments.staged, isChange = false
    while left != 0 {
      let index = left.trailingZeroBitCount
      let isNew = view.withPlan { $0.slots[index] }.put(script.pointee.arguments.stagedBits(index), in: view.call)
      isChange = isChange || isNew
      left &= left - 1
    }
    script.pointee.arguments.forgetStaged()
    // A handler that puts there what it was given has changed nothing.
    if isChange { script.pointee.withHook { $0.noteChange() } }
  }

  /// What the registers of a call's arguments hold, to tell a handler that puts others there from one that forwards what it was given.
  private struct ArgumentRegisters {
    // The fields of HKTFrame before `results`.
    private static let bytes = MemoryLayout<HKTFrame>.offset(of: \.results)!
    private var words: InlineArray<28, UInt64> = InlineArray(repeating: 0)

    init(_ view: CallView) {
      assert(Self.bytes == 28 * 8)
      // The frame has so many bytes before its results, and is aligned to 16.
      let from = UnsafeRawPointer(view.frame)
      for index in 0..<28 { words[index] = from.load(fromByteOffset: 8 * index, as: UInt64.self) }
    }

    func noteChange(_ script: Call) {
      let now = Self(script.pointee.view)
      if (0..<28).contains(where: { words[$0] != now.words[$0] }) { script.pointee.hook?.noteChange() }
    }
  }

  /// The handler returned: what it changed takes effect.
  /// - Parameter returned: its result is in the registers already.
  @inline(__always)
  static func finish(_ script: Call, returned: Bool) throws(HandlerProblem) {
    // After the last run of the original they are of no use.
    if script.pointee.phase == HKT_ENTER { applyBits(script) } else { script.pointee.arguments.forgetStaged() }
    if script.pointee.hasNoRecord, script.pointee.phase != HKT_AROUND || script.pointee.originalRuns > 0 { return }
    if script.pointee.phase == HKT_ENTER, script.pointee.changes.hasStagedArguments {
      script.pointee.hook?.tellOfArguments(script.pointee.changes, words: 0)
      script.pointee.hook?.noteChange()
    }
    try script.pointee.changes.finish(hasResult: returned)
  }

  /// Makes the error in `box` what the call throws. An error with nothing changed when it is none that the function can throw,
  /// or the original's result or what it consumes is out of reach.
  static func finish(throwing box: UInt, _ script: Call) throws(BridgeError) {
    script.pointee.arguments.forgetStaged()
    let isTyped = script.pointee.view.withPlan { $0.throwsTyped }
    if script.pointee.hasRun, script.pointee.view.didThrow, box == (isTyped ? script.pointee.typedErrorBox : script.pointee.view.thrownError) {
      // The original's error is still where it left it.
      return script.pointee.changes.finishUnchanged()
    }
    let typed = isTyped ? try typedError(box, script) : nil
    do throws(HandlerProblem) { try script.pointee.changes.finish(throwing: box, typed: typed) } catch {
      if case .stackUnknown = error { throw .originalMustRun }
      throw .cannotThrow
    }
  }

  /// The error in `box` as a function that states its errors' type throws it.
  private static func typedError(_ box: UInt, _ script: Call) throws(BridgeError) -> OwnedValue {
    guard let info = script.pointee.changes.throwable, let (error, type) = ErrorAPI.opened(box) else { throw .cannotThrow }
    guard type.metadata == info.metadata else { throw .wrongType(expected: "an error of type \(info.name)", found: type.name) }
    let value = OwnedValue(uninitialized: info)
    info.metadata.initialize(value.memory, copying: error)
    return value
  }

  /// The result or error that is there is what the call ends with, and nobody failed.
  static func finishUnchanged(_ script: Call) {
    script.pointee.arguments.forgetStaged()
    script.pointee.changes.finishUnchanged()
  }

  /// The handler failed: nothing of what it changed is left.
  static func abandon(_ script: Call) {
    script.pointee.arguments.forgetStaged()
    script.pointee.changes.abandon()
  }

  // MARK: Calling the original

  /// As `runOriginal`, inside a call that is contained: a trap ends here first, so that the handler ends as it should.
  /// - Returns: the trap; nil: it returned.
  @inline(never)
  static func runOriginalContained(_ script: Call) throws(BridgeError) -> ContainedTrap? {
    try prepareOriginal(script)
    let call = script.pointee.view.call
    guard let trap = Containment.catching(keptBy: call.pointee.thread, { _ = hkt_call_proceed_contained(call, $0) }) else { return nil }
    script.pointee.changes.originalRuns -= 1
    script.pointee.noteTrap()
    return trap
  }

  /// Runs the layers below and the original. Owned arguments are given to each run as copies.
  @inline(__always)
  static func runOriginal(_ script: Call) throws(BridgeError) {
    let view = script.pointee.view
    guard script.pointee.originalRuns == 0, script.pointee.hasNoRecord, script.pointee.arguments.borrowed == 0,
      !view.consumes
    else {
      try prepareOriginal(script)
      return hkt_call_proceed(view.call)
    }
    applyBits(script)
    script.pointee.arguments.originalRuns()
    script.pointee.changes.originalRuns = 1
    hkt_call_proceed(view.call)
  }

  /// The frame holds what the next run of the original is to see.
  static func prepareOriginal(_ script: Call) throws(BridgeError) {
    applyBits(script)
    let isStaged = script.pointee.changes.hasStagedArguments
    if isStaged { script.pointee.hook?.tellOfArguments(script.pointee.changes, words: 0) }
    let former = isStaged ? ArgumentRegisters(script.pointee.view) : nil
    do throws(HandlerProblem) { try script.pointee.changes.prepareOriginal(borrowed: script.pointee.arguments.borrowed) } catch {
      throw .runsOnce(script.pointee.hook.selector)
    }
    former?.noteChange(script)
    script.pointee.arguments.originalRuns()
  }
}
