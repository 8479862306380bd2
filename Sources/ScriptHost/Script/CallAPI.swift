// CallAPI — what a handler does with `call`.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import Journal
internal import LuaBridge
internal import SwiftMangling

enum CallAPI {
  static let argumentHandles = HandleClass("call.args", index: argumentsIndex, newindex: argumentsNewindex, length: argumentsLength)

  private enum Member: Int32, CaseIterable {
    case self_, type, selector, args, result, error, errno_, duration, depth, thread, task, ctx
    /// Spelled out: to find the name of a case the runtime looks through the conformances of all images.
    var name: String {
      switch self {
      case .self_: "self"
      case .type: "type"
      case .selector: "selector"
      case .args: "args"
      case .result: "result"
      case .error: "error"
      case .errno_: "errno"
      case .duration: "duration_ns"
      case .depth: "depth"
      case .thread: "thread"
      case .task: "task"
      case .ctx: "ctx"
      }
    }
  }

  private static let fields = Member.allCases.map { ($0.name, $0.rawValue) }

  static let members = NamedFunctions(
    // Of an overridden method the original is the superclass's.
    [("original", original), ("super", superOriginal), ("try", tryOriginal), ("throw", ErrorAPI.throwError), ("stack", CallStack.function)],
    fields: fields)

  /// Registers what `call` stands for.
  /// - Parameter context: the patch, as all functions of its state get it.
  static func register(_ state: OpaquePointer, _ context: UnsafeMutableRawPointer, arguments: UInt32, _ check: (SHLStatus) -> Void) {
    "call".withCString { name in
      var description = SHLClass()
      description.name = name
      description.ctx = context
      description.index = index
      description.newindex = newindex
      description.tostring = { context, callback in
        withPatch(context, callback) { _, callback in callback.done("call of '\(callback.call?.pointee.hook.selector ?? "?")'") }
      }
      check(shl_call_class(state, &description))
    }
    // A ScriptCall begins with its SHLArguments.
    check(shl_arguments_class(state, arguments, Member.args.rawValue))
  }

  // MARK: Fields

  private static let index: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let script = callback.call else { return callback.fail("this call is over; copy what you need while its handler runs") }
      guard let member = Member(rawValue: callback.raw.pointee.field) else {
        return callback.fail(
          "'call' has no field '\(callback.name ?? "?")'; it has \(fields.map(\.0).joined(separator: ", ")), original(), try(), throw(), stack()"
        )
      }
      let bridge = ValueBridge(classes: patch.classes, serial: script.pointee.serial, scope: callback.scope)
      switch member {
      case .self_:
        if script.pointee.phase == HKT_EXIT, script.pointee.view.selfEndsWithCall { return callback.done(shl_nil()) }
        if script.pointee.view.withPlan({ $0.makesSelf }) { return callback.done(shl_handle(patch.classes.value, CallValues.unmadeMark, 0, 0)) }
        guard let object = script.pointee.view.selfObject else {
          let isUsedUp = script.pointee.view.withPlan { $0.selfUse == .consumed }
          return isUsedUp
            ? callback.done(shl_handle(patch.classes.value, CallValues.consumedMark, 0, 0)) : selfValue(script, bridge, callback)
        }
        return callback.done(bridge.object(UInt(bitPattern: object)))
      case .type: return callback.done(script.pointee.hook.declaration.context?.description ?? script.pointee.hook.declaration.module)
      case .selector: return callback.done(script.pointee.hook.selector)
      case .args: return callback.done(shl_handle(patch.classes.arguments, 0, 0, script.pointee.serial))
      case .result: return result(script, bridge, callback)
      case .error:
        guard case .threw = script.pointee.changes.resultState else { return callback.done(shl_nil()) }
        let error = script.pointee.view.errorBox()
        // Thrown, and out of reach: neither an error of its own nor none.
        return callback.done(error == 0 ? shl_handle(patch.classes.value, CallValues.notDecodedMark, 0, 0) : errorHandle(patch, script, error))
      case .errno_: return callback.done(shl_int(Int64(script.pointee.view.call.pointee.error_number)))
      case .duration: return duration(script, callback)
      case .depth: return callback.done(shl_int(Int64(script.pointee.view.depth)))
      case .task: return task(callback)
      case .thread: return callback.done(shl_int(Int64(hkt_thread().pointee.tid)))
      case .ctx: return CallContext.table(script, patch, callback)
      }
    }
  }

  /// `call.duration_ns`, where the hook measures it.
  private static func duration(_ script: UnsafeMutablePointer<ScriptCall>, _ callback: LuaCallback) -> Int32 {
    guard let hook = script.pointee.hook, hook.isTimed || hook.position == .before else {
      return callback.fail(
        "how long calls take is measured where the patch's text says so: write 'call.duration_ns', not a name put together")
    }
    return callback.done(shl_int(Int64(clamping: script.pointee.view.durationNanoseconds)))
  }

  /// A number for the task the call runs in, nil outside of tasks.
  private static func task(_ callback: LuaCallback) -> Int32 {
    let task = hkt_async_task_number()
    return callback.done(task == 0 ? shl_nil() : shl_int(Int64(bitPattern: task)))
  }

  /// The struct or enum the method runs on, borrowed where it is; nil for a function that has no self.
  private static func selfValue(_ script: UnsafeMutablePointer<ScriptCall>, _ bridge: ValueBridge, _ callback: LuaCallback) -> Int32 {
    switch script.pointee.plan.selfPlan {
    case .none: return callback.done(shl_nil())
    case .value(let plan):
      guard let info = plan.info else { break }
      if plan.readable == .optimizedOut { return callback.done(shl_handle(bridge.classes.value, CallValues.optimizedOutMark, 0, 0)) }
      switch script.pointee.changes.selfState(plan) {
      case .left, .presumed: break
      case .gone: return callback.done(shl_handle(bridge.classes.value, CallValues.consumedMark, 0, 0))
      case .unknown: return callback.done(shl_handle(bridge.classes.value, CallValues.perhapsConsumedMark, 0, 0))
      }
      let borrowed = BorrowedValue(root: .selfValue, info: info, serial: bridge.serial)
      // What a getter is passed by its words is no variable that it could change.
      let isByWords = if case .pieces = plan.location { true } else { false }
      let isFixed = plan.access == .borrowed || plan.access == .owned || isByWords && script.pointee.hook.declaration.kind == .getter
      if plan.readable.isWhole {
        let done = ValueAPI.withScratch { scratch in
          script.pointee.withMemory(of: borrowed) {
            callback.done(
              isFixed ? bridge.lua($0, info, borrowed: borrowed, scratch: scratch) : bridge.snapshot($0, info, scratch, borrowed: borrowed))
          } ?? -2
        }
        if done != -2 { return done }
      } else if case .parts = plan.readable {
        let (a, b, c) = borrowed.words()
        return callback.done(shl_handle(bridge.classes.value, a, b, c))
      }
    default: break
    }
    return callback.done(shl_handle(bridge.classes.value, CallValues.notDecodedMark, 0, 0))
  }

  /// A handle to the error in `box`, good for this call.
  private static func errorHandle(_ patch: Environment, _ script: UnsafeMutablePointer<ScriptCall>, _ box: UInt) -> SHLValue {
    shl_handle(patch.classes.error, UInt64(box), 0, script.pointee.serial)
  }

  /// `call.result`: the one that was set, or that the original returned; nil where it threw.
  private static func result(_ script: UnsafeMutablePointer<ScriptCall>, _ bridge: ValueBridge, _ callback: LuaCallback) -> Int32 {
    switch script.pointee.changes.resultState {
    case .missing: return callback.fail("'\(script.pointee.hook.selector)' has no result yet; use 'after', or call:original()")
    case .threw: return callback.done(shl_nil())
    case .staged, .returned:
      return withUnsafeTemporaryAllocation(of: (UInt64, UInt64).self, capacity: 1) {
        callback.done(CallValues.result(script, bridge, $0.baseAddress!))
      }
    }
  }

  private static let newindex: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let script = callback.call else { return callback.fail("this call is over") }
      let member = Member(rawValue: callback.raw.pointee.field)
      if member == .errno_ { return setErrno(script, callback) }
      guard member == .result else {
        return callback.fail("'call.\(callback.name ?? "?")' cannot be set; 'call.result', 'call.errno' and 'call.args.…' can")
      }
      guard script.pointee.phase != HKT_ENTER else {
        return callback.fail("a 'before' handler cannot set the result; use 'around' or 'after'")
      }
      let bridge = ValueBridge(classes: patch.classes, serial: script.pointee.serial, scope: callback.scope)
      do throws(BridgeError) {
        try CallValues.stageResult(callback[2], script, bridge)
        return callback.done()
      } catch { return callback.fail("result of '\(script.pointee.hook.selector)': \(error.description)") }
    }
  }

  /// What the program finds in errno when the call returns; the original, if it runs later, sets its own.
  private static func setErrno(_ script: UnsafeMutablePointer<ScriptCall>, _ callback: LuaCallback) -> Int32 {
    guard callback[2].tag == SHL_INT, let number = Int32(exactly: callback[2].i) else {
      return callback.fail("'call.errno' is a number, such as 111 (connection refused)")
    }
    script.pointee.view.call.pointee.error_number = number
    return callback.done()
  }

  // MARK: Arguments

  /// The call that `call.args` belongs to; nil once it is over, and on other threads.
  private static func running(_ callback: LuaCallback) -> UnsafeMutablePointer<ScriptCall>? {
    ScriptThread.call(callback[0].h.c)
  }

  /// The argument a key means: 1, 2, … or a label.
  private static func position(_ key: SHLValue, _ script: UnsafeMutablePointer<ScriptCall>, _ callback: LuaCallback) -> Int? {
    switch key.tag {
    case SHL_INT:
      let count = script.pointee.view.withPlan { $0.argumentCount }
      return key.i >= 1 && key.i <= count ? Int(key.i) - 1 : nil
    case SHL_STRING:
      guard var bytes = callback.rawName else { return nil }
      if bytes.last == UInt8(ascii: "_"), bytes.count > 1 { bytes = UnsafeRawBufferPointer(rebasing: bytes.dropLast()) }
      return script.pointee.view.withPlan { $0.position(ofLabel: bytes) }
    default: return nil
    }
  }

  /// Refuses a key that means no argument, with those there are.
  private static func unknownArgument(_ script: UnsafeMutablePointer<ScriptCall>, _ callback: LuaCallback) -> Int32 {
    let arguments = script.pointee.plan.arguments
    let names = arguments.enumerated().map { $1.label ?? "\($0 + 1)" }.joined(separator: ", ")
    return callback.fail(
      "'\(script.pointee.hook.selector)' has no argument '\(callback.name ?? callback.shown(1))'; it has \(names.isEmpty ? "none" : names)")
  }

  static let argumentsIndex: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let script = running(callback) else { return callback.fail("this call is over") }
      guard let index = position(callback[1], script, callback) else { return unknownArgument(script, callback) }
      let bridge = ValueBridge(classes: patch.classes, serial: script.pointee.serial, scope: callback.scope)
      return withUnsafeTemporaryAllocation(of: (UInt64, UInt64).self, capacity: 1) {
        callback.done(CallValues.argument(index, script, bridge, $0.baseAddress!))
      }
    }
  }

  static let argumentsNewindex: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let script = running(callback) else { return callback.fail("this call is over") }
      guard let index = position(callback[1], script, callback) else { return unknownArgument(script, callback) }
      guard script.pointee.changes.mayStage(index) else { return refuseArgument(script, callback) }
      return stage(index, callback[2], script, patch, callback, forNextRun: false)
    }
  }

  /// The original has had its arguments.
  private static func refuseArgument(_ script: UnsafeMutablePointer<ScriptCall>, _ callback: LuaCallback) -> Int32 {
    let advice = script.pointee.phase == HKT_AROUND && !script.pointee.didTrap ? "; pass those of another run to call:original(…)" : ""
    return callback.fail("the original of '\(script.pointee.hook.selector)' has run: its arguments cannot be changed any more\(advice)")
  }

  static let argumentsLength: SHLFunction = { context, callback in
    withPatch(context, callback) { _, callback in
      guard let script = running(callback) else { return callback.fail("this call is over") }
      return callback.done(shl_int(Int64(script.pointee.view.withPlan { $0.argumentCount })))
    }
  }

  /// Makes the value that of argument `index`; answers 0, or what the failure does.
  private static func stage(
    _ index: Int, _ value: SHLValue, _ script: UnsafeMutablePointer<ScriptCall>, _ patch: Environment, _ callback: LuaCallback, forNextRun: Bool
  ) -> Int32 {
    let bridge = ValueBridge(classes: patch.classes, serial: script.pointee.serial, scope: callback.scope)
    do throws(BridgeError) {
      try CallValues.stageArgument(index, value, script, bridge, forNextRun: forNextRun)
      return 0
    } catch {
      let name = script.pointee.plan.arguments[index].label ?? "\(index + 1)"
      return callback.fail("argument '\(name)' of '\(script.pointee.hook.selector)': \(error.description)")
    }
  }

  // MARK: The original

  /// As the handler calls it, for messages.
  private enum Verb: String { case original = "call:original", superclass = "call:super", catching = "call:try" }

  private static let original: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in runOriginal(patch, callback, .original) }
  }
  private static let superOriginal: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in runOriginal(patch, callback, .superclass) }
  }
  private static let tryOriginal: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in runOriginal(patch, callback, .catching) }
  }

  /// `call:original()` with the current arguments, `call:original(a, b)` with all of them anew.
  private static func runOriginal(_ patch: Environment, _ callback: LuaCallback, _ verb: Verb) -> Int32 {
    let catching = verb == .catching
    guard let script = callback.call, script.pointee.phase == HKT_AROUND, !script.pointee.didTrap, ScriptThread.current()?.pointee.top == script
    else {
      return refuseOriginal(callback)
    }
    if callback.raw.pointee.argc > 1 {
      let outcome = stageAll(script, patch, callback, verb)
      if outcome < 0 { return outcome }
    }
    if let async = script.pointee.async { return async.callOriginal(callback, catching: catching) }
    // The scope is the callback's first member. Asking another module for it is a call.
    let scope = UnsafeMutableRawPointer(callback.raw).assumingMemoryBound(to: SHLScope.self)
    // What it does once is the program's own; a handler that runs it again and again is charged for that.
    let unlocked = script.pointee.originalRuns == 0 ? shl_unlock_original(scope) : shl_unlock_all(scope)
    var problem: BridgeError?
    var trap: ContainedTrap?
    do throws(BridgeError) {
      if script.pointee.view.call.pointee.thread.pointee.landing == nil || !hkt_is_contained() { try CallValues.runOriginal(script) }
      else { trap = try CallValues.runOriginalContained(script) }
    } catch { problem = error }
    if shl_relock(scope, unlocked) != SHL_OK { return -1 }
    if let trap { return callback.fail("the original trapped: \(trap.reason)") }
    if let problem { return callback.fail(problem.description) }
    if !catching, answerStraight(script, callback.raw) { return 0 }
    return answerOriginal(script, patch, callback, catching: catching)
  }

  /// Why the original cannot be called here. Apart, as all that is rare: what every call runs through is to be small.
  @inline(never)
  private static func refuseOriginal(_ callback: LuaCallback) -> Int32 {
    guard let script = callback.call else { return callback.fail("this call is over") }
    guard script.pointee.phase == HKT_AROUND else {
      return callback.fail("only an 'around' handler calls the original; '\(script.pointee.hook.position.rawValue)' runs beside it")
    }
    if script.pointee.didTrap { return callback.fail("the original has trapped, and cannot run again in this call") }
    return callback.fail("the original runs on the call's own thread and in its own handler")
  }

  /// The arguments given behind `call` are the original's. Negative: what to answer.
  @inline(never)
  private static func stageAll(_ script: UnsafeMutablePointer<ScriptCall>, _ patch: Environment, _ callback: LuaCallback, _ verb: Verb) -> Int32 {
    let given = callback.count - 1
    let expected = script.pointee.view.withPlan { $0.argumentCount }
    guard given == expected else {
      return callback.fail(
        "'\(script.pointee.hook.selector)' takes \(expected) argument\(expected == 1 ? "" : "s"), \(verb.rawValue) got \(given); pass all or none"
      )
    }
    for index in 0..<given {
      let outcome = stage(index, callback[index + 1], script, patch, callback, forNextRun: true)
      if outcome < 0 { return outcome }
    }
    return 0
  }

  /// A result that is a number or a Bool in a register. False, with nothing done, for all others, and after an error.
  @inline(__always)
  private static func answerStraight(_ script: UnsafeMutablePointer<ScriptCall>, _ raw: UnsafeMutablePointer<SHLCallback>) -> Bool {
    let view = script.pointee.view
    guard script.pointee.hasNoRecord, !view.didThrow else { return false }
    let slot = view.withPlan { $0.resultSlot }
    guard let result = CallValues.scalar(slot, at: slot.address(in: view.call)) else { return false }
    script.pointee.typedErrorBox = 0
    // All of the union's plain members lie in its first word.
    return shl_return_bits(raw, result.tag, UInt64(bitPattern: result.i)) == SHL_OK
  }

  /// The original has run: its result, or its error.
  static func answerOriginal(_ script: UnsafeMutablePointer<ScriptCall>, _ patch: Environment, _ callback: LuaCallback, catching: Bool) -> Int32 {
    let bridge = ValueBridge(classes: patch.classes, serial: script.pointee.serial, scope: callback.scope)
    if script.pointee.view.didThrow {
      let error = script.pointee.view.errorBox()
      script.pointee.typedErrorBox = script.pointee.view.withPlan { $0.throwsTyped } ? error : 0
      let handle = errorHandle(patch, script, error)
      guard catching else { return shl_raise(callback.raw, handle) }
      _ = shl_return(callback.raw, shl_bool(false))
      return callback.done(handle)
    }
    script.pointee.typedErrorBox = 0
    if catching { _ = shl_return(callback.raw, shl_bool(true)) }
    if script.pointee.view.withPlan({ $0.resultIsVoid }) { return callback.done() }
    return withUnsafeTemporaryAllocation(of: (UInt64, UInt64).self, capacity: 1) {
      callback.done(CallValues.result(script, bridge, $0.baseAddress!))
    }
  }
}

/// `call.ctx`: a table the phases of one call share. Made at first use, forgotten when the call ends.
enum CallContext {
  final class Tables {
    var byState: [(patch: Environment, ref: SHLRef)] = []
    deinit { for each in byState { shl_forget(each.patch.state, each.ref) } }
  }

  /// Set once at start: how the dispatcher ends the tables of a call.
  static func installReleaseHandler() {
    hkt_set_release_scratch { Unmanaged<Tables>.fromOpaque($0!).release() }
  }

  /// The patch's table for the call, made at first use.
  static func table(_ script: UnsafeMutablePointer<ScriptCall>, _ patch: Environment, _ callback: LuaCallback) -> Int32 {
    let call = script.pointee.view.call
    if call.pointee.scratch == nil { call.pointee.scratch = Unmanaged.passRetained(Tables()).toOpaque() }
    // Only this file stores `scratch`.
    let tables = Unmanaged<Tables>.fromOpaque(call.pointee.scratch!).takeUnretainedValue()
    if let known = tables.byState.first(where: { $0.patch === patch }) { return callback.done(shl_ref_value(known.ref)) }
    let made = shl_keep(callback.scope, shl_table_new(callback.scope, 0, 4))
    guard made != 0 else { return callback.fail("out of memory") }
    tables.byState.append((patch, made))
    return callback.done(shl_ref_value(made))
  }
}
