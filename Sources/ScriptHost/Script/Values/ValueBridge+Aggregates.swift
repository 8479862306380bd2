// ValueBridge+Aggregates — structs, tuples and enum cases made from tables, part by part.
//
// Every stored field is given, or is an Optional that is nil without. A value is built in place, and what was built of it is
// ended again when a part fails.
private import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
private import LuaBridge

extension ValueBridge {
  // MARK: Structs and tuples

  /// Makes a struct of the value at `memory`, which holds none yet.
  func storeStructure(_ value: SHLValue, _ info: TypeInfo, _ memory: UnsafeMutableRawPointer) throws(BridgeError) {
    if value.tag == SHL_HANDLE, let borrowed = classes.borrowedValue(value), borrowed.info.metadata == info.metadata {
      return try storeHandle(value, info, memory, info.name)
    }
    if let standard = StandardType.of(info) { return try store(value, standard: standard, info, at: memory) }
    if let collection = CollectionType.of(info) { return try storeCollection(value, collection, info, memory) }
    guard value.tag == SHL_TABLE else { return try storeHandle(value, info, memory, info.name) }
    if let why = Memberwise.refusal(info) { throw .notMadeHere(type: info.name, why: why) }
    let parts = info.fields
    try checkNames(value, info) { name in parts.contains { $0.name == name } }
    try build(parts, in: info, memory) { (part: StoredField, type: TypeInfo) throws(BridgeError) in
      let given = field(part.name, of: value)
      if given.tag == SHL_NIL, !type.isOptional { throw .missingField(part.name, type: info.name) }
      if given.tag != SHL_NIL { try checkMayName(part.name, of: info) }
      return given
    }
    if let problem = Memberwise.brokenRule(info, memory) {
      info.metadata.destroy(memory)
      throw problem
    }
  }

  /// A field that a script names is under its policy, whether it is read or given.
  private func checkMayName(_ field: String, of info: TypeInfo) throws(BridgeError) {
    // Ranges are written as tables and have nothing to hide.
    guard !info.isTuple, !info.name.hasPrefix("Swift."), let rights = classes.patch?._withUnsafeGuaranteedRef({ $0.rights }),
      let why = rights.refusal(selector: "\(info.name).\(field)", of: info.name)
    else { return }
    throw .denied(why)
  }

  /// Makes a tuple of `{ 1, 2 }` or `{ label = 1, … }`, mixed as the tuple's own labels allow.
  func storeTuple(_ value: SHLValue, _ info: TypeInfo, _ memory: UnsafeMutableRawPointer) throws(BridgeError) {
    guard value.tag == SHL_TABLE else { return try storeHandle(value, info, memory, info.name) }
    let parts = info.fields
    let labels = info.metadata.tupleLabels
    try checkNames(value, info, positions: parts.count) { name in labels.contains(name) }
    for (index, part) in parts.enumerated() {
      let path = labels[index].map { ".\($0)" } ?? "[\(index + 1)]"
      var given = scope.map { shl_table_at($0, value, Int64(index + 1)) } ?? shl_nil()
      if given.tag == SHL_NIL, let label = labels[index] { given = field(label, of: value) }
      do throws(BridgeError) { try store(given, as: part.type.getOrUnreadable(part.name, info), at: memory + part.offset) } catch {
        for done in parts[..<index] { (try? done.type.get())?.metadata.destroy(memory + done.offset) }
        throw .inside(path: path, error)
      }
    }
  }

  /// Makes all parts at `memory`, of what `given` has for each; where one cannot be, those before it are ended.
  private func build(
    _ parts: [StoredField], in info: TypeInfo, _ memory: UnsafeMutableRawPointer,
    _ given: (StoredField, TypeInfo) throws(BridgeError) -> SHLValue
  ) throws(BridgeError) {
    for (index, part) in parts.enumerated() {
      do throws(BridgeError) {
        let type = try part.type.getOrUnreadable(part.name, info)
        let value = try given(part, type)
        do throws(BridgeError) { try nested().store(value, as: type, at: memory + part.offset) } catch {
          throw .inside(path: ".\(part.name)", error)
        }
      } catch {
        for done in parts[..<index] { (try? done.type.get())?.metadata.destroy(memory + done.offset) }
        throw error
      }
    }
  }

  private func field(_ name: String, of table: SHLValue) -> SHLValue {
    guard let scope else { return shl_nil() }
    var name = name
    return name.withUTF8 { bytes in bytes.withMemoryRebound(to: CChar.self) { shl_table_field(scope, table, $0.baseAddress, $0.count) } }
  }

  /// Every key of the table must be a part's name (or position).
  private func checkNames(_ table: SHLValue, _ info: TypeInfo, positions: Int = 0, _ isKnown: (String) -> Bool) throws(BridgeError) {
    var unknown: String?
    forEach(in: table) { key, _ in
      if key.tag == SHL_INT, key.i >= 1, key.i <= Int64(positions) { return true }
      let name = key.text ?? Self.shown(key)
      if key.tag != SHL_STRING || !isKnown(name) { unknown = name }
      return unknown == nil
    }
    if let unknown { throw .unknownField(unknown, type: info.name, known: info.fields.map(\.name)) }
  }

  static func shown(_ key: SHLValue) -> String {
    switch key.tag {
    case SHL_INT: "\(key.i)"
    case SHL_NUMBER: "\(key.n)"
    case SHL_BOOL: "\(key.b)"
    default: key.text.map { "'\($0)'" } ?? describe(key)
    }
  }

  /// Calls `body` with each key and value of a table; ends at once when it answers false.
  func forEach(in table: SHLValue, _ body: (SHLValue, SHLValue) -> Bool) { scope?.forEach(in: table, body) }

  /// For what is inside the table being read.
  func nested() throws(BridgeError) -> ValueBridge {
    guard depth < 64 else { throw .tooDeep }
    var inner = self
    inner.depth += 1
    return inner
  }

  /// A changed copy: `changes` is a table of fields (or positions) and their new values.
  func changed(_ source: BorrowedValue, _ changes: SHLValue) throws(BridgeError) -> SHLValue {
    let info = source.info
    switch info.kind {
    case .structure, .tuple: break
    default: throw .notMadeHere(type: info.name, why: "it has no fields")
    }
    guard info.isCopyable else { throw .notCopyable(type: info.name) }
    if let why = Memberwise.refusal(info) { throw .notMadeHere(type: info.name, why: why) }
    let made = OwnedValue(uninitialized: info)
    guard source.withMemory({ info.metadata.initialize(made.memory, copying: $0) }) != nil else {
      made.forget()
      throw .expired
    }
    var problem: BridgeError?
    forEach(in: changes) { key, value in
      do throws(BridgeError) { try replace(key, value, info, made.memory) } catch { problem = error }
      return problem == nil
    }
    if let problem = problem ?? Memberwise.brokenRule(info, made.memory) {
      made.destroy()
      throw problem
    }
    return own(made)
  }

  /// Puts a value in the place of the field or element of that name or number, in the value at `memory`.
  private func replace(_ key: SHLValue, _ value: SHLValue, _ info: TypeInfo, _ memory: UnsafeMutableRawPointer) throws(BridgeError) {
    let fields = info.fields
    let found: StoredField? =
      switch key.tag {
      case SHL_INT: info.isTuple && key.i >= 1 && key.i <= Int64(fields.count) ? fields[Int(key.i) - 1] : nil
      default: key.text.flatMap { name in fields.first { $0.name == name } }
      }
    guard let field = found else { throw .unknownField(key.text ?? Self.shown(key), type: info.name, known: fields.map(\.name)) }
    try checkMayName(field.name, of: info)
    let type = try field.type.getOrUnreadable(field.name, info)
    let part = OwnedValue(uninitialized: type)
    do throws(BridgeError) { try nested().store(value, as: type, at: part.memory) } catch {
      part.forget()
      throw .inside(path: ".\(field.name)", error)
    }
    if !type.isTrivial { type.metadata.destroy(memory + field.offset) }
    (memory + field.offset).copyMemory(from: part.memory, byteCount: type.size)
    part.forget()
  }

  // MARK: Enums

  /// From `"name"` for a case without payload, `{ name = payload }` for one with.
  func storeCase(_ value: SHLValue, _ info: TypeInfo, _ memory: UnsafeMutableRawPointer) throws(BridgeError) {
    switch value.tag {
    case SHL_STRING:
      let name = try string(value, info.name)
      let (number, found) = try findCase(name, info)
      if found.hasPayload { throw .payload(case: name, type: info.name, expected: found.payloadCount, found: 0) }
      info.metadata.injectEnumTag(memory, number)
    case SHL_TABLE:
      var pairs: [(name: String, number: Int)] = []
      var problem: BridgeError?
      forEach(in: value) { key, payload in
        do throws(BridgeError) {
          guard pairs.isEmpty, let name = key.text else {
            throw .wrongType(expected: "\(info.name), as { case = payload }", found: "another table")
          }
          let (number, found) = try findCase(name, info)
          pairs.append((name, number))
          do throws(BridgeError) { try nested().storePayload(payload, found, number, info, memory) } catch {
            throw .inside(path: ".\(name)", error)
          }
        } catch { problem = error }
        return problem == nil
      }
      if let problem {
        // The case before a second key was complete.
        if pairs.count == 1, case .wrongType = problem { info.metadata.destroy(memory) }
        throw problem
      }
      if pairs.isEmpty { throw .wrongType(expected: "\(info.name), as { case = payload }", found: "an empty table") }
    default: try storeHandle(value, info, memory, info.name)
    }
  }

  private func findCase(_ name: String, _ info: TypeInfo) throws(BridgeError) -> (Int, EnumCase) {
    let cases = info.cases
    guard let number = cases.firstIndex(where: { $0.name == name }) else {
      throw .unknownCase(name, type: info.name, known: cases.map(\.name))
    }
    return (number, cases[number])
  }

  /// Makes a case with its payload at `memory`.
  /// - Parameter number: of the case.
  private func storePayload(_ value: SHLValue, _ found: EnumCase, _ number: Int, _ info: TypeInfo, _ memory: UnsafeMutableRawPointer)
    throws(BridgeError)
  {
    guard found.hasPayload else {
      if value.tag == SHL_BOOL, value.b { return info.metadata.injectEnumTag(memory, number) }
      throw .payload(case: found.name, type: info.name, expected: 0, found: 1)
    }
    guard let payload = found.payload else { throw .notConvertible(type: info.name) }
    let target: UnsafeMutableRawPointer
    var box: HeapBox?
    if found.isIndirect {
      box = HeapBox(payload.metadata)
      target = box!.value
    } else {
      target = memory
    }
    do throws(BridgeError) {
      // A single labelled value is a tuple of one in the metadata.
      if payload.isTuple, payload.fields.count == 1, value.tag != SHL_TABLE || !Self.isPartOf(payload, value, self) {
        let only = payload.fields[0]
        try store(value, as: only.type.getOrUnreadable(only.name, info), at: target + only.offset)
      } else {
        try store(value, as: payload, at: target)
      }
    } catch {
      box?.deallocate()
      throw error
    }
    if let box { memory.storeBytes(of: box.object, as: UnsafeMutableRawPointer.self) }
    info.metadata.injectEnumTag(memory, number)
  }

  /// `{ label = value }` for a payload with one label.
  private static func isPartOf(_ payload: TypeInfo, _ table: SHLValue, _ bridge: ValueBridge) -> Bool {
    guard let label = payload.metadata.tupleLabels.first ?? nil else { return false }
    return bridge.field(label, of: table).tag != SHL_NIL
  }
}

/// A heap box of the runtime, as indirect cases have it.
private struct HeapBox {
  let object: UnsafeMutableRawPointer
  let value: UnsafeMutableRawPointer

  init(_ type: Metadata) {
    let box = hkt_box_new(type.pointer)
    (object, value) = (box.object, box.value)
  }
  func deallocate() { hkt_box_free(object) }
}

/// Which structs can be made of their stored fields alone.
enum Memberwise {
  /// Why not; nil when they can. The libraries' own types keep rules that their fields do not tell.
  static func refusal(_ info: TypeInfo) -> String? {
    if info.isTuple { return nil }
    if !info.isCopyable { return "it cannot be copied" }
    let name = info.name
    if name.hasPrefix("Swift.Range<") || name.hasPrefix("Swift.ClosedRange<") { return nil }
    for library in ["Swift.", "_Concurrency.", "_StringProcessing.", "Synchronization.", "Foundation.", "FoundationEssentials.", "Glibc."]
    where name.hasPrefix(library) { return "it keeps rules that its stored fields do not tell" }
    for field in info.fields where field.reference != .value { return "field '\(field.name)' is weak or unowned" }
    return nil
  }

  /// What a value made of parts must keep: a range's bounds are in order.
  static func brokenRule(_ info: TypeInfo, _ memory: UnsafeRawPointer) -> BridgeError? {
    guard info.name.hasPrefix("Swift.Range<") || info.name.hasPrefix("Swift.ClosedRange<"), info.fields.count == 2,
      let bound = try? info.fields[0].type.get()
    else { return nil }
    func isOrdered<T>(_: T.Type) -> Bool {
      func compare<C: Comparable>(_ a: C) -> Bool { a <= (memory + info.fields[1].offset).assumingMemoryBound(to: C.self).pointee }
      guard let low = memory.assumingMemoryBound(to: T.self).pointee as? any Comparable else { return false }
      return compare(low)
    }
    return HostWork.run({ _openExistential(bound.metadata.type, do: isOrdered) })
      ? nil : .outOfRange(value: "a lower bound above the upper", type: info.name)
  }
}

extension EnumCase {
  /// Associated values, as they are written.
  var payloadCount: Int {
    guard hasPayload else { return 0 }
    return payload.map { $0.isTuple ? $0.fields.count : 1 } ?? 1
  }
}

extension TypeInfo {
  var isOptional: Bool { if case .optional = kind { true } else { false } }
  var isTuple: Bool { if case .tuple = kind { true } else { false } }
}

extension Result where Success == TypeInfo, Failure == TypeProblem {
  func getOrUnreadable(_ name: String, _ owner: TypeInfo) throws(BridgeError) -> TypeInfo {
    guard case .success(let info) = self else { throw .notMadeHere(type: owner.name, why: "the type of field '\(name)' is not known") }
    return info
  }
}
