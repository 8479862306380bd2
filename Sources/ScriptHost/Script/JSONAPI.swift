// JSONAPI — json.encode(value) and json.decode(text): what scripts send and get as text.
//
// A table whose keys are 1…n is an array, any other an object; the empty table is `{}`. `swift.null` is null, `config` the settings that it
// reads. What JSON has no word for (functions, values of the program, numbers that are none) is refused with its place in the value.
internal import CLuaShim
internal import Journal
internal import LuaBridge

enum JSONAPI {
  static let functions: [(String, SHLFunction)] = [("json.encode", encode), ("json.decode", decode)]

  /// Deeper values are refused: both directions call themselves for each level.
  static let mostDepth = 100
  /// `swift.null`, as PatchAPI makes it.
  static let null: Int64 = 1

  private static let encode: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard callback.count == 1 else { return callback.fail("'json.encode' takes one value") }
      var reader = TableReader(patch, callback)
      let value: JSONValue
      do throws(JSONProblem) { value = try reader.value(callback[0], 0) } catch { return callback.fail("json.encode: \(error.text)") }
      let text = value.line
      callback.spent()
      return callback.done(text)
    }
  }

  private static let decode: SHLFunction = { context, callback in
    withPatch(context, callback) { _, callback in
      let text = callback[0]
      guard text.tag == SHL_STRING else { return callback.fail("'json.decode' takes a text, got \(ValueBridge.describe(text))") }
      let value: JSONValue
      do throws(JSONValue.Problem) { value = try JSONValue(parsing: text.bytes, depth: mostDepth) } catch {
        return callback.fail("json.decode: \(error.what) at byte \(error.position + 1)")
      }
      let status = LuaWriter(callback).with(value) { callback.done($0) }
      callback.spent()
      return status ?? callback.fail("json.decode: an object with too many names, or out of memory")
    }
  }
}

private struct JSONProblem: Error { let text: String }

/// A Lua value on its way to JSON.
private struct TableReader {
  private let patch: Environment
  private let callback: LuaCallback
  /// Keys and positions that lead to the value at hand.
  private var path = "value"

  init(_ patch: Environment, _ callback: LuaCallback) {
    self.patch = patch
    self.callback = callback
  }

  mutating func value(_ value: SHLValue, _ depth: Int) throws(JSONProblem) -> JSONValue {
    switch value.tag {
    case SHL_NIL: return .null
    case SHL_BOOL: return .bool(value.b)
    case SHL_INT: return .int(value.i)
    case SHL_NUMBER:
      guard value.n.isFinite else { throw JSONProblem(text: "\(path) is \(value.n), which JSON has no word for") }
      return .number(value.n)
    case SHL_CONSTANT where value.i == JSONAPI.null: return .null
    case SHL_STRING:
      guard let text = String(validating: value.bytes, as: UTF8.self) else { throw JSONProblem(text: "\(path) is no UTF-8 text") }
      return .string(text)
    case SHL_TABLE: return try table(value, depth)
    default: throw JSONProblem(text: "\(path) is \(ValueBridge.describe(value)), which JSON has no word for")
    }
  }

  private mutating func table(_ table: SHLValue, _ depth: Int) throws(JSONProblem) -> JSONValue {
    guard depth < JSONAPI.mostDepth else {
      throw JSONProblem(text: "the value is nested deeper than \(JSONAPI.mostDepth) levels, or holds itself")
    }
    if let whole = patch.standsFor(table, callback.scope) { return whole.inOrder }
    let length = shl_table_length(callback.scope, table)
    var count: Int64 = 0
    callback.forEach(in: table) { _, _ in
      count += 1
      return true
    }
    let outer = path
    defer { path = outer }
    return length > 0 && count == length ? try array(table, length, depth) : try object(table, depth)
  }

  private mutating func array(_ table: SHLValue, _ length: Int64, _ depth: Int) throws(JSONProblem) -> JSONValue {
    let outer = path
    var elements: [JSONValue] = []
    for index in 1...length {
      path = "\(outer)[\(index)]"
      let mark = shl_mark(callback.scope)
      elements.append(try value(shl_table_at(callback.scope, table, index), depth + 1))
      shl_drop(callback.scope, mark)
    }
    return .array(elements)
  }

  private mutating func object(_ table: SHLValue, _ depth: Int) throws(JSONProblem) -> JSONValue {
    let outer = path
    // In order of the names: Lua's own order differs from run to run.
    var names: [String] = []
    var wrong: SHLValue?
    callback.forEach(in: table) { key, _ in
      if let name = key.text { names.append(name) } else { wrong = key }
      return wrong == nil
    }
    if let wrong { throw JSONProblem(text: "\(outer) has the key \(ValueBridge.describe(wrong)); keys are texts, or 1 to n without a gap") }
    var members: [JSONValue.Member] = []
    for name in names.sorted() {
      path = "\(outer).\(name)"
      let mark = shl_mark(callback.scope)
      let member = withLuaText(name) { shl_table_field(callback.scope, table, $0, $1) }
      members.append(JSONValue.Member(name, try value(member, depth + 1)))
      shl_drop(callback.scope, mark)
    }
    return .object(members)
  }
}

extension JSONValue {
  /// With the members of each object in order of their names, as those of a table are.
  fileprivate var inOrder: JSONValue {
    switch self {
    case .object(let members): .object(members.sorted { $0.name < $1.name }.map { Member($0.name, $0.value.inOrder) })
    case .array(let elements): .array(elements.map(\.inOrder))
    default: self
    }
  }
}

/// JSON on its way to a Lua value.
private struct LuaWriter {
  private let callback: LuaCallback

  init(_ callback: LuaCallback) { self.callback = callback }

  /// What `body` makes of the value, which lives until `body` returns; nil when there is no memory for it.
  func with<R>(_ value: JSONValue, _ body: (SHLValue) -> R) -> R? {
    switch value {
    case .null: body(shl_constant_value(JSONAPI.null))
    case .bool(let value): body(shl_bool(value))
    case .int(let number): body(shl_int(number))
    case .number(let number): body(shl_number(number))
    case .string(let text): withLuaText(text) { body(shl_string($0, $1)) }
    case .array(let elements): table(of: elements, elements.count, 0) { shl_table_set_at(callback.scope, $0, Int64($1) + 1, $2) }.map(body)
    case .object(let members): object(members).map(body)
    }
  }

  private func object(_ members: [JSONValue.Member]) -> SHLValue? {
    table(of: members.map(\.value), 0, members.count) { table, place, value in
      withLuaText(members[place].name) { shl_table_set_field(callback.scope, table, $0, $1, value) }
    }
  }

  /// A table with all the values, each put in by `set`.
  private func table(
    of values: [JSONValue], _ array: Int, _ fields: Int, _ set: (SHLValue, Int, SHLValue) -> SHLStatus
  ) -> SHLValue? {
    let most = Int(Int32.max)
    let table = shl_table_new(callback.scope, Int32(min(array, most)), Int32(min(fields, most)))
    guard table.tag == SHL_TABLE else { return nil }
    for (place, value) in values.enumerated() {
      let mark = shl_mark(callback.scope)
      let status = with(value) { set(table, place, $0) }
      shl_drop(callback.scope, mark)
      guard status == SHL_OK else { return nil }
    }
    return table
  }
}

/// The text's bytes as Lua takes them, valid until `body` returns.
private func withLuaText<R>(_ text: String, _ body: (UnsafePointer<CChar>?, Int) -> R) -> R {
  var text = text
  return text.withUTF8 { utf8 in utf8.withMemoryRebound(to: CChar.self) { body($0.baseAddress, $0.count) } }
}
