// ObjectAPI — what scripts do with Swift objects and values: fields, properties, methods, type name, identity.
//
// Stored fields are read where they lie; no program code runs. Everything else is a call: see CallInAPI.
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
      guard let name = callback.rawName else {
        return callback.fail("a Swift object has named fields, got \(ValueBridge.describe(callback[1]))")
      }
      let type = Metadata(object.load(as: UnsafeRawPointer.self))
      do throws(CallError) {
        switch try patch.callIns.member(name, of: type, callback).member {
        case .field(let field), .property(_, _, let field?): return push(object, field, receiver, patch, callback)
        case .property(let get, _, nil): return CallInAPI.perform(get, on: UInt(bitPattern: object), callback, first: 2, patch)
        case .methods: return shl_return_method(callback.raw) == SHL_OK ? 0 : callback.fail("out of memory")
        case .missing(let text): return callback.fail(text)
        }
      } catch { return CallInAPI.fail(error, callback) }
    }
  }

  private static func push(_ object: UnsafeRawPointer, _ field: StoredField, _ receiver: SHLValue, _ patch: Patch, _ callback: LuaCallback)
    -> Int32
  {
    let memory = object + field.offset
    guard receiver.cls == patch.classes.object else { return give(copyOf: memory, field.info, patch, callback) }
    let lent = LentValue(root: .memory(UInt(bitPattern: memory)), offset: 0, info: field.info, serial: receiver.h.c)
    return withUnsafeTemporaryAllocation(of: (UInt64, UInt64).self, capacity: 1) {
      callback.done(ValueBridge(classes: patch.classes, serial: receiver.h.c).lua(memory, field.info, lent: lent, scratch: $0.baseAddress!))
    }
  }

  /// Part of what the script owns becomes its own as well.
  static func give(copyOf memory: UnsafeRawPointer, _ info: TypeInfo, _ patch: Patch, _ callback: LuaCallback) -> Int32 {
    let copy = OwnedValue(uninitialized: info)
    info.metadata.initialize(copy.memory, copying: memory)
    OwnedResult(patch: patch, callback: callback).give(copy)
    return callback.done()
  }

  static let newindex: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let object = patch.classes.object(callback[0]) else { return callback.fail(expired) }
      guard let name = callback.rawName else {
        return callback.fail("a Swift object has named properties, got \(ValueBridge.describe(callback[1]))")
      }
      let type = Metadata(object.load(as: UnsafeRawPointer.self))
      do throws(CallError) {
        switch try patch.callIns.member(name, of: type, callback).member {
        case .property(_, let set?, _): return CallInAPI.perform(set, on: UInt(bitPattern: object), callback, first: 2, patch)
        case .property(let get, nil, _):
          return callback.fail("'\(get.callable.selector.dropLast(4))' has no setter that can be called")
        case .field: return callback.fail("field '\(callback.name ?? "?")' of \(CallCheck.name(type)) has no setter that can be called")
        case .methods: return callback.fail("'\(callback.name ?? "?")' of \(CallCheck.name(type)) is a method and cannot be set")
        case .missing(let text): return callback.fail(text)
        }
      } catch { return CallInAPI.fail(error, callback) }
    }
  }

  /// `object:method(…)`.
  static let invoke: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let object = patch.classes.object(callback[0]) else { return callback.fail(expired) }
      guard let name = callback.rawName else { return callback.fail("a method has a name") }
      let type = Metadata(object.load(as: UnsafeRawPointer.self))
      do throws(CallError) {
        switch try patch.callIns.member(name, of: type, callback).member {
        case .methods(let methods):
          let bound = try ObjectMember.choose(methods, named: callback.name ?? "?", arguments: callback.count - 1)
          return CallInAPI.perform(bound, on: UInt(bitPattern: object), callback, first: 1, patch)
        case .missing(let text): return callback.fail(text)
        case .field, .property: return callback.fail("'\(callback.name ?? "?")' of \(CallCheck.name(type)) is no method")
        }
      } catch { return CallInAPI.fail(error, callback) }
    }
  }

  static let tostring: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let object = patch.classes.object(callback[0]) else { return callback.done("<a Swift object of a call that is over>") }
      return callback.done("<\(name(of: object))>")
    }
  }

  static let equal: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let a = callback[0]
      let b = callback[1]
      guard let first = patch.classes.object(a), let second = patch.classes.object(b) else { return callback.done(shl_bool(false)) }
      return callback.done(shl_bool(first == second))
    }
  }

  private static func name(of object: UnsafeRawPointer) -> String {
    let type = Metadata(object.load(as: UnsafeRawPointer.self))
    return (try? TypeResolver.shared.type(of: type).get().name) ?? "object"
  }

  // MARK: Values

  static let valueIndex: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let receiver = callback[0]
      if let text = missing(receiver) { return callback.fail(text) }
      let lent = LentValue(receiver)
      guard let name = callback.name else {
        return callback.fail("a Swift value has named fields, got \(ValueBridge.describe(callback[1]))")
      }
      switch StoredField.find(name, in: lent.info.metadata) {
      case .failure(let problem): return callback.fail(problem.description)
      case .success(let field):
        var inner = lent
        inner.offset += field.offset
        inner.info = field.info
        let done = inner.withMemory { memory in
          if lent.serial == 0 { return give(copyOf: memory, field.info, patch, callback) }
          return withUnsafeTemporaryAllocation(of: (UInt64, UInt64).self, capacity: 1) {
            callback.done(ValueBridge(classes: patch.classes, serial: lent.serial).lua(memory, field.info, lent: inner, scratch: $0.baseAddress!))
          }
        }
        return done ?? callback.fail(expired)
      }
    }
  }

  /// Why a value handle stands for nothing: 1 optimised out, 2 not decoded.
  private static func missing(_ value: SHLValue) -> String? {
    guard value.h.b == 0 else { return nil }
    switch value.h.a {
    case CallValues.optimizedOutMark: return "<optimized out>: this body was compiled without that value"
    case CallValues.consumedMark: return "the original consumed this argument; read it in 'before' or before call:original()"
    default: return "this value cannot be decoded here; see explain"
    }
  }

  static let valueToString: SHLFunction = { context, callback in
    withPatch(context, callback) { _, callback in
      let receiver = callback[0]
      if receiver.h.b == 0 {
        switch receiver.h.a {
        case CallValues.optimizedOutMark: return callback.done("<optimized out>")
        case CallValues.consumedMark: return callback.done("<consumed>")
        default: return callback.done("<not decoded>")
        }
      }
      let lent = LentValue(receiver)
      var text = ""
      let printer = ValuePrinter(isSecret: { Masking.isSecret($0) })
      if lent.withMemory({ printer.print($0, lent.info, into: &text) }) == nil {
        text = "<\(lent.info.name)>"
      }
      return callback.done(text)
    }
  }

  // MARK: swift.type, swift.is, swift.fields

  private static func dynamicType(_ value: SHLValue, _ patch: Patch) -> Metadata? {
    guard value.tag == SHL_HANDLE else { return nil }
    if patch.classes.isObject(value) { return patch.classes.object(value).map { Metadata($0.load(as: UnsafeRawPointer.self)) } }
    if patch.classes.isValue(value), value.h.b != 0 { return LentValue(value).info.metadata }
    return nil
  }

  static let typeName: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let type = dynamicType(callback[0], patch) else { return callback.fail("'swift.type' takes a Swift object or value") }
      return callback.done((try? TypeResolver.shared.type(of: type).get().name) ?? "?")
    }
  }

  static let isInstance: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard var type = dynamicType(callback[0], patch), let name = callback.text(1) else {
        return callback.fail("'swift.is' takes a Swift object and a type name")
      }
      while true {
        if (try? TypeResolver.shared.type(of: type).get().name) == name { return callback.done(shl_bool(true)) }
        guard let parent = type.superclass else { return callback.done(shl_bool(false)) }
        type = parent
      }
    }
  }

  static let fieldNames: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let type = dynamicType(callback[0], patch) else { return callback.fail("'swift.fields' takes a Swift object or value") }
      let table = shl_table_new(callback.scope, 4, 0)
      for (index, name) in StoredField.names(in: type).enumerated() {
        let status = name.withCString { shl_table_set_at(callback.scope, table, Int64(index + 1), shl_string($0, name.utf8.count)) }
        if status != SHL_OK { return callback.fail("out of memory") }
      }
      return callback.done(table)
    }
  }
}
