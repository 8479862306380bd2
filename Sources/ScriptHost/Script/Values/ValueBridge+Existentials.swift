// ValueBridge+Existentials — values whose type only the value knows: Any, any P, any Error, AnyObject, AnyHashable.
//
// Of Int, Double, Bool, String and objects a script sees the plain value, and these are what its own values become. Every
// other type is a handle that carries it, so that what is passed on is what was received.
internal import CLuaShim
internal import HookRuntime

extension ValueBridge {
  // MARK: Swift to Lua

  /// What a value of protocol type holds, for Lua.
  func existential(_ memory: UnsafeRawPointer, _ info: TypeInfo, _ borrowed: BorrowedValue, _ scratch: Scratch) -> SHLValue {
    switch info.metadata.existentialForm {
    case .error: return error(memory.loadUnaligned(as: UInt.self))
    case .reference: return reference(memory.loadUnaligned(as: UInt.self))
    case .opaque, nil:
      guard let (value, type) = info.openExistential(memory) else { return handle(memory, borrowed) }
      return opened(value, type, scratch)
    }
  }

  /// A value found in an existential.
  func opened(_ memory: UnsafeRawPointer, _ type: TypeInfo, _ scratch: Scratch) -> SHLValue {
    let borrowed = BorrowedValue(root: .memory(UInt(bitPattern: memory)), info: type, serial: serial)
    switch type.kind {
    case .bool, .string, .object: return lua(memory, type, borrowed: borrowed, scratch: scratch)
    case .float(64): return lua(memory, type, borrowed: borrowed, scratch: scratch)
    case .integer where type.metadata.pointer == Metadata(Int.self).pointer: return lua(memory, type, borrowed: borrowed, scratch: scratch)
    case .existential: return existential(memory, type, borrowed, scratch)
    case .optional:
      if type.metadata.enumTag(memory) == 1 { return Self.null }
      return copied(memory, type)
    default: return copied(memory, type)
    }
  }

  /// The plain value, or a handle, of a Swift value in hand.
  func natural(_ value: Any, _ scratch: Scratch) -> SHLValue {
    guard let any = Self.anyInfo else { return shl_nil() }
    return withUnsafePointer(to: value) { value -> SHLValue in
      guard let (memory, type) = any.openExistential(UnsafeRawPointer(value)) else { return shl_nil() }
      // Strings in it end with the value: they are copied.
      if case .string = type.kind, let string = value.pointee as? String { return text(string, scratch) }
      return opened(memory, type, scratch)
    }
  }
  static let anyInfo = try? TypeResolver.shared.type(of: Metadata(Any.self)).get()

  // MARK: Lua to Swift

  /// Makes a value of protocol type at `memory`, which holds none yet.
  func storeExistential(_ value: SHLValue, _ info: TypeInfo, _ memory: UnsafeMutableRawPointer) throws(BridgeError) {
    if value.tag == SHL_NIL { throw .notNil(type: info.name) }
    if let borrowed = classes.borrowedValue(value), borrowed.info.metadata == info.metadata { return try storeHandle(value, info, memory, info.name) }
    if info.isAnyObject {
      guard classes.isObject(value) else { throw wrong(info.name, value) }
      guard let object = classes.object(value) else { throw classes.gone(value) }
      return try storeReference(object, memory)
    }
    let made = try any(value)
    if info.isAny {
      memory.initializeMemory(as: Any.self, to: made)
      return
    }
    // A class-bound protocol would box what is no object.
    if info.metadata.existentialForm == .reference, !classes.isObject(value) { throw wrong(info.name, value) }
    func cast<D>(_: D.Type) -> Bool {
      guard let cast = made as? D else { return false }
      memory.initializeMemory(as: D.self, to: cast)
      return true
    }
    guard HostWork.run({ _openExistential(info.metadata.type, do: cast) }) else {
      throw .noConformance(_typeName(Swift.type(of: made), qualified: true), type: info.name)
    }
  }

  /// As `store`. Where an Any holds a value of one of the program's types, its readers cast it to that: a plain value becomes one of that
  /// type, or is refused. A handle says its type itself.
  /// - Parameter held: where the Any is that is replaced; nil where none is known.
  func store(_ value: SHLValue, as info: TypeInfo, at memory: UnsafeMutableRawPointer, inPlaceOf held: UnsafeRawPointer?) throws(BridgeError) {
    guard info.isAny, let held, let (_, type) = info.openExistential(held), Self.isCast(value, type) else {
      return try store(value, as: info, at: memory)
    }
    let made = OwnedValue(uninitialized: type)
    do throws(BridgeError) { try nested().store(value, as: type, at: made.memory) } catch {
      made.forget()
      throw .held(type: type.name, error)
    }
    memory.initializeMemory(as: Any.self, to: Self.load(UnsafeRawPointer(made.memory), type))
    made.destroy()
  }

  /// The natural type of the value is not what readers of an Any with a value of this type expect.
  private static func isCast(_ value: SHLValue, _ type: TypeInfo) -> Bool {
    switch (value.tag, type.kind) {
    case (SHL_INT, .integer), (SHL_NUMBER, .integer), (SHL_INT, .float), (SHL_NUMBER, .float): true
    case (SHL_INT, .enumeration), (SHL_NUMBER, .enumeration), (SHL_STRING, .enumeration), (SHL_BOOL, .enumeration), (SHL_TABLE, .enumeration): true
    // A collection, and what bridges to numbers and texts, may become another.
    case (SHL_INT, .structure), (SHL_NUMBER, .structure), (SHL_STRING, .structure), (SHL_BOOL, .structure), (SHL_TABLE, .structure):
      CollectionType.of(type) == nil && StandardType.of(type) == nil
    case (SHL_TABLE, .object), (SHL_TABLE, .tuple), (SHL_TABLE, .closure), (SHL_TABLE, .metatype), (SHL_TABLE, .opaque): true
    default: false
    }
  }

  /// The Swift value that a script's value is by itself.
  func any(_ value: SHLValue) throws(BridgeError) -> Any {
    switch value.tag {
    case SHL_BOOL: return value.b
    case SHL_INT: return Int(value.i)
    case SHL_NUMBER: return value.n
    case SHL_STRING: return try string(value, "String")
    case SHL_TABLE: return try anyCollection(value)
    case SHL_NIL: throw .notNil(type: "Any")
    case SHL_HANDLE: return try carried(value)
    default:
      if Self.isNull(value) { return Any?.none as Any }
      throw .wrongType(expected: "Any", found: describe(value))
    }
  }

  /// The value or object of a handle.
  private func carried(_ value: SHLValue) throws(BridgeError) -> Any {
    if classes.isObject(value) {
      guard let object = classes.object(value) else { throw classes.gone(value) }
      if Instance.isEnding(UInt(bitPattern: object)) { throw .ending(type: Instance.typeName(object)) }
      return Instance.value(UInt(bitPattern: object))
    }
    if classes.isError(value) {
      guard let box = classes.errorBox(value) else { throw .expired }
      // A boxed `any Error` is one reference; copying it retains.
      return unsafeBitCast(box, to: (any Error).self)
    }
    guard let borrowed = classes.borrowedValue(value) else { throw wrong("Any", value) }
    guard borrowed.info.isCopyable else { throw .notCopyable(type: borrowed.info.name) }
    guard let found = borrowed.withMemory({ Self.load($0, borrowed.info) }) else { throw .gone(ValueAPI.gone(borrowed)) }
    return found
  }

  /// A copy of the value at `memory`.
  static func load(_ memory: UnsafeRawPointer, _ info: TypeInfo) -> Any {
    // The info says what the memory holds.
    func load<T>(_: T.Type) -> Any { memory.assumingMemoryBound(to: T.self).pointee }
    return _openExistential(info.metadata.type, do: load)
  }

  /// A table is a list when it has the keys 1, 2, …, else a dictionary by name; an empty one is a list.
  private func anyCollection(_ table: SHLValue) throws(BridgeError) -> Any {
    guard let scope else { throw .notConvertible(type: "Any") }
    let inner = try nested()
    var names = 0
    var others = 0
    forEach(in: table) { key, _ in
      if key.tag == SHL_STRING { names += 1 } else { others += 1 }
      return true
    }
    if names > 0, others > 0 {
      throw .wrongType(expected: "a list or a dictionary by name", found: "a table that mixes names and positions")
    }
    let mark = shl_mark(scope)
    defer { shl_drop(scope, mark) }
    if names == 0 {
      let count = try listLength(table)
      var list: [Any] = []
      list.reserveCapacity(count)
      for index in 0..<count {
        let each = shl_mark(scope)
        do throws(BridgeError) { list.append(try inner.any(shl_table_at(scope, table, Int64(index + 1)))) } catch {
          throw .inside(path: "[\(index + 1)]", error)
        }
        shl_drop(scope, each)
      }
      return list
    }
    var dictionary: [String: Any] = [:]
    var cursor: Int32 = 0
    var key = SHLValue()
    var value = SHLValue()
    while shl_table_next(scope, table, &cursor, &key, &value) {
      let name = try string(key, "String")
      do throws(BridgeError) { dictionary[name] = try inner.any(value) } catch { throw .inside(path: "['\(name)']", error) }
    }
    return dictionary
  }
}
