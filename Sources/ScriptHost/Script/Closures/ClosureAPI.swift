// ClosureAPI — what scripts do with functions of the program: call them, compare them, say what stands in for theirs.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum ClosureAPI {
  static let functions: [(String, SHLFunction)] = [("swift.closure", closure)]
  /// Functions of the program.
  static let handles = HandleClass("Swift closure", tostring: tostring, call: call, equal: equal, release: { _, word, _, _ in release(word) })
  /// What `swift.closure` answers.
  static let functionHandles = HandleClass("Lua function", release: { _, word, _, _ in release(word) })

  // MARK: The handle

  static let tostring: SHLFunction = { context, callback in
    withPatch(context, callback) { _, callback in
      let value = ClosureBridge.value(callback[0])
      return callback.done("<closure \(value.type.name)>")
    }
  }

  static let equal: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let a = callback[0]
      let b = callback[1]
      guard a.tag == SHL_HANDLE, b.tag == SHL_HANDLE, a.cls == patch.classes.closure, b.cls == a.cls else {
        return callback.done(shl_bool(false))
      }
      let (x, y) = (ClosureBridge.value(a), ClosureBridge.value(b))
      return callback.done(shl_bool(x.code == y.code && x.context == y.context && x.type.metadata == y.type.metadata))
    }
  }

  /// The handle was collected: outside the state's lock, on any thread.
  static func release(_ word: UInt64) {
    // Handles of both classes hold one reference in their first word.
    Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(bitPattern: UInt(word))!).release()
  }

  /// The value for a second handle, where handles own what they name: each gives back a reference of its own.
  private static func another(_ value: SHLValue, _ patch: Environment, _ callback: LuaCallback) -> SHLValue {
    guard value.tag == SHL_HANDLE else { return value }
    let owning = ValueBridge(classes: patch.classes, serial: 0, scope: callback.scope)
    switch value.cls {
    case patch.classes.closure: return shl_handle(value.cls, ClosureBridge.retained(value), 0, 0)
    case patch.classes.keptObject, patch.classes.keptError: return value.h.a == 0 ? value : owning.kept(UInt(value.h.a), value.cls)
    default:
      guard let borrowed = patch.classes.borrowedValue(value) else { return value }
      return borrowed.withMemory { owning.copied($0, borrowed.info) } ?? value
    }
  }

  /// `swift.closure(f, { default = v })`, or `{ original = g }`: what stands in when the function fails.
  static let closure: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard callback[0].tag == SHL_FUNCTION else {
        return callback.fail("'swift.closure' takes a Lua function, got \(ValueBridge.describe(callback[0]))")
      }
      var agreed: SHLRef = 0
      var original: FunctionValue?
      if callback[1].tag == SHL_TABLE {
        var problem: String?
        callback.forEach(in: callback[1]) { key, value in
          switch key.text {
          case "default"?: agreed = shl_keep(callback.scope, another(value, patch, callback))
          case "original"? where value.tag == SHL_HANDLE && value.cls == patch.classes.closure: original = ClosureBridge.value(value)
          case "original"?: problem = "option 'original' is a closure of the program, got \(ValueBridge.describe(value))"
          default: problem = "unknown option '\(key.text ?? "?")'; known are default, original"
          }
          return problem == nil
        }
        if let problem { return callback.fail(problem) }
      } else if callback[1].tag != SHL_NIL {
        return callback.fail("options are a table, got \(ValueBridge.describe(callback[1]))")
      }
      let function = shl_keep(callback.scope, callback[0])
      guard function != 0 else { return callback.fail("out of memory") }
      let made = AgreedFunction(patch, function: function, agreed: agreed, original: original)
      return callback.done(shl_handle(patch.classes.function, UInt64(UInt(bitPattern: Unmanaged.passRetained(made).toOpaque())), 0, 0))
    }
  }

  // MARK: Calling

  static let call: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      if let refusal = patch.refusal("a call of a closure") { return callback.fail(refusal) }
      let function = ClosureBridge.value(callback[0])
      guard ClosureBridge.isUsable(function) else { return callback.fail(ClosureBridge.borrowedText) }
      let plan: FunctionPlan
      switch function.plan {
      case .success(let known): plan = known
      case .failure(let problem): return callback.fail("closure '\(function.type.name)' cannot be called: \(problem)")
      }
      let given = callback.count - 1
      let expected = plan.call.argumentCount
      guard given == expected else {
        return callback.fail("closure '\(function.type.name)' takes \(expected) argument\(expected == 1 ? "" : "s"), got \(given)")
      }
      return run(function, plan, patch, callback)
    }
  }

  private static func run(_ function: FunctionValue, _ plan: FunctionPlan, _ patch: Environment, _ callback: LuaCallback) -> Int32 {
    let bridge = ValueBridge(running: patch, callback.scope)
    var arguments: [OwnedValue] = []
    for (index, argument) in plan.call.arguments.enumerated() {
      guard let info = argument.info else { return callback.fail("closure '\(function.type.name)' cannot be called") }
      let value = OwnedValue(uninitialized: info)
      do throws(BridgeError) {
        do throws(BridgeError) { try bridge.store(callback[index + 1], as: info, at: value.memory) } catch {
          value.forget()
          throw error
        }
        try StackPromoted.settle(value, for: .pass)
      } catch {
        for (made, plan) in zip(arguments, plan.call.arguments) { end(made, plan, ran: false) }
        return callback.fail("argument \(index + 1) of closure '\(function.type.name)': \(error.description)")
      }
      arguments.append(value)
    }
    let result = OwnedValue(uninitialized: plan.call.result.info!)
    var addresses = arguments.map(\.memory)
    let unlocked = shl_unlock_all(callback.scope)
    var error: UInt = 0
    let trap = Containment.catching { trap in
      error = addresses.withUnsafeMutableBufferPointer {
        plan.invoke(code: function.code, context: function.context, arguments: UnsafeBufferPointer($0), result: result.memory, trap: trap)
      }
    }
    let status = shl_relock(callback.scope, unlocked)
    var answer: Int32 = 0
    if let trap {
      // What the arguments were passed for may still be at work on them.
      result.forget()
      for value in arguments { value.forget() }
      guard status == SHL_OK else { return -1 }
      let given = GivenValues(callback, first: 1, of: patch)
      return callback.fail(patch.trapped(trap, in: "a closure '\(function.type.name)'", plan.call, given))
    }
    if status != SHL_OK {
      if error == 0 { result.destroy() } else { result.forget() }
      answer = -1
    } else if error != 0 {
      result.forget()
      answer = raise(error, bridge, callback)
    } else {
      if plan.call.resultIsVoid { result.forget() } else { answer = give(result, bridge, callback) }
      for (value, argument) in zip(arguments, plan.call.arguments) where argument.isInout && answer >= 0 {
        answer = give(value.copy(), bridge, callback)
      }
    }
    for (value, argument) in zip(arguments, plan.call.arguments) { end(value, argument, ran: true) }
    return answer
  }

  private static func end(_ value: OwnedValue, _ argument: ArgumentPlan, ran: Bool) {
    ClosureBridge.endBorrow(value.memory, value.info)
    if ran, argument.isOwned { value.forget() } else { value.destroy() }
  }

  /// Appends a value to the results of the callback; takes it.
  private static func give(_ value: OwnedValue, _ bridge: ValueBridge, _ callback: LuaCallback) -> Int32 {
    let borrowed = BorrowedValue(root: .memory(UInt(bitPattern: value.memory)), info: value.info, serial: bridge.serial)
    return withUnsafeTemporaryAllocation(of: (UInt64, UInt64).self, capacity: 1) {
      let given = bridge.lua(value.memory, value.info, borrowed: borrowed, scratch: $0.baseAddress!)
      let answer = callback.done(given)
      // A handle to the memory is borrowed by the handler that runs; everything else was copied or retained.
      if given.tag == SHL_HANDLE, given.cls == bridge.classes.value, let script = ScriptThread.call(bridge.serial) {
        _ = script.pointee.borrowScope().adopt(value)
      } else {
        value.destroy()
      }
      return answer
    }
  }

  /// Raises the error of a box that is ours.
  private static func raise(_ box: UInt, _ bridge: ValueBridge, _ callback: LuaCallback) -> Int32 {
    let handle = bridge.error(box)
    let raised = shl_raise(callback.raw, handle)
    // The handle, or the handler's borrows, hold it.
    Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(bitPattern: box)!).release()
    return raised
  }
}
