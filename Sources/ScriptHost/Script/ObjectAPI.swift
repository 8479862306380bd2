// ObjectAPI — what scripts read of Swift objects and values: stored fields, type name, identity. No program code runs.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum ObjectAPI {
  static let expired = "this object was only lent for the call it came with, which is over; copy what you need from it"

  // MARK: Objects

  static let index: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let receiver = callback[0]
      guard let object = patch.classes.object(receiver) else { return callback.fail(expired) }
      guard let name = callback.name else {
        return callback.fail("a Swift object has named fields, got \(ValueBridge.describe(callback[1]))")
      }
      let type = Instance.type(object)
      guard let field = FieldAccess.find(name, in: type) else {
        return callback.fail(StoredField.Problem.noField(name, type: Instance.typeName(object), known: StoredField.names(in: type)).description)
      }
      let bridge = ValueAPI.bridge(receiver, patch, callback)
      guard case .success(let info) = TypeResolver.shared.type(of: type) else { return callback.fail("the class of this object is not known") }
      let lent = LentValue(root: .memory(UInt(bitPattern: object)), info: info, serial: patch.classes.keptObject == receiver.cls ? 0 : receiver.h.c)
      return ValueAPI.withScratch { scratch in
        switch FieldAccess.read(field, object, lent, bridge, scratch) {
        case .success(let value): callback.done(value)
        case .failure(let problem): callback.fail(problem.description)
        }
      }
    }
  }

  static let newindex: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let object = patch.classes.object(callback[0]) else { return callback.fail(expired) }
      guard let name = callback.name, let field = FieldAccess.find(name, in: Instance.type(object)) else {
        let type = Instance.type(object)
        return callback.fail(
          StoredField.Problem.noField(callback.name ?? ValueBridge.shown(callback[1]), type: Instance.typeName(object), known: StoredField.names(in: type)).description)
      }
      do throws(BridgeError) {
        try FieldAccess.write(callback[2], to: field, of: object, ValueAPI.bridge(callback[0], patch, callback))
        return callback.done()
      } catch { return callback.fail("'\(name)': \(error.description)") }
    }
  }

  static let tostring: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let object = patch.classes.object(callback[0]) else { return callback.done("<a Swift object of a call that is over>") }
      return callback.done("<\(Instance.typeName(object))>")
    }
  }

  static let equal: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let a = patch.classes.object(callback[0]), let b = patch.classes.object(callback[1]) else { return callback.done(shl_bool(false)) }
      return callback.done(shl_bool(a == b))
    }
  }
}
