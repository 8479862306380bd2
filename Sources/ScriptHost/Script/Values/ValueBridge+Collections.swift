// ValueBridge+Collections — tables to arrays, sets, dictionaries; strings of bytes to Data.
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

extension ValueBridge {
  /// Makes a collection of a table or another collection at `memory`, which holds none yet.
  func storeCollection(_ value: SHLValue, _ type: CollectionType, _ info: TypeInfo, _ memory: UnsafeMutableRawPointer) throws(BridgeError) {
    if let borrowed = classes.borrowedValue(value), type.isBytes, let other = CollectionType.of(borrowed.info), other.isBytes {
      // Bytes are bytes: swift.data(s) serves every type of them.
      let done = borrowed.withMemory { source in other.withBytes(source) { type.makeBytes($0, at: memory) } ?? false }
      guard let done else { throw .expired }
      if done { return }
    }
    guard value.tag == SHL_TABLE else {
      if type.isBytes, value.tag == SHL_STRING {
        throw .wrongType(expected: info.name, found: "a string; write swift.data(s)")
      }
      return try storeHandle(value, info, memory, info.name)
    }
    if type.isList { return try storeList(value, type, memory) }
    if let key = type.key { return try storeDictionary(value, type, key, memory) }
    try storeSet(value, type, memory)
  }

  /// Makes a list of a table's elements 1, 2, … at `memory`.
  private func storeList(_ table: SHLValue, _ type: CollectionType, _ memory: UnsafeMutableRawPointer) throws(BridgeError) {
    let count = try listLength(table)
    let inner = try nested()
    try type.makeList(count, at: memory) { (index: Int, target: UnsafeMutableRawPointer) throws(BridgeError) in
      try inner.storeElement(index, of: table, type.element, target)
    }
  }

  /// Makes one element at `target`.
  /// - Parameter index: from 0.
  private func storeElement(_ index: Int, of table: SHLValue, _ type: TypeInfo, _ target: UnsafeMutableRawPointer) throws(BridgeError) {
    guard let scope else { throw .notConvertible(type: type.name) }
    let mark = shl_mark(scope)
    defer { shl_drop(scope, mark) }
    do throws(BridgeError) { try store(shl_table_at(scope, table, Int64(index + 1)), as: type, at: target) } catch {
      throw .inside(path: "[\(index + 1)]", error)
    }
  }

  /// How many elements a table has that is a list: its keys are 1, 2, … without a hole.
  func listLength(_ table: SHLValue) throws(BridgeError) -> Int {
    var count: Int64 = 0
    var largest: Int64 = 0
    var other: SHLValue?
    forEach(in: table) { key, _ in
      guard key.tag == SHL_INT, key.i >= 1 else {
        other = key
        return false
      }
      count += 1
      largest = max(largest, key.i)
      return true
    }
    if let other { throw .listKey(Self.shown(other)) }
    if largest != count, let scope {
      var index: Int64 = 1
      while index < largest, shl_table_at(scope, table, index).tag != SHL_NIL { index += 1 }
      throw .hole(at: index)
    }
    return Int(count)
  }

  /// A set from the list of its members.
  private func storeSet(_ table: SHLValue, _ type: CollectionType, _ memory: UnsafeMutableRawPointer) throws(BridgeError) {
    let count = try listLength(table)
    let inner = try nested()
    var index = 0
    try type.makeEntries(at: memory) { (member: UnsafeMutableRawPointer, _: UnsafeMutableRawPointer) throws(BridgeError) -> Bool in
      guard index < count else { return false }
      try inner.storeElement(index, of: table, type.element, member)
      index += 1
      return true
    }
  }

  /// Makes a dictionary of a table's pairs at `memory`.
  private func storeDictionary(_ table: SHLValue, _ type: CollectionType, _ keyType: TypeInfo, _ memory: UnsafeMutableRawPointer)
    throws(BridgeError)
  {
    guard let scope else { throw .notConvertible(type: type.element.name) }
    let inner = try nested()
    let mark = shl_mark(scope)
    defer { shl_drop(scope, mark) }
    var cursor: Int32 = 0
    var key = SHLValue()
    var value = SHLValue()
    try type.makeEntries(at: memory) { (keyTarget: UnsafeMutableRawPointer, target: UnsafeMutableRawPointer) throws(BridgeError) -> Bool in
      guard shl_table_next(scope, table, &cursor, &key, &value) else { return false }
      let path = key.text.map { "['\($0)']" } ?? "[\(Self.shown(key))]"
      do throws(BridgeError) { try inner.store(key, as: keyType, at: keyTarget) } catch {
        throw .inside(path: "key \(Self.shown(key))", error)
      }
      do throws(BridgeError) { try inner.store(value, as: type.element, at: target) } catch {
        keyType.metadata.destroy(keyTarget)
        throw .inside(path: path, error)
      }
      return true
    }
  }
}
