// SynthesizedMethodHook — a Lua function as an implementation: of an overridden or added method, or of a protocol's requirement.
//
// It is called as an `around` handler of a hook is, with the superclass's method, the target's or the default implementation
// as its original. Objects may live longer than their script: then, and in a forked child, the original runs.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum SynthesizedMethodHook {
  /// A layer that runs `function`.
  /// - Parameters:
  ///   - function: a reference that the layer forgets when it ends.
  ///   - family: what is implemented: its name and declaration.
  static func layer(
    _ function: SHLRef, _ info: SHLFunctionInfo, _ family: Family, _ patch: Environment, position: LuaHook.Position = .around,
    behind: LuaHook.Behind = .original
  ) -> LayerSpec {
    let options = HookOptions(priority: 0, waitsWhenBusy: true)
    let hook = LuaHook(
      position: position, handler: HandlerFunction(function, info, of: patch), family: family, options: options, behind: behind)
    return LayerSpec(synthesizedMethodLayer, keeping: hook, phases: hook.phases, owner: patch.id)
  }

  /// The functions of a table by their names, each as a reference of its own; other values go to `other`.
  /// - Returns: nil, with the failure told, when a value is neither.
  static func functions(
    of table: SHLValue, in verb: String, _ patch: Environment, _ callback: LuaCallback,
    other: (String, SHLValue) -> String? = { key, value in "'\(key)' is a function, found \(ValueBridge.spelled(value))" }
  ) -> [(name: String, function: SHLRef, info: SHLFunctionInfo)]? {
    var found: [(name: String, function: SHLRef, info: SHLFunctionInfo)] = []
    var problem: String?
    callback.forEach(in: table) { key, value in
      guard let name = key.text else {
        problem = "\(verb): members have names, such as [\"total(tax:)\"]"
        return false
      }
      guard value.tag == SHL_FUNCTION else {
        problem = other(name, value).map { "\(verb): \($0)" }
        return problem == nil
      }
      var info = SHLFunctionInfo()
      let function = shl_keep(callback.scope, value)
      guard function != 0, shl_function_info(callback.scope, value, &info) else {
        problem = "out of memory"
        return false
      }
      found.append((name, function, info))
      return true
    }
    guard let problem else { return found }
    for each in found { shl_forget(patch.state, each.function) }
    _ = callback.fail(problem)
    return nil
  }
}

private let synthesizedMethodLayer: HKTLayerFunction = { call, context, phase in
  guard let call, let context else { return HKT_HANDLED }
  // The context is the hook that was retained for this layer.
  return Unmanaged<LuaHook>.fromOpaque(context)._withUnsafeGuaranteedRef { hook in
    guard hook.patch.isLive, !hkt_is_passive() else {
      if phase == HKT_AROUND { hkt_call_proceed(call) }
      return HKT_HANDLED
    }
    return hook.run(call, phase)
  }
}
