// ValueAPI — what scripts do with handles of Swift values: fields, elements, payloads, count, order, equality, text.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

/// Where a field of a struct, or an element of a tuple, lies in the value.
struct ValueField: BitwiseCopyable {
  let offset: Int
  /// Kept by the resolver for ever.
  let info: Unmanaged<TypeInfo>
}

enum ValueAPI {
  static let handles = HandleClass(
    "struct or enum", index: index, newindex: newindex, invoke: invoke, tostring: tostring, equal: equal, less: less, lessEqual: lessEqual, length: length,
    pairs: pairs)

  /// Why a value handle stands for nothing.
  static func missing(_ value: SHLValue) -> String? {
    guard value.h.b == 0 else { return nil }
    switch value.h.a {
    case CallValues.optimizedOutMark: return "<optimized out>: this body was compiled without that value"
    case CallValues.consumedMark: return "the original consumed this; read it in 'before' or before call:original()"
    case CallValues.perhapsConsumedMark:
      return "the original may have consumed this, its code does not tell; read it in 'before' or before call:original()"
    case CallValues.releasedMark: return "this value was let go with swift.release"
    case CallValues.unmadeMark: return "an initialiser has no 'self' to look at; what it makes is its result: 'call.result' in 'after'"
    case CallValues.inFrameMark: return "this value lies in the frame of a function, where the optimiser put it; only its call can lend it"
    default: return "this value cannot be decoded here; see explain"
    }
  }

  /// Why a handle that once was good has no memory now.
  static func gone(_ borrowed: BorrowedValue) -> String {
    guard let call = ScriptThread.call(borrowed.serial) else { return ObjectAPI.expired }
    if case .argument(let index) = borrowed.root, call.pointee.changes.isConsumed(index) {
      return "the original consumed this; read it in 'before' or before call:original()"
    }
    return "<optimized out>: this body was compiled without that part of the value"
  }

  static func bridge(_ receiver: SHLValue, _ patch: Environment, _ callback: LuaCallback) -> ValueBridge {
    ValueBridge(reading: receiver, patch, callback.scope)
  }

  static func withScratch(_ body: (Scratch) -> Int32) -> Int32 {
    withUnsafeTemporaryAllocation(of: (UInt64, UInt64).self, capacity: 1) { body($0.baseAddress!) }
  }

  // MARK: v.name, v[i], v[key]

  static let index: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let receiver = callback[0]
      if let done = rememberedField(receiver, patch, callback) { return done }
      if let text = missing(receiver) { return callback.fail(text) }
      let borrowed = BorrowedValue(receiver)
      let bridge = bridge(receiver, patch, callback)
      if let collection = CollectionType.of(borrowed.info) {
        if callback.rawName != nil, callback.name == "table", !hasKey("table", borrowed, collection, bridge) {
          return shl_return_method(callback.raw) == SHL_OK ? 0 : callback.fail("out of memory")
        }
        // Names are keys of dictionaries and sets; a list has no keys, but members.
        if collection.isList, callback.rawName != nil, let done = listMember(borrowed, collection, patch, callback) { return done }
        return element(callback[1], borrowed, collection, bridge, callback)
      }
      switch borrowed.info.kind {
      case .structure where !isField(borrowed.info, callback.name):
        return ValueCalls.index(borrowed, patch, callback) ?? field(borrowed, bridge, patch, callback)
      case .structure, .tuple: return field(borrowed, bridge, patch, callback)
      case .enumeration where callback.name != nil && callback.name != "case" && callback.name != "payload":
        return ValueCalls.index(borrowed, patch, callback) ?? payload(borrowed, bridge, callback)
      case .enumeration: return payload(borrowed, bridge, callback)
      case .optional(let payload):
        // An Optional that carries its type: what it holds.
        return payload.isOptional
          ? noMember(borrowed, callback) : borrowed.part(payload, at: 0).withMemory { _ in noMember(borrowed, callback) }
            ?? callback.fail(gone(borrowed))
      // What the body was compiled without in part is that first.
      default: return borrowed.withMemory { _ in noMember(borrowed, callback) } ?? callback.fail(gone(borrowed))
      }
    }
  }

  private static func isField(_ info: TypeInfo, _ name: String?) -> Bool {
    guard let name else { return true }
    return info.fields.contains { $0.name == name || $0.name + "_" == name }
  }

  private static func noMember(_ borrowed: BorrowedValue, _ callback: LuaCallback) -> Int32 {
    callback.fail("a value of type \(borrowed.info.name) has no fields")
  }

  /// A field that was read before, of the same type: its place and type are known. nil for all others.
  @inline(__always)
  private static func rememberedField(_ receiver: SHLValue, _ patch: Environment, _ callback: LuaCallback) -> Int32? {
    guard receiver.h.b != 0, let known = withKey(callback, { patch.fields.find($0, of: UInt(receiver.h.b) | $1) }) else { return nil }
    let borrowed = BorrowedValue(receiver)
    let bridge = bridge(receiver, patch, callback)
    let type = known.info.takeUnretainedValue()
    return withScratch { scratch in
      borrowed.withMemory {
        callback.done(bridge.lua($0 + known.offset, type, borrowed: borrowed.part(type, at: known.offset), scratch: scratch))
      } ?? callback.fail(gone(borrowed))
    }
  }

  /// Remembers a field whose value lies in its place as any value of its type, and that no setter can change meanwhile.
  private static func remember(_ field: StoredField, _ borrowed: BorrowedValue, _ patch: Environment, _ callback: LuaCallback) {
    guard case .value = field.reference, case .success(let type) = field.type else { return }
    if case .classType = field.owner.kind { return }
    let known = ValueField(offset: field.offset, info: .passUnretained(type))
    _ = withKey(callback) { patch.fields.remember(known, $0, of: UInt(bitPattern: Unmanaged.passUnretained(borrowed.info).toOpaque()) | $1) }
  }

  /// Gives `body` the bytes of the key, a name or a position, and the bit by which positions and names differ: TypeInfos are aligned.
  @inline(__always)
  private static func withKey<R>(_ callback: LuaCallback, _ body: (UnsafeRawBufferPointer, UInt) -> R?) -> R? {
    if let name = callback.rawName { return body(name, 0) }
    let key = callback[1]
    guard key.tag == SHL_INT else { return nil }
    return withUnsafeBytes(of: key.i) { body($0, 1) }
  }

  private static func field(_ borrowed: BorrowedValue, _ bridge: ValueBridge, _ patch: Environment, _ callback: LuaCallback) -> Int32 {
    let fields = borrowed.info.fields
    let found: StoredField?
    if let name = callback.name {
      found = fields.first { $0.name == name } ?? (name.hasSuffix("_") ? fields.first { $0.name == name.dropLast() } : nil)
      if let rights = patch.rights, let found, let why = rights.refusal(selector: "\(borrowed.info.name).\(found.name)", of: borrowed.info.name) {
        return callback.fail(why)
      }
    } else if case .tuple = borrowed.info.kind, callback[1].tag == SHL_INT {
      let position = callback[1].i
      found = position >= 1 && position <= Int64(fields.count) ? fields[Int(position) - 1] : nil
    } else {
      found = nil
    }
    guard let found else {
      let key = callback.name ?? ValueBridge.shown(callback[1])
      return callback.fail(BridgeError.unknownField(key, type: borrowed.info.name, known: fieldNames(borrowed.info)).description)
    }
    remember(found, borrowed, patch, callback)
    return withScratch { scratch in
      borrowed.withMemory { memory in
        switch FieldAccess.read(found, memory, borrowed, bridge, scratch) {
        case .success(let value): callback.done(value)
        case .failure(let problem): callback.fail(problem.description)
        }
      } ?? callback.fail(gone(borrowed))
    }
  }

  static func fieldNames(_ info: TypeInfo) -> [String] {
    guard case .tuple = info.kind else { return info.fields.map(\.name) }
    return info.metadata.tupleLabels.enumerated().map { $1 ?? "\($0 + 1)" }
  }

  /// `e.case`, `e.payload`, `e[1]`.
  private static func payload(_ borrowed: BorrowedValue, _ bridge: ValueBridge, _ callback: LuaCallback) -> Int32 {
    let info = borrowed.info
    let done = borrowed.withMemory { memory -> Int32 in
      guard let number = info.caseNumber(of: memory) else { return callback.fail("the case of this \(info.name) is not known") }
      let current = info.cases[number]
      if callback.name == "case" { return callback.done(current.name) }
      let position = callback[1].tag == SHL_INT ? callback[1].i : nil
      guard callback.name == "payload" || position != nil else {
        return callback.fail(
          "an enum value has 'case', 'payload' and [1], [2], …; it has no '\(callback.name ?? ValueBridge.shown(callback[1]))'")
      }
      guard current.hasPayload else { return callback.done(shl_nil()) }
      guard info.isCopyable, let type = current.payload else {
        return callback.fail("the payload of case '\(current.name)' of \(info.name) cannot be read")
      }
      return info.withPayload(of: memory) { memory, _ in give(memory, type, position, bridge, callback) } ?? callback.done(shl_nil())
    }
    return done ?? callback.fail(gone(borrowed))
  }

  private static func give(_ memory: UnsafeRawPointer, _ type: TypeInfo, _ position: Int64?, _ bridge: ValueBridge, _ callback: LuaCallback)
    -> Int32
  {
    if case .tuple = type.kind {
      // One labelled value is a tuple of one in the metadata.
      let wanted = position ?? (type.fields.count == 1 ? 1 : 0)
      if wanted != 0 {
        guard wanted >= 1, wanted <= Int64(type.fields.count), case .success(let part) = type.fields[Int(wanted) - 1].type else {
          return callback.done(shl_nil())
        }
        return push(memory + type.fields[Int(wanted) - 1].offset, part, bridge, callback)
      }
    } else if let position, position != 1 {
      return callback.done(shl_nil())
    }
    return push(memory, type, bridge, callback)
  }

  /// A value whose memory ends with this call: what is no plain value is copied.
  static func push(_ memory: UnsafeRawPointer, _ type: TypeInfo, _ bridge: ValueBridge, _ callback: LuaCallback, isElement: Bool = false)
    -> Int32
  {
    withScratch { callback.done(bridge.snapshot(memory, type, $0, isElement: isElement)) }
  }

  // MARK: Collections

  private static func element(
    _ key: SHLValue, _ borrowed: BorrowedValue, _ collection: CollectionType, _ bridge: ValueBridge, _ callback: LuaCallback
  ) -> Int32 {
    if collection.isList {
      guard let index = position(key), index >= 1 else {
        return callback.fail("a list has the positions 1, 2, …, got \(callback.name.map { "'\($0)'" } ?? ValueBridge.shown(key))")
      }
      let done = borrowed.withMemory { memory -> Int32? in
        collection.withElement(memory, Int(index) - 1) { push($0, collection.element, bridge, callback, isElement: true) }
      }
      guard let done else { return callback.fail(gone(borrowed)) }
      return done ?? callback.done(shl_nil())
    }
    return withKey(key, collection, bridge, callback) { keyMemory in
      let done = borrowed.withMemory { memory -> Int32? in
        collection.withValue(memory, key: keyMemory) {
          collection.key == nil ? callback.done(shl_bool(true)) : push($0, collection.element, bridge, callback, isElement: true)
        }
      }
      guard let done else { return callback.fail(gone(borrowed)) }
      return done ?? callback.done(collection.key == nil ? shl_bool(false) : shl_nil())
    }
  }

  /// A dictionary by name has that name: its value comes before our method.
  private static func hasKey(_ name: String, _ borrowed: BorrowedValue, _ collection: CollectionType, _ bridge: ValueBridge) -> Bool {
    guard collection.key?.isString == true else { return false }
    return withUnsafePointer(to: name) { name in borrowed.withMemory { collection.withValue($0, key: UnsafeRawPointer(name)) { _ in true } } }
      == .some(true)
  }

  /// `list.count`, `list.isEmpty`, and what else its type has that can be called; nil when that is nothing.
  private static func listMember(_ borrowed: BorrowedValue, _ collection: CollectionType, _ patch: Environment, _ callback: LuaCallback) -> Int32? {
    switch callback.name {
    case "count": borrowed.withMemory { callback.done(shl_int(Int64(collection.count($0)))) } ?? callback.fail(gone(borrowed))
    case "isEmpty": borrowed.withMemory { callback.done(shl_bool(collection.count($0) == 0)) } ?? callback.fail(gone(borrowed))
    default: ValueCalls.index(borrowed, patch, callback)
    }
  }

  private static func position(_ key: SHLValue) -> Int64? {
    switch key.tag {
    case SHL_INT: key.i
    case SHL_NUMBER: Int64(exactly: key.n)
    default: nil
    }
  }

  /// Gives `body` the key as the collection has it.
  private static func withKey(
    _ key: SHLValue, _ collection: CollectionType, _ bridge: ValueBridge, _ callback: LuaCallback, _ body: (UnsafeRawPointer) -> Int32
  ) -> Int32 {
    let type = collection.key ?? collection.element
    let made = OwnedValue(uninitialized: type)
    do throws(BridgeError) { try bridge.store(key, as: type, at: made.memory) } catch {
      made.forget()
      return callback.fail("key: \(error.description)")
    }
    defer { made.destroy() }
    return body(made.memory)
  }

  static let length: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let receiver = callback[0]
      if let text = missing(receiver) { return callback.fail(text) }
      let borrowed = BorrowedValue(receiver)
      if let collection = CollectionType.of(borrowed.info) {
        return borrowed.withMemory { callback.done(shl_int(Int64(collection.count($0)))) } ?? callback.fail(gone(borrowed))
      }
      if case .string = borrowed.info.kind {
        // One that is too long for a string of Lua's.
        return borrowed.withMemory { callback.done(shl_int(Int64($0.assumingMemoryBound(to: String.self).pointee.utf8.count))) }
          ?? callback.fail(gone(borrowed))
      }
      guard case .tuple = borrowed.info.kind else { return callback.fail("a value of type \(borrowed.info.name) has no length") }
      return callback.done(shl_int(Int64(borrowed.info.fields.count)))
    }
  }

  /// `pairs(v)`: positions and elements, keys and values, members and true, names and fields.
  static let pairs: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      if let text = missing(callback[0]) { return callback.fail(text) }
      if patch.nextFunction == 0 { patch.nextFunction = shl_keep(callback.scope, shl_function(callback.scope, next, context)) }
      guard patch.nextFunction != 0 else { return callback.fail("out of memory") }
      callback.give(shl_ref_value(patch.nextFunction))
      callback.give(.argument(0))
      return callback.done(shl_nil())
    }
  }

  /// The iterator of `pairs`: (v, key) to the next key and value. Has no state, so that a loop may be left at any time.
  static let next: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let receiver = callback[0]
      guard patch.classes.isValue(receiver) else { return callback.fail("the iterator of 'pairs' takes the value it was made for") }
      if let text = missing(receiver) { return callback.fail(text) }
      let borrowed = BorrowedValue(receiver)
      let bridge = bridge(receiver, patch, callback)
      guard let collection = CollectionType.of(borrowed.info) else { return nextField(borrowed, bridge, callback) }
      if collection.isList {
        let index = callback[1].tag == SHL_INT ? callback[1].i : 0
        let done = borrowed.withMemory { memory -> Int32? in
          collection.withElement(memory, Int(index)) {
            callback.give(shl_int(index + 1))
            return push($0, collection.element, bridge, callback, isElement: true)
          }
        }
        guard let done else { return callback.fail(gone(borrowed)) }
        return done ?? callback.done(shl_nil())
      }
      if callback[1].tag == SHL_NIL { return entry(after: nil, borrowed, collection, bridge, callback) }
      return withKey(callback[1], collection, bridge, callback) { entry(after: $0, borrowed, collection, bridge, callback) }
    }
  }

  /// Answers the entry behind the key, nil for the first one; nothing where there is none.
  private static func entry(
    after key: UnsafeRawPointer?, _ borrowed: BorrowedValue, _ collection: CollectionType, _ bridge: ValueBridge, _ callback: LuaCallback
  ) -> Int32 {
    let done = borrowed.withMemory { memory -> Int32? in
      collection.withEntry(memory, after: key) { key, value in
        _ = push(key, collection.key ?? collection.element, bridge, callback, isElement: true)
        return collection.key == nil ? callback.done(shl_bool(true)) : push(value, collection.element, bridge, callback, isElement: true)
      }
    }
    guard let done else { return callback.fail(gone(borrowed)) }
    return done ?? callback.done(shl_nil())
  }

  private static func nextField(_ borrowed: BorrowedValue, _ bridge: ValueBridge, _ callback: LuaCallback) -> Int32 {
    let names = fieldNames(borrowed.info)
    var position = 0
    if let key = callback[1].text ?? (callback[1].tag == SHL_INT ? "\(callback[1].i)" : nil) {
      position = (names.firstIndex(of: key) ?? names.count) + 1
    }
    guard position < names.count else { return callback.done(shl_nil()) }
    callback.give(
      Int64(names[position]).map { shl_int($0) }.flatMap { borrowed.info.isTuple ? $0 : nil }.map(LuaPart.raw) ?? .text(names[position]))
    return withScratch { scratch in
      borrowed.withMemory { memory in
        switch FieldAccess.read(borrowed.info.fields[position], memory, borrowed, bridge, scratch) {
        case .success(let value): callback.done(value.tag == SHL_NIL ? ValueBridge.null : value)
        case .failure: callback.done("<not readable>")
        }
      } ?? callback.fail(gone(borrowed))
    }
  }

  /// `c:table(max)`: a table of the elements, or of keys and values.
  static let invoke: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let receiver = callback[0]
      if let text = missing(receiver) { return callback.fail(text) }
      let borrowed = BorrowedValue(receiver)
      guard callback.name == "table" else {
        return ValueCalls.invoke(borrowed, patch, callback)
          ?? callback.fail("a value of type \(borrowed.info.name) has no method '\(callback.name ?? "?")'")
      }
      return copy(borrowed, patch, callback)
    }
  }

  /// `swift.table(c, max)`: the same for a dictionary that has the key "table".
  static let tableOf: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      if patch.classes.isValue(callback[0]), let text = missing(callback[0]) { return callback.fail(text) }
      guard let borrowed = patch.classes.borrowedValue(callback[0]) else {
        return callback.fail("'swift.table' takes a Swift collection, got \(ValueBridge.describe(callback[0]))")
      }
      return copy(borrowed, patch, callback)
    }
  }

  private static func copy(_ borrowed: BorrowedValue, _ patch: Environment, _ callback: LuaCallback) -> Int32 {
    guard let collection = CollectionType.of(borrowed.info) else { return callback.fail("a value of type \(borrowed.info.name) is no collection") }
    var most = Int.max
    if callback[1].tag == SHL_INT, callback[1].i >= 0 {
      most = Int(callback[1].i)
    } else if callback[1].tag != SHL_NIL {
      return callback.fail("'table' takes the most elements to copy, got \(ValueBridge.describe(callback[1]))")
    }
    return table(borrowed, collection, most, bridge(callback[0], patch, callback), callback)
  }

  private static func table(_ borrowed: BorrowedValue, _ collection: CollectionType, _ most: Int, _ bridge: ValueBridge, _ callback: LuaCallback)
    -> Int32
  {
    var failed = false
    let made = borrowed.withMemory { memory -> SHLValue in
      let count = min(collection.count(memory), most)
      let isKeyed = collection.key != nil
      let table = shl_table_new(callback.scope, Int32(clamping: isKeyed ? 0 : count), Int32(clamping: isKeyed ? count : 0))
      withUnsafeTemporaryAllocation(of: (UInt64, UInt64).self, capacity: 2) { scratch in
        let first = scratch.baseAddress!
        func set(_ key: SHLValue, _ part: UnsafeRawPointer) -> Bool {
          let mark = shl_mark(callback.scope)
          defer { shl_drop(callback.scope, mark) }
          let status = shl_table_set(callback.scope, table, key, bridge.snapshot(part, collection.element, first + 1, isElement: true))
          failed = failed || status != SHL_OK
          return !failed
        }
        var index = 0
        if collection.isList {
          while index < count, collection.withElement(memory, index, { set(shl_int(Int64(index + 1)), $0) }) == true { index += 1 }
        } else if count > 0 {
          collection.forEach(memory) { key, part in
            index += 1
            let name = collection.key.map { bridge.snapshot(key, $0, first, isElement: true) } ?? shl_int(Int64(index))
            return set(name, part) && index < count
          }
        }
      }
      return table
    }
    guard let made else { return callback.fail(gone(borrowed)) }
    return failed || made.tag == SHL_NIL ? callback.fail("out of memory") : callback.done(made)
  }

  static let newindex: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      if let text = missing(callback[0]) { return callback.fail(text) }
      let info = BorrowedValue(callback[0]).info
      let name = callback.name ?? ValueBridge.shown(callback[1])
      return callback.fail(
        CollectionType.of(info) != nil
          ? "this is a copy of a \(info.name) and cannot be changed; take c:table(), change that, and pass it on"
          : "this is a copy of a \(info.name) and cannot be changed; swift.with(value, { \(name) = … }) makes a changed one")
    }
  }

  // MARK: Equality, order, text

  static let equal: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      callback.done(shl_bool(isEqual(callback[0], callback[1], patch)))
    }
  }

  private static func isEqual(_ a: SHLValue, _ b: SHLValue, _ patch: Environment) -> Bool {
    guard let first = patch.classes.borrowedValue(a), let second = patch.classes.borrowedValue(b) else { return false }
    if let x = WideInteger(a, patch.classes), let y = WideInteger(b, patch.classes) { return x == y }
    guard first.info.metadata == second.info.metadata, first.info.isCopyable else { return false }
    let answer = first.withMemory { x in
      second.withMemory { y -> Bool in
        if x == y { return true }
        func compare<E: Equatable>(_: E.Type) -> Bool {
          // Both have the type that chose this body.
          x.assumingMemoryBound(to: E.self).pointee == y.assumingMemoryBound(to: E.self).pointee
        }
        guard let type = first.info.metadata.type as? any Equatable.Type else {
          return a.h.a == b.h.a && a.h.b == b.h.b && a.h.c == b.h.c
        }
        return HostWork.run { compare(type) }
      }
    }
    return (answer ?? false) ?? false
  }

  static let less: SHLFunction = { context, callback in withPatch(context, callback) { order($0, $1, { $0 < $1 }, { $0 < $1 }) } }
  static let lessEqual: SHLFunction = { context, callback in withPatch(context, callback) { order($0, $1, { $0 <= $1 }, { $0 <= $1 }) } }

  private static func order(
    _ patch: Environment, _ callback: LuaCallback, _ isOrdered: (WideInteger, WideInteger) -> Bool, _ floats: (Float80, Float80) -> Bool
  ) -> Int32 {
    if let a = WideInteger(callback[0], patch.classes), let b = WideInteger(callback[1], patch.classes) {
      return callback.done(shl_bool(isOrdered(a, b)))
    }
    if let a = Float80(callback[0], patch.classes), let b = Float80(callback[1], patch.classes) {
      return callback.done(shl_bool(floats(a, b)))
    }
    return callback.fail("only numbers are compared by order")
  }

  /// Bytes as they are; anything else as a person reads it.
  static let tostring: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let receiver = callback[0]
      if receiver.h.b == 0 {
        switch receiver.h.a {
        case CallValues.optimizedOutMark: return callback.done("<optimized out>")
        case CallValues.consumedMark: return callback.done("<consumed>")
        case CallValues.perhapsConsumedMark: return callback.done("<perhaps consumed>")
        case CallValues.releasedMark: return callback.done("<released>")
        case CallValues.inFrameMark: return callback.done("<in a frame>")
        case CallValues.unmadeMark: return callback.done("<not initialised>")
        default: return callback.done("<not decoded>")
        }
      }
      let borrowed = BorrowedValue(receiver)
      if let collection = CollectionType.of(borrowed.info), collection.isBytes {
        return borrowed.withMemory { memory in
          collection.withBytes(memory) { callback.done(shl_string($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)) }
            ?? callback.done("")
        } ?? callback.done("<\(borrowed.info.name)>")
      }
      return callback.done(text(borrowed))
    }
  }

  static func text(_ borrowed: BorrowedValue) -> String {
    var text = ""
    let printer = ValuePrinter(isSecret: { Masking.isSecret($0) })
    let done: Void? = borrowed.withMemory { memory in
      if let wide = WideInteger(memory, borrowed.info) {
        text = wide.description
      } else if case .metatype = borrowed.info.kind, borrowed.info.size >= 8 {
        text = ValuePrinter.short(_typeName(Metadata(memory.load(as: UnsafeRawPointer.self)).type, qualified: true))
      } else {
        printer.print(memory, borrowed.info, into: &text)
      }
    }
    return done == nil ? "<\(borrowed.info.name)>" : text
  }
}

/// A name or a number.
private enum LuaPart {
  case raw(SHLValue)
  case text(String)
}
extension LuaCallback {
  fileprivate func give(_ part: LuaPart) {
    switch part {
    case .raw(let value): give(value)
    case .text(let text): give(text)
    }
  }
}

extension TypeInfo {
  var isString: Bool { if case .string = kind { true } else { false } }
}
