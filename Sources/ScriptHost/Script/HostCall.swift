// HostCall — the host calls a function of a script by itself: no call of the program stands behind it.
//
// What the function is given is borrowed until it returns, as in a handler: an object that nobody else keeps ends with the call, and not when
// the script's garbage is collected.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum HostCall {
  /// How it ended.
  enum Outcome {
    case done
    /// It did not run.
    case skipped(String)
    /// - Parameter isCostly: it held its thread up for so long that it must not do so again.
    case failed(String, isCostly: Bool)
  }

  /// Of a call without arguments and result: what a frame of it stands for.
  private static let plan: FunctionPlan? = {
    guard case .success(let type) = TypeResolver.shared.type(of: Metadata((() -> Void).self)) else { return nil }
    return try? FunctionPlans.shared.plan(type).get()
  }()

  /// Calls a kept function under the budget of a call.
  /// - Parameter arguments: makes what it is given, with the state's lock held; what they stand for lives until `run` returns.
  static func run(
    _ function: SHLRef, of patch: Environment, _ arguments: (UnsafeMutablePointer<SHLScope>, ValueBridge) -> [SHLValue] = { _, _ in [] }
  ) -> Outcome {
    guard let plan, let thread = hkt_thread() else { return .skipped(String(cString: shl_status_text(SHL_NO_MEMORY))) }
    var frame = HKTFrame()
    return withUnsafeMutablePointer(to: &frame) { frame in
      var call = HKTCall()
      call.frame = frame
      call.thread = thread
      call.body = plan.record
      return withUnsafeMutablePointer(to: &call) { call in
        let own = ScriptThread.of(thread)
        own.pointee.counter += 1
        let serial = UInt64(UInt32(bitPattern: thread.pointee.tid)) << 36 | own.pointee.counter & 0xF_FFFF_FFFF
        var script = ScriptCall(HandlerChanges(call, HKT_AROUND), hook: nil, patch: .passUnretained(patch), serial: serial, up: own.pointee.top)
        return withUnsafeMutablePointer(to: &script) { script in
          own.pointee.top = script
          defer {
            own.pointee.top = script.pointee.up
            script.pointee.end()
          }
          return invoke(function, patch, serial, arguments)
        }
      }
    }
  }

  /// Calls the function with what `arguments` makes in the entered state. On any thread; it waits for the state's lock.
  private static func invoke(
    _ function: SHLRef, _ patch: Environment, _ serial: UInt64, _ arguments: (UnsafeMutablePointer<SHLScope>, ValueBridge) -> [SHLValue]
  ) -> Outcome {
    withUnsafeTemporaryAllocation(of: SHLInvocation.self, capacity: 1) { invocation in
      let invocation = invocation.baseAddress!
      // Waiting is safe: nobody runs program code with the state's lock held.
      var budget = SHLBudget(instructions: 0, wall_ns: 0, lock_ns: -1)
      let entered = shl_enter(patch.state, &budget, invocation)
      guard entered == SHL_OK else { return .skipped(String(cString: shl_status_text(entered))) }
      // The scope is the invocation's first member.
      let scope = UnsafeMutableRawPointer(invocation).assumingMemoryBound(to: SHLScope.self)
      let values = arguments(scope, ValueBridge(classes: patch.classes, serial: serial, scope: scope))
      var error: UnsafeMutablePointer<SHLError>?
      var count: Int32 = 0
      let status = values.withUnsafeBufferPointer {
        shl_call(scope, shl_ref_value(function), $0.baseAddress, Int32($0.count), nil, 0, &count, &error)
      }
      shl_invoke_end(invocation)
      defer { if let error { shl_error_free(patch.state, error) } }
      if status == SHL_OK { return .done }
      guard let error else { return .failed("\(patch.fileName): \(String(cString: shl_status_text(status)))", isCostly: false) }
      // The shim ends the text with NUL.
      let text = withUnsafePointer(to: &error.pointee.message) { String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)) }
      return .failed(text, isCostly: error.pointee.outside)
    }
  }
}
