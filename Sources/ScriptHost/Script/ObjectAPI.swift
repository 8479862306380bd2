// ObjectAPI — what scripts do with Swift objects: fields, properties, methods, identity.
//
// Stored fields are read where they lie; no program code runs. Everything else is a call: see CallInAPI.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum ObjectAPI {
  static let handles = HandleClass("Swift object", isUnique: true, index: index, newindex: newindex, invoke: invoke, tostring: tostring, equal: equal)

  static let expired = "this object was only borrowed for the call it came with, which is over; copy what you need from it"

  /// Why an object's handle stands for nothing any more.
  static func gone(_ handle: SHLValue, _ patch: Environment) -> String {
    guard let object = patch.classes.endedObject(handle) else { return expired }
    return "the program has ended this \(Instance.typeName(object)) although it is kept: the function that made it was compiled to end it without a "
      + "look at who else refers to it; its numbers can still be read, and nothing else can be done with it"
  }

  /// Of an object that was ended although it is kept, what its end leaves alone: stored values that refer to nothing.
  private static func readEnded(_ receiver: SHLValue, _ patch: Environment, _ callback: LuaCallback) -> Int32 {
    guard let object = patch.classes.endedObject(receiver), let name = callback.name,
      let field = FieldAccess.find(name, in: Instance.type(object)), case .value = field.reference, case .success(let type) = field.type,
        type.isTrivial
    else { return callback.fail(gone(receiver, patch)) }
    return push(object, field, receiver, patch, callback)
  }

  static let index: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let receiver = callback[0]
      guard let object = patch.classes.object(receiver) else { return readEnded(receiver, patch, callback) }
      guard let name = callback.rawName else {
        return callback.fail("a Swift object has named fields, got \(ValueBridge.describe(callback[1]))")
      }
      do throws(CallError) {
        let found = try patch.callIns.member(name, of: Instance.type(object), callback)
        switch found.use {
        case .field:
          if let type = found.fieldType, let owner = found.ownerType {
            return push(object, found.fieldOffset, type, owner, isFixed: found.fieldIsFixed, receiver, patch, callback)
          }
        case .getter:
          if let get = found.bound { return CallInAPI.perform(get, on: UInt(bitPattern: object), callback, first: 2, patch) }
        case .method: return shl_return_method(callback.raw) == SHL_OK ? 0 : callback.fail("out of memory")
        case .other: break
        }
        switch found.member {
        case .field(let field), .property(.some(let field), _, _, _): return push(object, field, receiver, patch, callback)
        case .property(nil, .success(let get), _, _):
          return CallInAPI.perform(get, on: UInt(bitPattern: object), callback, first: 2, patch)
        case .property(nil, .failure(let error), _, _): throw error
        case .methods: return shl_return_method(callback.raw) == SHL_OK ? 0 : callback.fail("out of memory")
        case .missing(let text): return MessageAPI.missing(text, any(object), isCall: false, patch, callback)
        }
      } catch { return CallInAPI.fail(error, callback) }
    }
  }

  /// Alive while its handle is.
  private static func any(_ object: UnsafeRawPointer) -> Any { Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue() }

  /// Answers the value of type `type` that lies `offset` bytes into the object.
  /// - Parameter isFixed: it never changes.
  private static func push(
    _ object: UnsafeRawPointer, _ offset: Int, _ type: TypeInfo, _ owner: TypeInfo, isFixed: Bool, _ receiver: SHLValue, _ patch: Environment,
    _ callback: LuaCallback
  ) -> Int32 {
    let bridge = ValueAPI.bridge(receiver, patch, callback)
    let borrowed = BorrowedValue(
      root: .memory(UInt(bitPattern: object)), info: owner, serial: patch.classes.keptObject == receiver.cls ? 0 : receiver.h.c)
    return ValueAPI.withScratch {
      let part = borrowed.part(type, at: offset)
      // As in FieldAccess: a variable may change while the script has a handle to its value.
      return callback.done(
        isFixed ? bridge.lua(object + offset, type, borrowed: part, scratch: $0) : bridge.snapshot(object + offset, type, $0, borrowed: part))
    }
  }

  /// Answers the value of a stored property.
  private static func push(_ object: UnsafeRawPointer, _ field: StoredField, _ receiver: SHLValue, _ patch: Environment, _ callback: LuaCallback)
    -> Int32
  {
    let bridge = ValueAPI.bridge(receiver, patch, callback)
    guard case .success(let info) = TypeResolver.shared.type(of: Instance.type(object)) else {
      return callback.fail("the class of this object is not known")
    }
    let borrowed = BorrowedValue(
      root: .memory(UInt(bitPattern: object)), info: info, serial: patch.classes.keptObject == receiver.cls ? 0 : receiver.h.c)
    return ValueAPI.withScratch { scratch in
      switch FieldAccess.read(field, object, borrowed, bridge, scratch) {
      case .success(let value): callback.done(value)
      case .failure(let problem): callback.fail(problem.description)
      }
    }
  }

  /// The setter where there is one, so that observers run; else the stored field itself.
  static let newindex: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let object = patch.classes.object(callback[0]) else { return callback.fail(gone(callback[0], patch)) }
      guard let name = callback.rawName else {
        return callback.fail("a Swift object has named properties, got \(ValueBridge.describe(callback[1]))")
      }
      let shown = callback.name ?? "?"
      do throws(CallError) {
        switch try patch.callIns.member(name, of: Instance.type(object), callback).member {
        case .property(let field, _, .success(let set)?, _):
          if let field {
            do throws(BridgeError) { try FieldAccess.keepOld(field, of: object) } catch { return callback.fail("'\(shown)': \(error.description)") }
          }
          LuaHook.noteWrite()
          return CallInAPI.perform(set, on: UInt(bitPattern: object), callback, first: 2, patch)
        case .property(.some(let field), _, _, isObserved: false), .field(let field): return write(field, shown, object, patch, callback)
        case .property(_, _, .failure(let error)?, _): throw error
        case .property: return callback.fail("property '\(shown)' of \(Instance.typeName(object)) has no setter that can be called")
        case .methods: return callback.fail("'\(shown)' of \(Instance.typeName(object)) is a method and cannot be set")
        case .missing(let text): return callback.fail(text)
        }
      } catch { return CallInAPI.fail(error, callback) }
    }
  }

  /// Puts the callback's third value into a stored property of the object, where the policy and the class allow it.
  private static func write(_ field: StoredField, _ name: String, _ object: UnsafeRawPointer, _ patch: Environment, _ callback: LuaCallback)
    -> Int32
  {
    if let refusal = patch.refusal("a write", name) { return callback.fail(refusal) }
    do throws(CallError) { try CallCheck.write(UInt(bitPattern: object), field) } catch { return CallInAPI.fail(error, callback) }
    do throws(BridgeError) {
      try FieldAccess.write(callback[2], to: field, of: object, ValueAPI.bridge(callback[0], patch, callback))
      LuaHook.noteWrite()
      return callback.done()
    } catch { return callback.fail("'\(name)': \(error.description)") }
  }

  /// `object:method(…)`.
  static let invoke: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let object = patch.classes.object(callback[0]) else { return callback.fail(gone(callback[0], patch)) }
      guard let name = callback.rawName else { return callback.fail("a method has a name") }
      do throws(CallError) {
        let found = try patch.callIns.member(name, of: Instance.type(object), callback)
        if found.use == .method, let only = found.bound {
          return CallInAPI.perform(only, on: UInt(bitPattern: object), callback, first: 1, patch)
        }
        switch found.member {
        case .methods(let methods):
          let bound = try ObjectMember.choose(methods, named: callback.name ?? "?", arguments: callback.count - 1)
          return CallInAPI.perform(bound, on: UInt(bitPattern: object), callback, first: 1, patch)
        case .missing(let text): return MessageAPI.missing(text, any(object), isCall: true, patch, callback)
        case .field, .property: return callback.fail("'\(callback.name ?? "?")' of \(Instance.typeName(object)) is no method")
        }
      } catch { return CallInAPI.fail(error, callback) }
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
      guard let a = patch.classes.object(callback[0]), let b = patch.classes.object(callback[1]) else {
        return callback.done(shl_bool(false))
      }
      return callback.done(shl_bool(a == b))
    }
  }
}
