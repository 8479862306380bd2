// LuaHook — a Lua handler as a layer: decode, invoke, apply what it changed, and stand in when it fails.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
private import Glibc
internal import SwiftMangling

/// One handler on one selector. Made by a patch, called from any thread.
final class LuaHook: @unchecked Sendable {
  // Everything is set before the hook is installed, but for the breaker and the class cache, which are atomic or idempotent.
  enum Position: String { case before, around, after }

  let patch: Patch
  let position: Position
  let function: SHLRef
  /// How many arguments the handler declares behind `call`; all when it is variadic.
  let wanted: Int
  let selector: String
  let declaration: Declaration
  let source: String
  let line: Int32
  let waitsForever: Bool
  let breaker = Breaker()
  var token: HookToken?
  private var expectedClass: Metadata?
  private var looksForClass: Bool

  init(patch: Patch, position: Position, function: SHLRef, info: SHLFunctionInfo, family: Family, options: HookOptions) {
    self.patch = patch
    self.position = position
    self.function = function
    wanted = info.variadic ? Int.max : max(0, Int(info.parameters) - 1)
    selector = family.selector
    declaration = family.declaration
    line = info.line
    source = patch.fileName
    waitsForever = options.waitsWhenBusy
    let declaration = family.declaration
    looksForClass = declaration.contextKind == .classType && !declaration.isStatic && declaration.kind != .allocatingInit
  }

  deinit { shl_forget(patch.state, function) }

  var phases: UInt32 {
    switch position {
    case .before: UInt32(HKT_ON_ENTER)
    // Handlers may ask for `call.duration_ns`.
    case .around: UInt32(HKT_ON_AROUND | HKT_TIMED)
    case .after: UInt32(HKT_ON_EXIT | HKT_TIMED)
    }
  }

  // MARK: One call

  /// `self` is of the class the selector names: another class's call can arrive here when bodies are shared.
  private func isForeign(_ view: CallView) -> Bool {
    guard looksForClass, let object = view.selfObject else { return false }
    if expectedClass == nil {
      guard let name = declaration.context,
        case .success(let info) = TypeResolver.shared.type(.nominal(name, kind: .classType, arguments: []))
      else {
        looksForClass = false
        return false
      }
      expectedClass = info.metadata
    }
    return !Metadata(object.load(as: UnsafeRawPointer.self)).isSubclass(of: expectedClass!)
  }

  func run(_ call: UnsafeMutablePointer<HKTCall>, _ phase: HKTPhase) -> HKTOutcome {
    let view = CallView(call)
    guard let thread = ScriptThread.current(), !breaker.isOpen, !isForeign(view) else {
      if phase == HKT_AROUND { hkt_call_proceed(call) }
      return HKT_HANDLED
    }
    thread.pointee.counter += 1
    let tid = UInt64(UInt32(bitPattern: hkt_thread().pointee.tid))
    var script = ScriptCall(
      view: view, hook: self, phase: phase, serial: tid << 36 | thread.pointee.counter & 0xF_FFFF_FFFF, up: thread.pointee.top)
    return withUnsafeMutablePointer(to: &script) { script in
      thread.pointee.top = script
      let outcome = invoke(script)
      thread.pointee.top = script.pointee.up
      return outcome
    }
  }

  private func invoke(_ script: UnsafeMutablePointer<ScriptCall>) -> HKTOutcome {
    let plan = script.pointee.plan
    let count = min(wanted, plan.arguments.count)
    var status = SHL_OK
    var outcome = HKT_HANDLED
    withUnsafeTemporaryAllocation(of: SHLValue.self, capacity: count + 2) { values in
      withUnsafeTemporaryAllocation(of: (UInt64, UInt64).self, capacity: count + 1) { scratch in
        values[0] = shl_call_here(UnsafeMutableRawPointer(script))
        let bridge = ValueBridge(classes: patch.classes, serial: script.pointee.serial)
        for index in 0..<count {
          values[index + 1] = CallValues.argument(index, script, bridge, scratch.baseAddress! + index)
        }
        var invocation = SHLInvocation()
        var budget = SHLBudget(instructions: 0, wall_ns: 0, lock_ns: waitsForever ? -1 : 0)
        status = shl_invoke(
          patch.state, function, values.baseAddress, Int32(count + 1), values.baseAddress, 1, &budget, &invocation)
        if status == SHL_OK {
          do throws(BridgeError) {
            if position == .around, invocation.count > 0 { try CallValues.stageResult(values[0], script, bridge) }
            shl_invoke_end(&invocation)
            outcome = finish(script)
          } catch {
            shl_invoke_end(&invocation)
            outcome = fail(script, "the handler's result: \(error.description)")
          }
        } else {
          shl_invoke_end(&invocation)
          outcome = failed(script, status, &invocation)
        }
      }
    }
    return outcome
  }

  /// The handler returned: what it changed takes effect.
  private func finish(_ script: UnsafeMutablePointer<ScriptCall>) -> HKTOutcome {
    if position == .around, script.pointee.originalRuns == 0, script.pointee.stagedResult == nil,
      !script.pointee.plan.result.type.isVoid
    {
      return fail(script, "the handler neither called the original nor returned a value; end it with 'return call:original()'")
    }
    if position == .around, script.pointee.originalRuns == 0 { CallValues.consumeOwned(script) } else { CallValues.applyArguments(script) }
    CallValues.applyResult(script)
    CallValues.dropHeld(script)
    return HKT_HANDLED
  }

  private func failed(_ script: UnsafeMutablePointer<ScriptCall>, _ status: SHLStatus, _ invocation: inout SHLInvocation) -> HKTOutcome {
    defer { if let error = invocation.error { shl_error_free(patch.state, error) } }
    if status == SHL_BUSY || status == SHL_STACK_LOW || status == SHL_TOO_DEEP {
      patch.skipped(selector, String(cString: shl_status_text(status)))
      return abandon(script)
    }
    if status == SHL_ERROR, let error = invocation.error, error.pointee.value.tag == SHL_HANDLE,
      error.pointee.value.cls == patch.classes.error, script.pointee.originalRuns > 0
    {
      // The original's own Swift error, raised by call:original() and not caught: it passes on, nobody failed.
      CallValues.dropHeld(script)
      CallValues.dropStaged(script)
      return HKT_HANDLED
    }
    let text = invocation.error.map { withUnsafePointer(to: &$0.pointee.message) { String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)) } }
      ?? String(cString: shl_status_text(status))
    return fail(script, text, hasPosition: invocation.error != nil)
  }

  private func fail(_ script: UnsafeMutablePointer<ScriptCall>, _ text: String, hasPosition: Bool = false) -> HKTOutcome {
    patch.failed(selector, position.rawValue, hasPosition ? text : "\(source):\(line): \(text)")
    if breaker.recordFailure(), let token {
      HookEngine.shared.remove(token)
      patch.disabled(selector, position.rawValue, failures: breaker.limit, seconds: breaker.windowSeconds)
    }
    return abandon(script)
  }

  private func abandon(_ script: UnsafeMutablePointer<ScriptCall>) -> HKTOutcome {
    CallValues.dropStaged(script)
    CallValues.dropHeld(script, givingBack: script.pointee.originalRuns == 0)
    return HKT_FAILED
  }
}

/// The layer of every Lua handler.
let luaLayer: HKTLayerFunction = { call, context, phase in
  guard let call, let context else { return HKT_HANDLED }
  // The context is the hook that the patch retained for this layer.
  return Unmanaged<LuaHook>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.run(call, phase) }
}
