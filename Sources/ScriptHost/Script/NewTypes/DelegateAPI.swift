// DelegateAPI — `delegates "Shop.Cart.delegate" { ["cartDidChange(_:)"] = function(call, cart) … end }`: a script sees the
// calls on whatever object is a property's delegate, before they go on.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum DelegateAPI {
  static let handles = HandleClass("delegates", tostring: toString)

  static let functions: [(String, SHLFunction)] = [("delegates", delegates)]
  static let members = NamedFunctions([("remove", remove), ("explain", explain), ("adopt", adopt)])

  /// Answers a function that takes the table.
  private static let delegates: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard callback.count == 1, let property = callback.text(0) else {
        return callback.fail("'delegates' takes a property, and a table: delegates \"Shop.Cart.delegate\" { … }")
      }
      return TwoPartStatement.answer("delegates \"\(property)\"", patch, callback) { make(property, $0, $1) }
    }
  }

  /// Why the script may not watch the delegates in a property; nil when it may.
  static func refusal(_ property: String, _ patch: Environment) -> String? {
    patch.refusal("a watch of delegates", property, of: property.lastIndex(of: ".").map { String(property[..<$0]) })
  }

  /// Why the script may not see the calls of a requirement, which a policy may deny by its protocol; nil when it may.
  static func refusal(_ requirement: Family, of property: String, _ patch: Environment) -> NewTypeError? {
    patch.rights?.refusal(of: requirement).map { .requirement(requirement.selector, of: property, reason: $0) }
  }

  private static func make(_ property: String, _ patch: Environment, _ callback: LuaCallback) -> Int32 {
    if let refusal = refusal(property, patch) { return callback.fail(refusal) }
    guard callback[0].tag == SHL_TABLE else {
      return callback.fail("delegates '\(property)': a table of functions is expected, found \(ValueBridge.spelled(callback[0]))")
    }
    guard var functions = SynthesizedMethodHook.functions(of: callback[0], in: "delegates '\(property)'", patch, callback) else { return -1 }
    let unlocked = shl_unlock_all(callback.scope)
    let made: Result<DelegateWatch, NewTypeError>
    do throws(NewTypeError) {
      var hooks: [String: LuaHook] = [:]
      while let each = functions.last {
        let family = try DelegateWatch.family(each.name, of: property)
        if let refusal = refusal(family, of: property, patch) { throw refusal }
        let options = HookOptions(priority: 0, waitsWhenBusy: false)
        hooks[each.name] = LuaHook(
          position: .before, handler: HandlerFunction(each.function, each.info, of: patch), family: family, options: options)
        functions.removeLast()
      }
      made = .success(
        try DelegateWatch(property, requirements: Array(hooks.keys)) { [hooks] call in
          guard let hook = hooks[call.requirement], hook.patch.isLive, !hkt_is_passive(), let thread = call.call.pointee.thread else {
            return
          }
          // Hooked functions that the handler's values need are the host's work.
          hkt_host_begin(thread)
          _ = hook.run(call.call, HKT_ENTER)
          hkt_host_end(thread)
        })
    } catch { made = .failure(error) }
    guard shl_relock(callback.scope, unlocked) == SHL_OK else { return -1 }
    for each in functions { shl_forget(patch.state, each.function) }
    switch made {
    case .failure(let error): return callback.fail("\(error)")
    case .success(let watch):
      let number = patch.number(watch)
      patch.installation.add { [weak watch] in _ = watch?.remove() }
      return callback.done(shl_handle(patch.classes.delegates, number, 0, 0))
    }
  }

  /// `d:remove()`: true when it ran.
  private static let remove: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let watch = patch.handle(callback[0].h.a, DelegateWatch.self) else { return callback.done(shl_bool(false)) }
      let unlocked = shl_unlock_all(callback.scope)
      let removed = watch.remove()
      guard shl_relock(callback.scope, unlocked) == SHL_OK else { return -1 }
      return callback.done(shl_bool(removed))
    }
  }

  private static let explain: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in callback.done(patch.handle(callback[0].h.a, DelegateWatch.self)?.explanation ?? "") }
  }

  /// `d:adopt(owner)`: the delegate that the owner has already is seen, too. True when it had one.
  private static let adopt: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let object = patch.classes.object(callback[1]) else { return callback.fail("'adopt' takes the object whose delegate it is") }
      guard let watch = patch.handle(callback[0].h.a, DelegateWatch.self) else { return callback.done(shl_bool(false)) }
      // Alive while its handle is.
      let owner = Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue()
      let unlocked = shl_unlock_all(callback.scope)
      let adopted = watch.adopt(owner)
      guard shl_relock(callback.scope, unlocked) == SHL_OK else { return -1 }
      return callback.done(shl_bool(adopted))
    }
  }

  static let toString: SHLFunction = { context, callback in
    withPatch(context, callback) { _, callback in callback.done("watched delegates") }
  }
}
