// ValueCalls — computed properties and methods of structs and enums: value.property, value:method(…).
//
// The call gets a copy. What would change it is refused: the change would be lost.
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum ValueCalls {
  /// What a name that is no stored field or case means; nil when it means nothing.
  static func index(_ borrowed: BorrowedValue, _ patch: Environment, _ callback: LuaCallback) -> Int32? {
    guard let name = callback.rawName else { return nil }
    do throws(CallError) {
      switch try patch.callIns.member(name, of: borrowed.info.metadata, callback).member {
      case .property(_, .success(let get), _, _):
        return CallInAPI.perform(get, on: 0, value: try CallInAPI.receiver(borrowed, get.callable), callback, first: 2, patch)
      case .property(_, .failure(let error), _, _): throw error
      case .methods: return shl_return_method(callback.raw) == SHL_OK ? 0 : callback.fail("out of memory")
      case .missing, .field: return nil
      }
    } catch { return CallInAPI.fail(error, callback) }
  }

  /// `value:method(…)`; nil when there is no such method.
  static func invoke(_ borrowed: BorrowedValue, _ patch: Environment, _ callback: LuaCallback) -> Int32? {
    guard let name = callback.rawName else { return nil }
    do throws(CallError) {
      guard case .methods(let methods) = try patch.callIns.member(name, of: borrowed.info.metadata, callback).member else { return nil }
      let bound = try ObjectMember.choose(methods, named: callback.name ?? "?", arguments: callback.count - 1)
      return CallInAPI.perform(bound, on: 0, value: try CallInAPI.receiver(borrowed, bound.callable), callback, first: 1, patch)
    } catch { return CallInAPI.fail(error, callback) }
  }
}
