// TypeAPI — static members of a type: class "Shop.Cart":make(), class("Shop.Cart").shared.
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum TypeAPI {
  static let handles = HandleClass("Swift type", index: index, newindex: newindex, invoke: invoke, tostring: SelectorAPI.typeToString)

  /// What the key means for the type in the receiver, and the type.
  private static func member(_ patch: Environment, _ callback: LuaCallback) throws(CallError) -> (ObjectMember, Metadata) {
    let type = try patch.callIns.type(patch.classNames[Int(callback[0].h.a)], callback)
    guard let name = callback.rawName else { throw .notFound("a type has named members, got \(ValueBridge.describe(callback[1]))") }
    return (try patch.callIns.member(name, of: type, isStatic: true, callback).member, type)
  }

  static let index: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      do throws(CallError) {
        let (member, type) = try member(patch, callback)
        switch member {
        case .property(_, .failure(let error), _, _): throw error
        case .property(_, .success(let get), _, _):
          return CallInAPI.perform(get, on: UInt(bitPattern: type.pointer), callback, first: 2, patch)
        case .methods: return shl_return_method(callback.raw) == SHL_OK ? 0 : callback.fail("out of memory")
        case .missing(let text): return MessageAPI.missing(text, type.type, isCall: false, patch, callback)
        case .field: return callback.fail("'\(callback.name ?? "?")' is a field of instances")
        }
      } catch { return CallInAPI.fail(error, callback) }
    }
  }

  static let newindex: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      do throws(CallError) {
        let (member, type) = try member(patch, callback)
        switch member {
        case .property(_, _, .failure(let error)?, _): throw error
        case .property(_, _, .success(let set)?, _):
          return CallInAPI.perform(set, on: UInt(bitPattern: type.pointer), callback, first: 2, patch)
        case .missing(let text): return callback.fail(text)
        default: return callback.fail("static '\(callback.name ?? "?")' of \(CallCheck.name(type)) has no setter that can be called")
        }
      } catch { return CallInAPI.fail(error, callback) }
    }
  }

  static let invoke: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      do throws(CallError) {
        let (member, type) = try member(patch, callback)
        if case .missing(let text) = member { return MessageAPI.missing(text, type.type, isCall: true, patch, callback) }
        guard case .methods(let methods) = member else {
          return callback.fail("'\(callback.name ?? "?")' of \(CallCheck.name(type)) is no static method")
        }
        let bound = try ObjectMember.choose(methods, named: callback.name ?? "?", arguments: callback.count - 1)
        return CallInAPI.perform(bound, on: UInt(bitPattern: type.pointer), callback, first: 1, patch)
      } catch { return CallInAPI.fail(error, callback) }
    }
  }
}
