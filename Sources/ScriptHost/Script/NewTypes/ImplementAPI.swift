// ImplementAPI — `implement "Shop.CartDelegate" { ["cartDidChange(_:)"] = function(call, cart) … end }`: an object of the
// program's that scripts answer for.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum ImplementAPI {
  static let functions: [(String, SHLFunction)] = [("implement", implement)]

  /// Answers a function that takes the table.
  static let implement: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      var names: [String] = []
      if let name = callback.text(0) {
        names = [name]
      } else if callback[0].tag == SHL_TABLE {
        callback.forEach(in: callback[0]) { _, value in
          names += value.text.map { [$0] } ?? []
          return true
        }
      }
      guard callback.count == 1, !names.isEmpty else {
        return callback.fail("'implement' takes a protocol's name, and a table: implement \"Shop.CartDelegate\" { … }")
      }
      return TwoPartStatement.answer("implement \"\(names.joined(separator: " "))\"", patch, callback) { [names] in make(names, $0, $1) }
    }
  }

  private static func make(_ protocols: [String], _ patch: Environment, _ callback: LuaCallback) -> Int32 {
    if let refusal = patch.refusal("an object made here", protocols.joined(separator: " ")) { return callback.fail(refusal) }
    let what = protocols.map { "'\($0)'" }.joined(separator: ", ")
    guard callback[0].tag == SHL_TABLE else {
      return callback.fail("implement \(what): a table of functions is expected, found \(ValueBridge.spelled(callback[0]))")
    }
    var target: AnyObject?
    var isWeak = false
    let found = SynthesizedMethodHook.functions(of: callback[0], in: "implement \(what)", patch, callback) { key, value in
      switch (key, value.tag) {
      case ("target", SHL_HANDLE):
        guard let object = patch.classes.object(value) else { return "'target' is an object, found \(ValueBridge.spelled(value))" }
        // Alive while its handle is; kept from here on.
        target = Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue()
        return nil
      case ("weak", SHL_BOOL):
        isWeak = value.b
        return nil
      case ("target", _): return "'target' is an object, found \(ValueBridge.spelled(value))"
      case ("weak", _): return "'weak' is true or false, found \(ValueBridge.spelled(value))"
      default: return "'\(key)' is a function, found \(ValueBridge.spelled(value)); besides functions there are target and weak"
      }
    }
    guard var functions = found else { return -1 }
    let unlocked = shl_unlock_all(callback.scope)
    let made: Result<AnyObject, NewTypeError>
    do throws(NewTypeError) {
      let type = try ConformingClass.implementing(protocols)
      var handlers: [(requirement: String, spec: LayerSpec)] = []
      while let each = functions.last {
        let family = try type.family(each.name)
        handlers.append((each.name, SynthesizedMethodHook.layer(each.function, each.info, family, patch)))
        functions.removeLast()
      }
      made = .success(try Behaviour.object(type, handlers: handlers, target: target, weakly: isWeak))
    } catch { made = .failure(error) }
    guard shl_relock(callback.scope, unlocked) == SHL_OK else { return -1 }
    for each in functions { shl_forget(patch.state, each.function) }
    switch made {
    case .failure(let error): return callback.fail("\(error)")
    case .success(let object):
      // With serial 0 the script owns what it gets.
      let bridge = ValueBridge(classes: patch.classes, serial: 0, scope: callback.scope)
      return withExtendedLifetime(object) {
        callback.done(bridge.reference(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())))
      }
    }
  }
}
