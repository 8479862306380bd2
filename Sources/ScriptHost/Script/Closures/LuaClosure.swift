// LuaClosure — a Lua function as the body of a Swift closure.
//
// The program keeps, copies and calls the closure as any other, on any thread, also after the patch is gone. The
// closure never keeps a patch: when that is unloaded, or the function fails, the closure does what was agreed on when
// it was made, which is never a value nobody chose.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge
private import Glibc

/// What a closure does instead of its Lua function.
enum ClosureFallback {
  /// Nothing is returned, an Optional is nil, an error is thrown.
  case neutral
  case value(OwnedValue)
  /// The closure that the Lua function replaces.
  case original(FunctionValue)
}

final class LuaClosure: ClosureBody, @unchecked Sendable {
  // Everything but the breaker is set in init; `patch` is weak, which the runtime makes safe on all threads.
  private weak var patch: Environment?
  let function: SHLRef
  private let fallback: ClosureFallback
  private let name: String
  private let patchID: String
  private let fileName: String
  private let log: HostLog
  private let breaker = Breaker()

  /// - Parameters:
  ///   - function: a reference that this object forgets when it ends.
  ///   - name: the closure's type, for messages.
  init(_ function: SHLRef, of patch: Environment, name: String, fallback: ClosureFallback) {
    self.patch = patch
    self.function = function
    self.fallback = fallback
    self.name = name
    patchID = patch.id
    fileName = patch.fileName
    log = patch.log
    shl_outside(patch.state, HeldMemory.ofClosure)
  }

  deinit {
    // Without a patch there is no state, and the function went with it.
    if let patch {
      shl_forget(patch.state, function)
      shl_outside(patch.state, -HeldMemory.ofClosure)
    }
    if case .value(let value) = fallback { value.destroy() }
  }

  func belongs(to other: Environment) -> Bool { patch === other }

  // MARK: A call

  /// Runs the Lua function for a call of the closure. Any thread of the program.
  func run(_ call: UnsafeMutablePointer<HKTCall>, _ plan: FunctionPlan) {
    guard let thread = call.pointee.thread, let patch, patch.isLive else {
      log.skipped(patch: patchID, selector: name, reason: "its script is not loaded any more")
      return withScript(call, of: nil, serial: 0, up: nil) { synthesizedMethod($0, plan, "the script of this closure is not loaded any more") }
    }
    let own = ScriptThread.of(thread)
    own.pointee.counter += 1
    let tid = UInt64(UInt32(bitPattern: thread.pointee.tid))
    withScript(call, of: patch, serial: tid << 36 | own.pointee.counter & 0xF_FFFF_FFFF, up: own.pointee.top) { script in
      own.pointee.top = script
      let problem = breaker.isOpen ? "its function failed too often" : invoke(script, plan, patch)
      own.pointee.top = script.pointee.up
      if let problem { synthesizedMethod(script, plan, problem) }
    }
  }

  /// Gives `body` the record of the call, in this frame, and ends what it owns.
  private func withScript(
    _ call: UnsafeMutablePointer<HKTCall>, of patch: Environment?, serial: UInt64, up: UnsafeMutablePointer<ScriptCall>?,
    _ body: (UnsafeMutablePointer<ScriptCall>) -> Void
  ) {
    let owner = patch.map { Unmanaged.passUnretained($0) }
    var script = ScriptCall(HandlerChanges(call, HKT_AROUND), hook: nil, patch: owner, serial: serial, up: up)
    withUnsafeMutablePointer(to: &script) { script in
      body(script)
      script.pointee.end()
    }
  }

  /// Runs the Lua function; answers why it did not give a result.
  private func invoke(_ script: UnsafeMutablePointer<ScriptCall>, _ plan: FunctionPlan, _ patch: Environment) -> String? {
    let count = plan.call.argumentCount
    let room = max(count, Self.mostResults)
    return withUnsafeTemporaryAllocation(of: SHLValue.self, capacity: room) { values in
      withUnsafeTemporaryAllocation(of: (UInt64, UInt64).self, capacity: count + 1) { scratch in
        withUnsafeTemporaryAllocation(of: SHLInvocation.self, capacity: 1) { invocation in
          let bridge = ValueBridge(classes: patch.classes, serial: script.pointee.serial)
          for index in 0..<count { values[index] = CallValues.argument(index, script, bridge, scratch.baseAddress! + index) }
          // Waiting is safe: nobody runs program code with the state's lock held.
          var budget = SHLBudget(instructions: 0, wall_ns: 0, lock_ns: -1)
          let status = shl_invoke(
            patch.state, function, values.baseAddress!, Int32(count), values.baseAddress!, Int32(Self.mostResults), &budget,
            invocation.baseAddress!)
          guard status == SHL_OK else {
            shl_invoke_end(invocation.baseAddress!)
            return failed(script, plan, status, invocation[0].error, patch)
          }
          defer { shl_invoke_end(invocation.baseAddress!) }
          return take(
            UnsafeBufferPointer(rebasing: values[..<Self.mostResults]), Int(invocation[0].count), invocation.baseAddress!, script, plan,
            patch)
        }
      }
    }
  }

  /// The result, and what inout arguments become.
  private static let mostResults = 8

  /// Makes what the function returned the call's result and inout arguments; answers why that cannot be.
  private func take(
    _ values: UnsafeBufferPointer<SHLValue>, _ count: Int, _ invocation: UnsafeMutablePointer<SHLInvocation>,
    _ script: UnsafeMutablePointer<ScriptCall>, _ plan: FunctionPlan, _ patch: Environment
  ) -> String? {
    let inouts = plan.call.arguments.indices.filter { plan.call.arguments[$0].isInout }
    if inouts.isEmpty, count > 0, CallValues.returnDirectly(values.baseAddress!, script) != .notAtAll { return nil }
    let bridge = ValueBridge(classes: patch.classes, serial: script.pointee.serial, scope: invocation.scope)
    var next = 0
    func value() -> SHLValue {
      defer { next += 1 }
      return next < min(count, Self.mostResults) ? values[next] : shl_nil()
    }
    do throws(BridgeError) {
      if !plan.call.resultIsVoid { try CallValues.stageResult(value(), script, bridge) }
      for index in inouts where next < count { try CallValues.stageArgument(index, value(), script, bridge, forNextRun: false) }
    } catch { return report("the function's result: \(error.description)", plan, patch) }
    do throws(HandlerProblem) { try CallValues.finish(script, returned: true) } catch {
      return report("the closure owns an argument that cannot be released", plan, patch)
    }
    return nil
  }

  /// The function did not return: says so, and answers why; nil where the error goes on to the caller. Frees the error.
  private func failed(
    _ script: UnsafeMutablePointer<ScriptCall>, _ plan: FunctionPlan, _ status: SHLStatus, _ error: UnsafeMutablePointer<SHLError>?,
    _ patch: Environment
  ) -> String? {
    defer { if let error { shl_error_free(patch.state, error) } }
    if status == SHL_STACK_LOW || status == SHL_TOO_DEEP || status == SHL_STOPPING || status == SHL_POISONED || status == SHL_NO_MEMORY {
      patch.skipped(name, String(cString: shl_status_text(status)))
      return String(cString: shl_status_text(status))
    }
    if plan.shape.isThrowing, let raised = error?.pointee.value, let box = patch.classes.errorBox(raised), box != 0 {
      // Alive while its handle is, or the handler that was borrowed it.
      _ = Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(bitPattern: box)!).retain()
      // A Swift error that the function let pass, or raised itself: that is what it throws.
      return throwError(box, script, plan) ? nil : report("the error is of another type than the closure throws", plan, patch)
    }
    let text =
      error.map {
        withUnsafePointer(to: &$0.pointee.message) { String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)) }
      } ?? String(cString: shl_status_text(status))
    return report(text, plan, patch, hasPosition: error != nil)
  }

  private func report(_ text: String, _ plan: FunctionPlan, _ patch: Environment, hasPosition: Bool = false) -> String {
    let text = hasPosition ? text : "\(fileName): \(text)"
    patch.failed(name, "closure", text, instead: instead(plan))
    if breaker.recordFailure() {
      patch.disabled(name, "closure", failures: breaker.limit, seconds: breaker.windowSeconds, instead: instead(plan))
    }
    return text
  }

  /// What the caller gets when the function gives nothing.
  private func instead(_ plan: FunctionPlan) -> String {
    switch fallback {
    case .original: "the original runs instead"
    case .value: "its default is returned"
    case .neutral: plan.call.mayThrow ? "it throws" : plan.call.resultIsVoid ? "it does nothing" : "it returns nil"
    }
  }

  // MARK: Standing in

  /// Answers the call in the function's place, by the fallback.
  private func synthesizedMethod(_ script: UnsafeMutablePointer<ScriptCall>, _ plan: FunctionPlan, _ problem: String) {
    CallValues.abandon(script)
    if case .original(let original) = fallback { return original.run(script.pointee.view.call, plan) }
    if plan.call.mayThrow, case .neutral = fallback {
      _ = throwError(ErrorBox(ScriptError(problem)).word, script, plan)
      return
    }
    endArguments(script)
    guard !plan.call.resultIsVoid, let info = plan.call.result.info else { return }
    let value: OwnedValue
    if case .value(let agreed) = fallback {
      value = agreed.copy()
    } else {
      // `ClosureBridge` lets no other type pass without a value.
      value = OwnedValue(uninitialized: info)
      info.metadata.injectEnumTag(value.memory, 1)
    }
    ValueWriter(script.pointee.view.call).setResult(plan.call.result, to: value)
  }

  /// - Parameter box: an owned error box. False, with the box released, when the closure's own error type is another.
  private func throwError(_ box: UInt, _ script: UnsafeMutablePointer<ScriptCall>, _ plan: FunctionPlan) -> Bool {
    guard plan.setError(box, in: script.pointee.view.call) else {
      Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(bitPattern: box)!).release()
      return false
    }
    endArguments(script)
    return true
  }

  /// What the closure was given to keep ends, as far as it is in reach.
  private func endArguments(_ script: UnsafeMutablePointer<ScriptCall>) {
    do throws(HandlerProblem) { try script.pointee.changes.leaveOutOriginal() } catch { return }
    CallValues.finishUnchanged(script)
  }
}
