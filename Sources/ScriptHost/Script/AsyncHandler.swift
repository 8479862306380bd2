// AsyncHandler — an `around` handler of an async call: it waits for the original without holding its thread.
//
// The handler is a coroutine of its state. `call:original()` makes it wait; the dispatcher runs the original, on
// whatever threads it likes, and calls the layer again when the results are there. Between two steps the state's lock
// is free, nothing of the handler is on a stack, and the call is in no thread's chain.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge
internal import Synchronization

/// Owned by its call's record, from the first step to the last.
final class AsyncHandler {
  enum Wish {
    case nothing
    /// `call:original()`, or `call:try()`, which answers the error.
    case original(catching: Bool)
    /// An async function of the program.
    case call(AwaitedCall)
  }

  let hook: LuaHook
  let script: UnsafeMutablePointer<ScriptCall>
  /// The rest of the handler.
  var waiting: OpaquePointer?
  /// What it waits for.
  var wish = Wish.nothing

  init(_ hook: LuaHook, _ script: ScriptCall) {
    self.hook = hook
    self.script = .allocate(capacity: 1)
    self.script.initialize(to: script)
    self.script.pointee.async = self
  }

  deinit {
    if let waiting { shl_drop_waiting(hook.patch.state, waiting) }
    if case .call(let call) = wish { call.discard() }
    script.pointee.end()
    script.deallocate()
  }

  /// Runs `body` as the innermost handler of this thread.
  func onThread<R>(_ body: () -> R) -> R {
    let thread = ScriptThread.of(script.pointee.view.call.pointee.thread)
    script.pointee.up = thread.pointee.top
    thread.pointee.top = script
    // `script` is this object's memory: the object outlives the step, whoever else lets go of it.
    defer { withExtendedLifetime(self) { thread.pointee.top = script.pointee.up } }
    return body()
  }

  /// What `call:original()` does: the handler waits, the original runs when it has let go of the thread.
  func callOriginal(_ callback: LuaCallback, catching: Bool) -> Int32 {
    guard shl_can_wait(callback.raw) else {
      return callback.fail(
        "'\(script.pointee.hook.selector)' is async: its original is called by the handler or a coroutine of it, "
          + "not in a function that Lua's library calls, such as one of table.sort"
      )
    }
    do throws(BridgeError) { try CallValues.prepareOriginal(script) } catch { return callback.fail(error.description) }
    wish = .original(catching: catching)
    return shl_wait(callback.raw, Self.originalReturned, Unmanaged.passUnretained(hook.patch).toOpaque(), false)
  }

  /// What `call:original()` answers when the original has returned.
  private static let originalReturned: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let script = callback.call, let handler = script.pointee.async, case .original(let catching) = handler.wish else {
        return callback.fail("this call is over")
      }
      handler.wish = .nothing
      return CallAPI.answerOriginal(script, patch, callback, catching: catching)
    }
  }
}

extension LuaHook {
  /// One step of an `around` handler of an async call.
  func runAsync(_ call: UnsafeMutablePointer<HKTCall>, _ phase: HKTPhase) -> HKTOutcome {
    if phase == HKT_AROUND {
      let changes = HandlerChanges(call, phase)
      guard !breaker.isOpen, !isMismatch(changes.view) else {
        if !breaker.isOpen { hkt_count_receiver_mismatch(call) }
        return HKT_FAILED
      }
      let handler = AsyncHandler(self, ScriptCall(changes, hook: self, patch: owner, serial: serial(of: call), up: nil))
      return handler.onThread { start(handler) }
    }
    // The layer stored it when it began to wait; this step owns it.
    let handler = Unmanaged<AsyncHandler>.fromOpaque(hkt_async_layer(call).pointee.state!).takeRetainedValue()
    hkt_async_layer(call).pointee.state = nil
    return handler.onThread {
      if phase == HKT_DROP || !patch.isLive { return abandon(handler.script) }
      return goOn(handler)
    }
  }

  private func start(_ handler: AsyncHandler) -> HKTOutcome {
    let script = handler.script
    let count = min(wanted, script.pointee.view.withPlan { $0.argumentCount }, 31)
    return withUnsafeTemporaryAllocation(of: (UInt64, UInt64).self, capacity: count) { scratch in
      let bridge = ValueBridge(classes: patch.classes, serial: script.pointee.serial)
      var values = [shl_call_here(UnsafeMutableRawPointer(script))]
      for index in 0..<count { values.append(CallValues.argument(index, script, bridge, scratch.baseAddress! + index)) }
      return step(handler) { result, invocation, waiting in
        var budget = SHLBudget(instructions: 0, wall_ns: 0, lock_ns: lockTime)
        return shl_start(patch.state, function, values, Int32(values.count), result, 1, &budget, invocation, waiting)
      }
    }
  }

  private func goOn(_ handler: AsyncHandler) -> HKTOutcome {
    let rest = handler.waiting
    handler.waiting = nil
    return step(handler) { result, invocation, waiting in
      // It has begun and must end: it waits for the lock as long as it takes.
      var budget = SHLBudget(instructions: 0, wall_ns: 0, lock_ns: -1)
      let host = UnsafeMutableRawPointer(handler.script)
      let status = shl_continue(patch.state, rest, host, result, 1, &budget, invocation, waiting)
      if status == SHL_STACK_LOW || status == SHL_TOO_DEEP || status == SHL_POISONED { handler.waiting = rest }
      return status
    }
  }

  /// Runs the handler up to where it waits or ends.
  private func step(
    _ handler: AsyncHandler,
    _ run: (UnsafeMutablePointer<SHLValue>, UnsafeMutablePointer<SHLInvocation>, UnsafeMutablePointer<OpaquePointer?>) -> SHLStatus
  ) -> HKTOutcome {
    withUnsafeTemporaryAllocation(of: SHLInvocation.self, capacity: 1) { invocation in
      var result = SHLValue()
      var waiting: OpaquePointer?
      let status = run(&result, invocation.baseAddress!, &waiting)
      guard status == SHL_WAITING else { return ended(handler.script, status, &result, invocation.baseAddress!) }
      handler.waiting = waiting
      hkt_async_layer(handler.script.pointee.view.call).pointee.state = Unmanaged.passRetained(handler).toOpaque()
      guard case .call(let awaited) = handler.wish else { return HKT_PROCEED }
      hkt_async_call(handler.script.pointee.view.call).pointee.callee = awaited.callee
      return HKT_AWAIT
    }
  }
}

/// The layer of every Lua handler that may have to wait.
let asyncLuaLayer: HKTLayerFunction = { call, context, phase in
  guard let call, let context else { return HKT_HANDLED }
  // The context is the hook that the patch retained for this layer.
  return Unmanaged<LuaHook>.fromOpaque(context)._withUnsafeGuaranteedRef { CallView(call).isAsync ? $0.runAsync(call, phase) : $0.run(call, phase) }
}
