// SwiftAPI — the functions under `swift.` that make, change and take apart values.
internal import CLuaShim
internal import HookRuntime
internal import Journal
internal import LuaBridge

enum SwiftAPI {
  static let functions: [(String, SHLFunction)] = [
    ("swift.keep", KeptHandles.keep), ("swift.weak", KeptHandles.makeWeak), ("swift.release", KeptHandles.release),
    ("swift.lend", StackPromoted.passBorrowed), ("swift.with", with), ("swift.case", makeCase), ("swift.data", data), ("swift.value", value),
    ("swift.table", ValueAPI.tableOf),
    ("swift.u64", u64), ("swift.int", int), ("swift.type", typeName), ("swift.is", isInstance), ("swift.as", asType),
    ("swift.fields", fieldNames), ("swift.error", ErrorAPI.make),
  ]

  /// `swift.with(s, { field = value })`: a changed copy of a struct or tuple.
  private static let with: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      if patch.classes.isValue(callback[0]), let text = ValueAPI.missing(callback[0]) { return callback.fail(text) }
      guard let borrowed = patch.classes.borrowedValue(callback[0]), callback[1].tag == SHL_TABLE else {
        return callback.fail("'swift.with' takes a Swift struct or tuple and a table of fields, got \(ValueBridge.describe(callback[0]))")
      }
      do throws(BridgeError) {
        return callback.done(try ValueBridge(running: patch, callback.scope).changed(borrowed, callback[1]))
      } catch { return callback.fail("'swift.with': \(error.description)") }
    }
  }

  /// `swift.case(e)`: the case's name. `swift.case("name", payload, …)`: what a parameter of an enum type is made from; with the type's
  /// name before it, "Shop.Status.closed", a value of it.
  private static let makeCase: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      if let borrowed = patch.classes.borrowedValue(callback[0]) {
        let name = borrowed.withMemory { memory in borrowed.info.caseNumber(of: memory).map { borrowed.info.cases[$0].name } }
        guard let name else { return callback.fail(ObjectAPI.expired) }
        return name.map { callback.done($0) } ?? callback.fail("'swift.case': a value of type \(borrowed.info.name) is no enum")
      }
      guard callback[0].tag == SHL_STRING else {
        return callback.fail(
          "'swift.case' takes an enum value, or the name of a case and its payload, got \(ValueBridge.describe(callback[0]))")
      }
      let text = callback.text(0) ?? ""
      let dot = text.lastIndex(of: ".")
      if dot == nil, callback.count == 1 { return callback.done(callback[0]) }
      guard let dot else { return described(callback[0], callback).map { callback.done($0) } ?? callback.fail("out of memory") }
      guard let type = enumeration(String(text[..<dot])) else {
        return callback.fail("'swift.case': the program has no enum '\(text[..<dot])' that is not generic")
      }
      var name = String(text[text.index(after: dot)...])
      return name.withUTF8 { name in
        name.withMemoryRebound(to: CChar.self) { value(of: type, shl_string($0.baseAddress, $0.count), patch, callback) }
      }
    }
  }

  private static func enumeration(_ name: String) -> TypeInfo? {
    guard let metadata = TypeCatalog.shared.descriptor(name)?.metadata(), case .success(let info) = TypeResolver.shared.general(of: metadata),
      case .enumeration = info.kind
    else { return nil }
    return info
  }

  /// A value of the enum, from the name of its case and the payload that `swift.case` was given.
  private static func value(of type: TypeInfo, _ name: SHLValue, _ patch: Environment, _ callback: LuaCallback) -> Int32 {
    var source = name
    if callback.count > 1 {
      guard let table = described(name, callback) else { return callback.fail("out of memory") }
      source = table
    }
    let bridge = ValueBridge(running: patch, callback.scope)
    let made = OwnedValue(uninitialized: type)
    do throws(BridgeError) { try bridge.store(source, as: type, at: made.memory) } catch {
      made.forget()
      return callback.fail("'swift.case': \(error.description)")
    }
    return callback.done(bridge.own(made))
  }

  /// `{ name = payload }`, which a parameter of an enum type is made from; nil when memory runs out.
  private static func described(_ name: SHLValue, _ callback: LuaCallback) -> SHLValue? {
    let made = shl_table_new(callback.scope, 0, 1)
    var payload = given(1, callback)
    if callback.count > 2 {
      payload = shl_table_new(callback.scope, Int32(callback.count - 1), 0)
      for index in 1..<callback.count { _ = shl_table_set_at(callback.scope, payload, Int64(index), given(index, callback)) }
    }
    return shl_table_set(callback.scope, made, name, payload) == SHL_OK ? made : nil
  }

  /// An argument for a table, where nil would be a hole.
  private static func given(_ index: Int, _ callback: LuaCallback) -> SHLValue {
    let value = callback[index]
    switch value.tag {
    case SHL_NIL: return ValueBridge.none
    case SHL_HANDLE:
      // The script's own handle: a second one with its words would end what it keeps a second time. Arguments are the lowest slots.
      var same = SHLValue()
      same.tag = SHL_OTHER
      same.slot = Int32(index + 1)
      return same
    default: return value
    }
  }

  /// `swift.data(s)`: the bytes of a string, for parameters of type Data and [UInt8].
  private static let data: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let value = callback[0]
      guard value.tag == SHL_STRING, let info = bytesInfo else {
        return callback.fail("'swift.data' takes a string, got \(ValueBridge.describe(value))")
      }
      let made = OwnedValue(uninitialized: info)
      made.memory.initializeMemory(as: [UInt8].self, to: [UInt8](UnsafeRawBufferPointer(start: value.s.p, count: value.s.n)))
      return callback.done(ValueBridge(running: patch, callback.scope).own(made))
    }
  }
  private static let bytesInfo = try? TypeResolver.shared.type(of: Metadata([UInt8].self)).get()

  /// `swift.value(h)`: the plain Lua value of a handle that carries the type of a number, text or Bool; nil for a none.
  private static let value: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let borrowed = patch.classes.borrowedValue(callback[0]) else {
        return callback[0].tag == SHL_HANDLE
          ? callback.fail("'swift.value' takes a number, text or Optional; this handle is none") : callback.done(callback[0])
      }
      let bridge = ValueAPI.bridge(callback[0], patch, callback)
      return ValueAPI.withScratch { scratch in
        borrowed.withMemory { memory in
          let plain = bridge.lua(memory, borrowed.info, borrowed: borrowed, scratch: scratch)
          let isSame = plain.tag == SHL_HANDLE && patch.classes.isValue(plain)
          // A copy that nobody is going to see.
          if isSame, plain.cls == patch.classes.ownedValue { KeptHandles.releaseValue(nil, plain.h.a, plain.h.b, 0) }
          return isSame ? callback.fail("'swift.value': a value of type \(borrowed.info.name) has no plain Lua value") : callback.done(plain)
        } ?? callback.fail(ObjectAPI.expired)
      }
    }
  }

  /// `swift.u64(n)`: an exact UInt64, from an integer or its digits.
  private static let u64: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let info = try? TypeResolver.shared.type(of: Metadata(UInt64.self)).get() else { return callback.fail("out of memory") }
      let bridge = ValueBridge(running: patch, callback.scope)
      let made: UInt64
      if let text = callback.text(0) {
        let digits = text.hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16) : UInt64(text)
        guard let digits else { return callback.fail("'swift.u64': '\(text)' is no UInt64") }
        made = digits
      } else {
        do throws(BridgeError) { made = try bridge.exact(callback[0], "UInt64") } catch {
          return callback.fail("'swift.u64': \(error.description)")
        }
      }
      let owned = OwnedValue(uninitialized: info)
      owned.memory.storeBytes(of: made, as: UInt64.self)
      return callback.done(bridge.own(owned))
    }
  }

  /// `swift.int(h)`: the Lua integer of an integer of any type, or an error when it does not fit.
  private static let int: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      do throws(BridgeError) {
        let number: Int64 = try ValueBridge(running: patch, callback.scope).exact(callback[0], "Int64")
        return callback.done(shl_int(number))
      } catch { return callback.fail("'swift.int': \(error.description)") }
    }
  }

  // MARK: Types

  static func dynamicType(_ value: SHLValue, _ patch: Environment) -> Metadata? {
    if let object = patch.classes.object(value) { return Instance.type(object) }
    if let borrowed = patch.classes.borrowedValue(value) { return borrowed.info.metadata }
    if let box = patch.classes.errorBox(value) { return ErrorAPI.opened(box)?.type.metadata }
    return nil
  }

  private static func expiredOr(_ text: String, _ value: SHLValue, _ patch: Environment) -> String {
    patch.classes.isObject(value) || patch.classes.isError(value) ? ObjectAPI.expired : text
  }

  private static let typeName: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let type = dynamicType(callback[0], patch) else {
        return callback.fail(expiredOr("'swift.type' takes a Swift object or value", callback[0], patch))
      }
      return callback.done(_typeName(type.type, qualified: true))
    }
  }

  /// The type's name, its superclasses' or a protocol's it conforms to.
  private static func matches(_ type: Metadata, _ name: String, _ callback: LuaCallback) -> Bool {
    var each: Metadata? = type
    while let metadata = each {
      if _typeName(metadata.type, qualified: true) == name { return true }
      each = metadata.superclass
    }
    // Looking for a protocol is not the script's time.
    return callback.unlocked { type.conforms(toProtocolNamed: name) }
  }

  private static let isInstance: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let name = callback.text(1), callback[0].tag != SHL_NIL || callback.count > 1 else {
        return callback.fail("'swift.is' takes a Swift object and a type name")
      }
      guard let type = dynamicType(callback[0], patch) else {
        return callback.fail(expiredOr("'swift.is' takes a Swift object and a type name", callback[0], patch))
      }
      return callback.done(shl_bool(matches(type, name, callback)))
    }
  }

  /// `swift.as(h, "Type")`: the handle when it is of that type, else nil.
  private static let asType: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let name = callback.text(1) else { return callback.fail("'swift.as' takes a Swift object and a type name") }
      if callback[0].tag == SHL_NIL { return callback.done(shl_nil()) }
      guard let type = dynamicType(callback[0], patch) else {
        return callback.fail(expiredOr("'swift.as' takes a Swift object and a type name", callback[0], patch))
      }
      guard matches(type, name, callback) else { return callback.done(shl_nil()) }
      return callback.done(.argument(0))
    }
  }

  private static let fieldNames: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let type = dynamicType(callback[0], patch) else {
        return callback.fail(expiredOr("'swift.fields' takes a Swift object or value", callback[0], patch))
      }
      let table = shl_table_new(callback.scope, 4, 0)
      for (index, name) in StoredField.names(in: type).enumerated() {
        let status = name.withCString { shl_table_set_at(callback.scope, table, Int64(index + 1), shl_string($0, name.utf8.count)) }
        if status != SHL_OK { return callback.fail("out of memory") }
      }
      return callback.done(table)
    }
  }
}

extension SHLValue {
  /// The very value that is argument `index` of the running callback, to be returned or kept.
  static func argument(_ index: Int32) -> SHLValue {
    var value = SHLValue()
    value.tag = SHL_OTHER
    value.slot = index + 1
    return value
  }
}
