// AwaitedCall — an async function of the program, called by a handler that waits for it.
//
// The handler's coroutine waits, not its thread; the function runs in the task of the call that is handled. Arguments and
// result have memory of their own until the handler goes on. A test waits with its thread, for a task of its own.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

/// Owned by the handler that waits, or by the test.
final class AwaitedCall {
  private let callable: Callable
  private let receiver: UInt
  private let keepsReceiver: Bool
  private let catching: Bool
  private let block: UnsafeMutableRawPointer
  private let home: OwnedValue?
  /// What the dispatcher runs.
  let callee: UnsafeMutablePointer<HKTAsyncCallee>

  private init?(_ bound: BoundCall, on receiver: UInt, _ isObject: Bool, _ block: UnsafeMutableRawPointer, catching: Bool) {
    callable = bound.callable
    self.receiver = receiver
    self.catching = catching
    self.block = block
    home = callable.result.flatMap { $0.size > CallInAPI.resultRoom || $0.alignment > 16 ? OwnedValue(uninitialized: $0) : nil }
    guard let callee = callable.callee(block, receiver: receiver, pointer: bound.entry, result: home?.memory ?? block + callable.blockBytes)
    else { return nil }
    self.callee = callee
    keepsReceiver = isObject
    // Its method may let go of the last other reference to it.
    if isObject, let pointer = UnsafeRawPointer(bitPattern: receiver) { _ = Unmanaged<AnyObject>.fromOpaque(pointer).retain() }
  }

  deinit {
    hkt_async_callee_free(callee)
    block.deallocate()
    if keepsReceiver { ProgramCall.release(receiver) }
  }

  /// The call with the callback's arguments from position `first` on: checked, made ready, and the handler waits.
  static func begin(
    _ bound: BoundCall, on receiver: UInt, _ isObject: Bool, _ value: BorrowedValue?, _ callback: LuaCallback, first: Int, _ patch: Environment,
    catching: Bool
  ) -> Int32 {
    let callable = bound.callable
    let script = ScriptThread.current()?.pointee.top
    let handler = script?.pointee.async
    let isTest = script == nil && TestThread.isCurrent
    guard isTest || handler?.hook.patch === patch && shl_can_wait(callback.raw) && script?.pointee.plan.stack.isKnown == true
    else { return CallInAPI.fail(.cannotWait(selector: callable.selector), callback) }
    let block = UnsafeMutableRawPointer.allocate(byteCount: callable.blockBytes + CallInAPI.resultRoom, alignment: 16)
    let problem =
      CallInAPI.store(callable.argumentCount, callable, block, first: first, patch, callback)
      ?? CallInAPI.copySelf(value, callable, block, callback)
    if let problem {
      block.deallocate()
      return problem
    }
    guard let call = AwaitedCall(bound, on: receiver, isObject, block, catching: catching) else { return callback.fail("out of memory") }
    if callable.mayLeaveSelf { patch.log.leftSelf(patch: patch.id, selector: callable.selector) }
    guard let handler else { return call.run(patch, callback) }
    handler.wish = .call(call)
    return shl_wait(callback.raw, returned, Unmanaged.passUnretained(patch).toOpaque(), true)
  }

  /// What the call answers when the function has returned.
  private static let returned: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let handler = callback.call?.pointee.async, case .call(let call) = handler.wish else {
        return callback.fail("this call is over")
      }
      handler.wish = .nothing
      return call.answer(patch, callback)
    }
  }

  /// In a test: handlers of the function may run on other threads meanwhile.
  private func run(_ patch: Environment, _ callback: LuaCallback) -> Int32 {
    let unlocked = shl_unlock_all(callback.scope)
    let hasReturned = TaskCall.run(callee, within: Self.testSeconds)
    // It may return later, into this memory.
    if !hasReturned { _ = Unmanaged.passRetained(self) }
    guard shl_relock(callback.scope, unlocked) == SHL_OK else {
      if hasReturned { discard() }
      return -1
    }
    if hasReturned { return answer(patch, callback) }
    return callback.fail(
      "'\(callable.selector)' has not returned for \(Self.testSeconds) s; a test keeps the main thread, "
        + "so what belongs to the main actor does not run in it")
  }
  private static let testSeconds = 10

  private func answer(_ patch: Environment, _ callback: LuaCallback) -> Int32 {
    let result = home?.memory ?? block + callable.blockBytes
    let error = callable.finish(callee, block, result: result)
    return CallInAPI.answer(callable, block, result, home, error, patch, callback, catching: catching)
  }

  /// The handler does not go on: what the function returned ends here.
  func discard() {
    let result = home?.memory ?? block + callable.blockBytes
    let error = callable.finish(callee, block, result: result)
    ProgramCall.asProgram {
      callable.endInouts(block)
      if error != 0 { ProgramCall.release(error) } else if let info = callable.result { info.metadata.destroy(result) }
    }
    home?.forget()
  }
}
