// ClosureBridge — functions between Swift memory and Lua: handles for the program's, closures made of Lua functions.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime

/// What `swift.closure` answers: a Lua function and what stands in when it fails.
final class AgreedFunction: @unchecked Sendable {
  // Set in init; `patch` is weak, and the references are only used under its state's lock.
  private weak var patch: Environment?
  let function: SHLRef
  /// 0 for none.
  let agreed: SHLRef
  /// Called instead.
  let original: FunctionValue?

  init(_ patch: Environment, function: SHLRef, agreed: SHLRef, original: FunctionValue?) {
    self.original = original
    self.patch = patch
    self.function = function
    self.agreed = agreed
  }

  deinit {
    guard let patch else { return }
    shl_forget(patch.state, function)
    if agreed != 0 { shl_forget(patch.state, agreed) }
  }
}

enum ClosureBridge {
  // MARK: Swift to Lua

  /// The function value at `memory`: the Lua function it was made of, where it is one of this patch, else a handle.
  static func lua(_ memory: UnsafeRawPointer, _ info: TypeInfo, _ bridge: ValueBridge) -> SHLValue {
    if case .swift? = info.metadata.function?.convention,
      let closure = HostClosure.behind(
        code: memory.loadUnaligned(as: UInt.self), context: memory.loadUnaligned(fromByteOffset: 8, as: UInt.self))?.body as? LuaClosure,
      let patch = bridge.classes.patch?.takeUnretainedValue(), closure.belongs(to: patch)
    {
      return shl_ref_value(closure.function)
    }
    let value = function(at: memory, info, bridge.serial).original
    // Released when the handle is collected.
    return shl_handle(bridge.classes.closure, UInt64(UInt(bitPattern: Unmanaged.passRetained(value).toOpaque())), 0, 0)
  }

  /// The function value at `memory`: borrowed by the call where it does not escape, or lies in a frame, else retained.
  static func function(at memory: UnsafeRawPointer, _ info: TypeInfo, _ serial: UInt64) -> FunctionValue {
    FunctionValue(memory, info, borrowOwner: borrowOwner(serial), endsWithCall: StackPromoted.find(in: memory, info) != nil)
  }

  /// The function behind a handle of the class `closure`.
  static func value(_ handle: SHLValue) -> FunctionValue {
    // The word was made by `lua`, and the handle holds the reference.
    Unmanaged<FunctionValue>.fromOpaque(UnsafeRawPointer(bitPattern: UInt(handle.h.a))!).takeUnretainedValue()
  }

  /// The first word of another handle of the class.
  static func retained(_ handle: SHLValue) -> UInt64 { UInt64(UInt(bitPattern: Unmanaged.passRetained(value(handle)).toOpaque())) }

  // MARK: Borrowing

  /// Closures that do not escape are borrowed until the hooked call is over, not only its handler: a closure that stands in
  /// for one may call it.
  static func borrowOwner(_ serial: UInt64) -> UInt64 {
    guard let script = ScriptThread.call(serial), script.pointee.hook != nil, let own = ScriptThread.current() else { return serial }
    let call = script.pointee.view.call
    if call.pointee.borrow_owner == 0 {
      own.pointee.counter += 1
      call.pointee.borrow_owner = UInt64(UInt32(bitPattern: hkt_thread().pointee.tid)) << 36 | own.pointee.counter & 0xF_FFFF_FFFF
    }
    return call.pointee.borrow_owner
  }

  /// Only on the thread of the call that borrowed it, while that call lasts.
  static func isUsable(_ value: FunctionValue) -> Bool {
    if !value.isBorrowed || ScriptThread.isCurrent(value.borrowOwner) { return true }
    // The calls of async functions are on no thread's stack; while a handler runs, its call is not over.
    var script = ScriptThread.current()?.pointee.top
    while let running = script {
      if running.pointee.view.call.pointee.borrow_owner == value.borrowOwner { return true }
      script = running.pointee.up
    }
    return withUnsafeTemporaryAllocation(byteCount: 8, alignment: 8) { here in
      var each = hkt_thread()?.pointee.top
      // Calls that were left by a jump over them lie below us on the stack, and are no calls any more.
      while let call = each, UInt(bitPattern: call) > UInt(bitPattern: here.baseAddress!) {
        if call.pointee.borrow_owner == value.borrowOwner { return true }
        each = call.pointee.up
      }
      return false
    }
  }

  // MARK: Lua to Swift

  /// Initialises `memory` with a function of type `info`. The context is owned by the value; where the type does not
  /// escape, and so releases nothing, the caller ends it with `endBorrow` when the call it was made for is over.
  /// - Parameter replaced: what was there: it stands in when the Lua function fails.
  static func store(
    _ value: SHLValue, as info: TypeInfo, at memory: UnsafeMutableRawPointer, _ bridge: ValueBridge,
    replacing replaced: FunctionValue? = nil
  )
    throws(BridgeError)
  {
    switch value.tag {
    case SHL_HANDLE where value.cls == bridge.classes.closure: try pass(self.value(value), as: info, at: memory)
    case SHL_HANDLE where value.cls == bridge.classes.function:
      // The word was made by `swift.closure`, and the handle holds the reference.
      let agreed = Unmanaged<AgreedFunction>.fromOpaque(UnsafeRawPointer(bitPattern: UInt(value.h.a))!).takeUnretainedValue()
      let replaced = try agreed.original.map { (value) throws(BridgeError) in try original(value, as: info) } ?? replaced
      try make(shl_ref_value(agreed.function), as: info, at: memory, bridge, replacing: replaced, agreed: agreed.agreed)
    case SHL_FUNCTION: try make(value, as: info, at: memory, bridge, replacing: replaced, agreed: 0)
    case SHL_NIL: throw .notNil(type: info.name)
    default: throw .wrongType(expected: "a function", found: ValueBridge.describe(value))
    }
  }

  /// Ends the context of a closure that `store` left in memory whose type does not.
  static func endBorrow(_ memory: UnsafeRawPointer, _ info: TypeInfo) {
    if info.isBorrowedFunction { FunctionValue.release(memory.loadUnaligned(fromByteOffset: 8, as: UInt.self)) }
  }

  /// Puts a closure of the program at `memory`, which holds none yet, in the form that `info` asks for.
  private static func pass(_ value: FunctionValue, as info: TypeInfo, at memory: UnsafeMutableRawPointer) throws(BridgeError) {
    guard isUsable(value) else { throw .closure(borrowedText) }
    guard let given = value.type.metadata.function, let wanted = info.metadata.function, given.canStandFor(wanted) else {
      throw .wrongType(expected: "'\(info.name)'", found: "'\(value.type.name)'")
    }
    if value.isBorrowed, wanted.isEscaping { throw .closure("a closure that does not escape cannot be kept, and '\(info.name)' may be") }
    do throws(FunctionProblem) { try value.store(at: memory, as: info) } catch { throw .closure(error.description) }
  }

  /// The closure in the form that the one it stands in for has.
  private static func original(_ value: FunctionValue, as info: TypeInfo) throws(BridgeError) -> FunctionValue {
    if value.type === info, isUsable(value), info.isBorrowedFunction || !value.isBorrowed { return value }
    let memory = OwnedValue(uninitialized: info)
    defer { memory.forget() }
    try pass(value, as: info, at: memory.memory)
    let original = FunctionValue(memory.memory, info, borrowOwner: value.borrowOwner)
    if !original.isBorrowed { FunctionValue.release(original.context) }
    return original
  }

  static let borrowedText = "this closure does not escape: it was only borrowed for the call it came with, which is over"

  /// Makes a closure of a Lua function at `memory`, which holds none yet.
  /// - Parameter agreed: the value it answers when it fails; 0: none.
  private static func make(
    _ function: SHLValue, as info: TypeInfo, at memory: UnsafeMutableRawPointer, _ bridge: ValueBridge, replacing replaced: FunctionValue?,
    agreed: SHLRef
  ) throws(BridgeError) {
    guard let scope = bridge.scope, let patch = bridge.classes.patch?.takeUnretainedValue() else {
      throw .closure("a Lua function cannot become a closure here")
    }
    let plan: FunctionPlan
    switch FunctionPlans.shared.plan(info) {
    case .success(let known): plan = known
    case .failure(let problem): throw .closure("no closure of type '\(info.name)' can be made: \(problem)")
    }
    guard plan.hasContext else { throw .closure("'\(info.name)' is a plain code address, which cannot carry a Lua function") }
    let fallback = try fallback(plan, bridge, replaced, agreed, scope)
    let kept = shl_keep(scope, function)
    guard kept != 0 else {
      if case .value(let value) = fallback { value.destroy() }
      throw .closure("out of memory")
    }
    let made = HostClosure.make(plan, LuaClosure(kept, of: patch, name: info.name, fallback: fallback))
    memory.storeBytes(of: made.code, as: UInt.self)
    memory.storeBytes(of: made.context, toByteOffset: 8, as: UInt.self)
  }

  /// What stands in for the Lua function when it fails.
  private static func fallback(
    _ plan: FunctionPlan, _ bridge: ValueBridge, _ replaced: FunctionValue?, _ agreed: SHLRef, _ scope: UnsafeMutablePointer<SHLScope>
  ) throws(BridgeError) -> ClosureFallback {
    if agreed != 0, let info = plan.call.result.info, !plan.call.resultIsVoid {
      let value = OwnedValue(uninitialized: info)
      let mark = shl_mark(scope)
      defer { shl_drop(scope, mark) }
      do throws(BridgeError) {
        do throws(BridgeError) { try bridge.store(shl_kept(scope, agreed), as: info, at: value.memory) } catch {
          value.forget()
          throw error
        }
        try StackPromoted.settle(value, for: .keep)
      } catch {
        throw .closure("the default for '\(plan.type.name)': \(error.description)")
      }
      return .value(value)
    }
    if let replaced, replaced.type === plan.type { return .original(replaced) }
    if plan.call.resultIsVoid || plan.call.mayThrow { return .neutral }
    if case .optional? = plan.call.result.info?.kind { return .neutral }
    throw .closure(
      "a Lua function can fail, and '\(plan.type.name)' must return a value; say which: swift.closure(f, { default = … })")
  }
}

extension TypeInfo {
  /// A closure, or an Optional of one.
  var holdsFunction: Bool {
    switch kind {
    case .closure: true
    case .optional(let payload): payload.holdsFunction
    default: false
    }
  }
}

extension FunctionShape {
  /// Calls of the other type can be made to a function of this type as they are.
  func canStandFor(_ other: FunctionShape) -> Bool {
    guard convention == other.convention, isAsync == other.isAsync, result == other.result, thrown == other.thrown,
      isThrowing == other.isThrowing || other.thrown == nil && other.isThrowing, parameters.count == other.parameters.count
    else { return false }
    return zip(parameters, other.parameters).allSatisfy {
      $0.type == $1.type && $0.ownership == $1.ownership && $0.isIsolated == $1.isIsolated
    }
  }
}
