// JSONAPI — json.encode(value) and json.decode(text): what scripts send and get as text.
//
// A table whose keys are 1…n is an array, any other an object; the empty table is `{}`. `swift.null` is null. What JSON has no word
// for (functions, values of the program, numbers that are none) is refused with its place in the value.
internal import CLuaShim
internal import LuaBridge

enum JSONAPI {
  static let functions: [(String, SHLFunction)] = [("json.encode", encode), ("json.decode", decode)]

  /// Deeper values are refused: both directions call themselves for each level.
  static let mostDepth = 100
  /// `swift.null`, as PatchAPI makes it.
  static let null: Int64 = 1

  private static let encode: SHLFunction = { context, callback in
    withPatch(context, callback) { _, callback in
      guard callback.count == 1 else { return callback.fail("'json.encode' takes one value") }
      var encoder = JSONEncoding(callback)
      do throws(JSONProblem) { try encoder.add(callback[0], 0) } catch { return callback.fail("json.encode: \(error.text)") }
      callback.spent()
      return encoder.bytes.withUnsafeBytes {
        callback.done(shl_string($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count))
      }
    }
  }

  private static let decode: SHLFunction = { context, callback in
    withPatch(context, callback) { _, callback in
      let text = callback[0]
      guard text.tag == SHL_STRING else { return callback.fail("'json.decode' takes a text, got \(ValueBridge.describe(text))") }
      var decoder = JSONDecoding(text.bytes, callback)
      do throws(JSONProblem) {
        let value = try decoder.whole()
        callback.spent()
        return callback.done(value)
      } catch { return callback.fail("json.decode: \(error.text)") }
    }
  }
}

struct JSONProblem: Error { let text: String }

/// One value on its way to text.
private struct JSONEncoding {
  private let callback: LuaCallback
  private(set) var bytes: [UInt8] = []
  /// Keys and positions that lead to the value at hand.
  private var path = "value"

  init(_ callback: LuaCallback) { self.callback = callback }

  mutating func add(_ value: SHLValue, _ depth: Int) throws(JSONProblem) {
    switch value.tag {
    case SHL_NIL: bytes += "null".utf8
    case SHL_BOOL: bytes += (value.b ? "true" : "false").utf8
    case SHL_INT: bytes += "\(value.i)".utf8
    case SHL_NUMBER:
      guard value.n.isFinite else { throw JSONProblem(text: "\(path) is \(value.n), which JSON has no word for") }
      bytes += "\(value.n)".utf8
    case SHL_CONSTANT where value.i == JSONAPI.null: bytes += "null".utf8
    case SHL_STRING: try addText(value)
    case SHL_TABLE: try addTable(value, depth)
    default: throw JSONProblem(text: "\(path) is \(ValueBridge.describe(value)), which JSON has no word for")
    }
  }

  private mutating func addText(_ value: SHLValue) throws(JSONProblem) {
    let text = value.bytes
    guard String(validating: text, as: UTF8.self) != nil else { throw JSONProblem(text: "\(path) is no UTF-8 text") }
    bytes.append(UInt8(ascii: "\""))
    for byte in text {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case UInt8(ascii: "\n"): bytes += "\\n".utf8
      case UInt8(ascii: "\t"): bytes += "\\t".utf8
      case UInt8(ascii: "\r"): bytes += "\\r".utf8
      case 0..<0x20, 0x7F: bytes += "\\u00".utf8 + [hex(byte >> 4), hex(byte & 15)]
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private func hex(_ digit: UInt8) -> UInt8 { digit < 10 ? digit + 48 : digit + 87 }

  private mutating func addTable(_ table: SHLValue, _ depth: Int) throws(JSONProblem) {
    guard depth < JSONAPI.mostDepth else {
      throw JSONProblem(text: "the value is nested deeper than \(JSONAPI.mostDepth) levels, or holds itself")
    }
    let length = shl_table_length(callback.scope, table)
    var count: Int64 = 0
    callback.forEach(in: table) { _, _ in
      count += 1
      return true
    }
    let outer = path
    defer { path = outer }
    if length > 0, count == length { try addArray(table, length, depth) } else { try addObject(table, depth) }
  }

  private mutating func addArray(_ table: SHLValue, _ length: Int64, _ depth: Int) throws(JSONProblem) {
    let outer = path
    bytes.append(UInt8(ascii: "["))
    for index in 1...length {
      if index > 1 { bytes.append(UInt8(ascii: ",")) }
      path = "\(outer)[\(index)]"
      let mark = shl_mark(callback.scope)
      try add(shl_table_at(callback.scope, table, index), depth + 1)
      shl_drop(callback.scope, mark)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  private mutating func addObject(_ table: SHLValue, _ depth: Int) throws(JSONProblem) {
    let outer = path
    bytes.append(UInt8(ascii: "{"))
    // In order of the names: Lua's own order differs from run to run.
    var names: [String] = []
    var wrong: SHLValue?
    callback.forEach(in: table) { key, _ in
      if let name = key.text { names.append(name) } else { wrong = key }
      return wrong == nil
    }
    if let wrong { throw JSONProblem(text: "\(outer) has the key \(ValueBridge.describe(wrong)); keys are texts, or 1 to n without a gap") }
    for (index, name) in names.sorted().enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      path = "\(outer).\(name)"
      let mark = shl_mark(callback.scope)
      var text = name
      var value = shl_nil()
      var problem: JSONProblem?
      text.withUTF8 { utf8 in
        utf8.withMemoryRebound(to: CChar.self) { name in
          do throws(JSONProblem) { try addText(shl_string(name.baseAddress, name.count)) } catch { problem = error }
          value = shl_table_field(callback.scope, table, name.baseAddress, name.count)
        }
      }
      if let problem { throw problem }
      bytes.append(UInt8(ascii: ":"))
      try add(value, depth + 1)
      shl_drop(callback.scope, mark)
    }
    bytes.append(UInt8(ascii: "}"))
  }
}

/// One text on its way to a value.
private struct JSONDecoding {
  private let text: UnsafeRawBufferPointer
  private let callback: LuaCallback
  private var at = 0

  init(_ text: UnsafeRawBufferPointer, _ callback: LuaCallback) {
    self.text = text
    self.callback = callback
  }

  mutating func whole() throws(JSONProblem) -> SHLValue {
    let kept = try value(0)
    skipSpace()
    guard at == text.count else { throw wrong("more text after the value") }
    return kept.value(callback.scope)
  }

  /// A value that needs no scope, or a table on its stack.
  private enum Part {
    case plain(SHLValue)
    case text([UInt8])

    func value(_ scope: UnsafeMutablePointer<SHLScope>) -> SHLValue {
      switch self {
      case .plain(let value): return value
      // On the stack of the scope, so that the bytes live as long as the call.
      case .text(let bytes):
        let table = shl_table_new(scope, 1, 0)
        guard table.tag == SHL_TABLE else { return shl_nil() }
        bytes.withUnsafeBytes {
          _ = shl_table_set_at(scope, table, 1, shl_string($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count))
        }
        return shl_table_at(scope, table, 1)
      }
    }

    func with<R>(_ body: (SHLValue) -> R) -> R {
      switch self {
      case .plain(let value): body(value)
      case .text(let bytes):
        bytes.withUnsafeBytes { body(shl_string($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)) }
      }
    }
  }

  private func wrong(_ what: String) -> JSONProblem { JSONProblem(text: "\(what) at byte \(at + 1)") }
  private var byte: UInt8 { at < text.count ? text[at] : 0 }
  private mutating func skipSpace() { while at < text.count, [0x20, 0x0A, 0x0D, 0x09].contains(text[at]) { at += 1 } }
  private mutating func take(_ word: StaticString) -> Bool {
    guard text.count - at >= word.utf8CodeUnitCount, (0..<word.utf8CodeUnitCount).allSatisfy({ text[at + $0] == word.utf8Start[$0] })
    else { return false }
    at += word.utf8CodeUnitCount
    return true
  }

  private mutating func value(_ depth: Int) throws(JSONProblem) -> Part {
    skipSpace()
    guard depth < JSONAPI.mostDepth else { throw wrong("nested deeper than \(JSONAPI.mostDepth) levels") }
    switch byte {
    case UInt8(ascii: "{"): return try object(depth)
    case UInt8(ascii: "["): return try array(depth)
    case UInt8(ascii: "\""): return .text(try string())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default:
      if take("true") { return .plain(shl_bool(true)) }
      if take("false") { return .plain(shl_bool(false)) }
      if take("null") { return .plain(shl_constant_value(JSONAPI.null)) }
      throw wrong(at == text.count ? "the text ends" : "no value")
    }
  }

  private func newTable() throws(JSONProblem) -> SHLValue {
    let table = shl_table_new(callback.scope, 0, 0)
    guard table.tag == SHL_TABLE else { throw JSONProblem(text: "out of memory") }
    return table
  }

  private mutating func array(_ depth: Int) throws(JSONProblem) -> Part {
    let table = try newTable()
    at += 1
    skipSpace()
    if take("]") { return .plain(table) }
    var index: Int64 = 1
    while true {
      let mark = shl_mark(callback.scope)
      let status = try value(depth + 1).with { shl_table_set_at(callback.scope, table, index, $0) }
      shl_drop(callback.scope, mark)
      guard status == SHL_OK else { throw JSONProblem(text: "out of memory") }
      index += 1
      skipSpace()
      if take("]") { return .plain(table) }
      guard take(",") else { throw wrong("',' or ']' is expected") }
    }
  }

  private mutating func object(_ depth: Int) throws(JSONProblem) -> Part {
    let table = try newTable()
    at += 1
    skipSpace()
    if take("}") { return .plain(table) }
    while true {
      skipSpace()
      guard byte == UInt8(ascii: "\"") else { throw wrong("a name in quotes is expected") }
      let name = try string()
      skipSpace()
      guard take(":") else { throw wrong("':' is expected") }
      let mark = shl_mark(callback.scope)
      let part = try value(depth + 1)
      let status = name.withUnsafeBytes { name in
        part.with {
          shl_table_set_field(callback.scope, table, name.baseAddress?.assumingMemoryBound(to: CChar.self), name.count, $0)
        }
      }
      shl_drop(callback.scope, mark)
      guard status == SHL_OK else { throw JSONProblem(text: "an object with too many names, or out of memory") }
      skipSpace()
      if take("}") { return .plain(table) }
      guard take(",") else { throw wrong("',' or '}' is expected") }
    }
  }

  private mutating func number() throws(JSONProblem) -> Part {
    let start = at
    var isInteger = true
    while at < text.count {
      switch text[at] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): break
      case UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): isInteger = false
      default:
        return try parsed(start, isInteger)
      }
      at += 1
    }
    return try parsed(start, isInteger)
  }

  private func parsed(_ start: Int, _ isInteger: Bool) throws(JSONProblem) -> Part {
    let digits = String(decoding: text[start..<at], as: UTF8.self)
    let isPadded = digits.drop { $0 == "-" }.prefix(2).allSatisfy(\.isNumber) && digits.drop { $0 == "-" }.first == "0" && digits.drop { $0 == "-" }.count > 1
    if !isPadded {
      if isInteger, let whole = Int64(digits) { return .plain(shl_int(whole)) }
      if let number = Double(digits), number.isFinite { return .plain(shl_number(number)) }
    }
    throw JSONProblem(text: "'\(digits.prefix(40))' is no number at byte \(start + 1)")
  }

  private mutating func string() throws(JSONProblem) -> [UInt8] {
    at += 1
    var bytes: [UInt8] = []
    while at < text.count {
      let byte = text[at]
      at += 1
      switch byte {
      case UInt8(ascii: "\""): return bytes
      case 0..<0x20: throw wrong("a control character in a text")
      case UInt8(ascii: "\\"): try escape(&bytes)
      default: bytes.append(byte)
      }
    }
    throw wrong("the text ends inside quotes")
  }

  private mutating func escape(_ bytes: inout [UInt8]) throws(JSONProblem) {
    let kind = byte
    at += 1
    switch kind {
    case UInt8(ascii: "n"): bytes.append(0x0A)
    case UInt8(ascii: "t"): bytes.append(0x09)
    case UInt8(ascii: "r"): bytes.append(0x0D)
    case UInt8(ascii: "b"): bytes.append(0x08)
    case UInt8(ascii: "f"): bytes.append(0x0C)
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(kind)
    case UInt8(ascii: "u"):
      var code = try unit()
      if code & 0xFC00 == 0xD800, take("\\u") {
        let low = try unit()
        guard low & 0xFC00 == 0xDC00 else { throw wrong("half a character") }
        code = 0x10000 + ((code & 0x3FF) << 10) + (low & 0x3FF)
      }
      guard let scalar = Unicode.Scalar(code) else { throw wrong("half a character") }
      bytes += Array(String(Character(scalar)).utf8)
    default: throw wrong("an unknown escape")
    }
  }

  private mutating func unit() throws(JSONProblem) -> UInt32 {
    guard text.count - at >= 4, let code = UInt32(String(decoding: text[at..<at + 4], as: UTF8.self), radix: 16) else {
      throw wrong("'\\u' takes four hexadecimal digits")
    }
    at += 4
    return code
  }
}
