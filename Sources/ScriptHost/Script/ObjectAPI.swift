// ObjectAPI — what scripts read of Swift objects and values: stored fields, type name, identity. No program code runs.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum ObjectAPI {
  private static func bridge(_ patch: Patch, _ serial: UInt64) -> ValueBridge { ValueBridge(classes: patch.classes, serial: serial) }

  private static func object(_ value: SHLValue) -> UnsafeRawPointer? {
    guard ScriptThread.isCurrent(value.h.c) else { return nil }
    return UnsafeRawPointer(bitPattern: UInt(value.h.a))
  }

  private static let expired = "this object was only lent for the call it came with, which is over; copy what you need from it"

  // MARK: Objects

  static let index: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let receiver = callback[0]
      guard let object = object(receiver) else { return callback.fail(expired) }
      guard let name = callback.name else {
        return callback.fail("a Swift object has named fields, got \(ValueBridge.describe(callback[1]))")
      }
      let type = Metadata(object.load(as: UnsafeRawPointer.self))
      switch StoredField.find(name, in: type) {
      case .failure(let problem): return callback.fail(problem.description)
      case .success(let field): return push(UnsafeRawPointer(object) + field.offset, field.info, receiver.h.c, patch, callback)
      }
    }
  }

  private static func push(_ memory: UnsafeRawPointer, _ info: TypeInfo, _ serial: UInt64, _ patch: Patch, _ callback: LuaCallback) -> Int32
  {
    let lent = LentValue(root: .memory(UInt(bitPattern: memory)), offset: 0, info: info, serial: serial)
    return withUnsafeTemporaryAllocation(of: (UInt64, UInt64).self, capacity: 1) {
      callback.done(bridge(patch, serial).lua(memory, info, lent: lent, scratch: $0.baseAddress!))
    }
  }

  static let newindex: SHLFunction = { context, callback in
    withPatch(context, callback) { _, callback in
      callback.fail("fields of Swift objects cannot be set yet; change arguments or results instead")
    }
  }

  static let tostring: SHLFunction = { context, callback in
    withPatch(context, callback) { _, callback in
      guard let object = object(callback[0]) else { return callback.done("<a Swift object of a call that is over>") }
      return callback.done("<\(name(of: object))>")
    }
  }

  static let equal: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let a = callback[0]
      let b = callback[1]
      guard a.tag == SHL_HANDLE, b.tag == SHL_HANDLE, a.cls == b.cls, object(a) != nil, object(b) != nil else {
        return callback.done(shl_bool(false))
      }
      return callback.done(shl_bool(a.h.a == b.h.a))
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
      guard let call = ScriptThread.call(lent.serial) else { return callback.fail(expired) }
      guard let name = callback.name else {
        return callback.fail("a Swift value has named fields, got \(ValueBridge.describe(callback[1]))")
      }
      switch StoredField.find(name, in: lent.info.metadata) {
      case .failure(let problem): return callback.fail(problem.description)
      case .success(let field):
        var inner = lent
        inner.offset += field.offset
        inner.info = field.info
        let done = call.pointee.withMemory(of: inner) { memory in
          withUnsafeTemporaryAllocation(of: (UInt64, UInt64).self, capacity: 1) {
            callback.done(bridge(patch, lent.serial).lua(memory, field.info, lent: inner, scratch: $0.baseAddress!))
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
      if ScriptThread.call(lent.serial)?.pointee.withMemory(of: lent, { printer.print($0, lent.info, into: &text) }) == nil {
        text = "<\(lent.info.name)>"
      }
      return callback.done(text)
    }
  }

  // MARK: swift.type, swift.is, swift.fields

  private static func dynamicType(_ value: SHLValue, _ patch: Patch) -> Metadata? {
    guard value.tag == SHL_HANDLE else { return nil }
    if value.cls == patch.classes.object { return object(value).map { Metadata($0.load(as: UnsafeRawPointer.self)) } }
    if value.cls == patch.classes.value, value.h.b != 0 { return LentValue(value).info.metadata }
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
