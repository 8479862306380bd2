// JSONValue — JSON as scripts, the control protocol and the command read and write it, without Foundation. Records have a text of their own
// (EventText), which writes the strings of both.
//
// Reading is bounded: by the caller in bytes, here in depth. A text with anything behind its value is no value.

/// A JSON value; members of objects keep their order.
package indirect enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case int(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([Member])

  package struct Member: Sendable, Equatable {
    package let name: String
    package let value: JSONValue
    package init(_ name: String, _ value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// The last member of that name; nil for anything but an object with it.
  package subscript(_ name: String) -> JSONValue? {
    if case .object(let members) = self { members.last { $0.name == name }?.value } else { nil }
  }
  package var text: String? { if case .string(let text) = self { text } else { nil } }
  package var int: Int64? { if case .int(let number) = self { number } else { nil } }
  package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  package var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  package init(stringLiteral text: String) { self = .string(text) }
  package init(integerLiteral number: Int64) { self = .int(number) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  package init(dictionaryLiteral members: (String, JSONValue)...) { self = .object(members.map { Member($0, $1) }) }
  /// Absent is null.
  package init(_ text: String?) { self = text.map { .string($0) } ?? .null }
  package init(_ number: some BinaryInteger) { self = .int(Int64(clamping: number)) }
  package init(_ texts: [String]) { self = .array(texts.map { .string($0) }) }
  /// An object; a member without a value is left out.
  package init(members: (name: String, value: JSONValue?)...) {
    self = .object(members.compactMap { member in member.value.map { Member(member.name, $0) } })
  }
}

// MARK: Writing

extension JSONValue {
  /// One line, without the newline at its end: control characters are escaped.
  package var line: String {
    var out = ""
    write(to: &out)
    return out
  }

  private func write(to out: inout String) {
    switch self {
    case .null: out += "null"
    case .bool(let value): out += value ? "true" : "false"
    case .int(let number): out += String(number)
    case .number(let number): out += number.isFinite ? "\(number)" : "null"
    case .string(let text): EventText.append(json: text, to: &out)
    case .array(let elements): EventText.append(json: elements, between: "[", "]", to: &out) { $0.write(to: &$1) }
    case .object(let members):
      EventText.append(json: members, between: "{", "}", to: &out) {
        EventText.append(json: $0.name, to: &$1)
        $1 += ":"
        $0.value.write(to: &$1)
      }
    }
  }
}

// MARK: Reading

extension JSONValue {
  /// What is wrong with a text, and where.
  package struct Problem: Error, Sendable, Equatable {
    package let position: Int
    package let what: String
  }

  /// Reads one value; `depth` is how many arrays and objects may be inside one another.
  package init(parsing bytes: some Collection<UInt8>, depth: Int = 32) throws(Problem) {
    var reader = JSONReader(bytes: Array(bytes), deepest: depth)
    self = try reader.value()
    reader.skipBlanks()
    guard reader.isAtEnd else { throw reader.problem("something behind the value") }
  }
}

private struct JSONReader {
  let bytes: [UInt8]
  let deepest: Int
  var position = 0
  var depth = 0

  init(bytes: [UInt8], deepest: Int) {
    self.bytes = bytes
    self.deepest = deepest
  }

  var isAtEnd: Bool { position == bytes.count }
  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }
  func problem(_ what: String) -> JSONValue.Problem { JSONValue.Problem(position: position, what: what) }

  mutating func skipBlanks() { while let byte = peek, byte == 32 || byte == 9 || byte == 10 || byte == 13 { position += 1 } }

  mutating func value() throws(JSONValue.Problem) -> JSONValue {
    skipBlanks()
    switch peek {
    case UInt8(ascii: "{"): return try object()
    case UInt8(ascii: "["): return try array()
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case nil: throw problem("the text ends where a value is expected")
    case let byte?:
      guard byte == UInt8(ascii: "-") || (48...57).contains(byte) else { throw problem("no value") }
      return try number()
    }
  }

  private mutating func word(_ text: String, _ value: JSONValue) throws(JSONValue.Problem) -> JSONValue {
    guard bytes[position...].starts(with: text.utf8) else { throw problem("no value") }
    position += text.utf8.count
    return value
  }

  private mutating func enter() throws(JSONValue.Problem) {
    position += 1
    depth += 1
    if depth > deepest { throw problem("nested deeper than \(deepest) levels") }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    skipBlanks()
    guard peek == byte else { return false }
    position += 1
    return true
  }

  private mutating func array() throws(JSONValue.Problem) -> JSONValue {
    try enter()
    defer { depth -= 1 }
    var elements: [JSONValue] = []
    if take(UInt8(ascii: "]")) { return .array(elements) }
    while true {
      elements.append(try value())
      if take(UInt8(ascii: "]")) { return .array(elements) }
      guard take(UInt8(ascii: ",")) else { throw problem("expected ',' or ']'") }
    }
  }

  private mutating func object() throws(JSONValue.Problem) -> JSONValue {
    try enter()
    defer { depth -= 1 }
    var members: [JSONValue.Member] = []
    if take(UInt8(ascii: "}")) { return .object(members) }
    while true {
      skipBlanks()
      guard peek == UInt8(ascii: "\"") else { throw problem("expected a name in quotes") }
      let name = try string()
      guard take(UInt8(ascii: ":")) else { throw problem("expected ':'") }
      members.append(JSONValue.Member(name, try value()))
      if take(UInt8(ascii: "}")) { return .object(members) }
      guard take(UInt8(ascii: ",")) else { throw problem("expected ',' or '}'") }
    }
  }

  private mutating func number() throws(JSONValue.Problem) -> JSONValue {
    let start = position
    while let byte = peek,
      (48...57).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") || byte == UInt8(ascii: ".")
        || byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E")
    {
      position += 1
    }
    let digits = bytes[start..<position].drop { $0 == UInt8(ascii: "-") }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    let hasZeros = digits.count > 1 && digits.first == 48 && digits.dropFirst().first.map { (48...57).contains($0) } == true
    guard position - start < 64, !hasZeros, digits.first.map({ (48...57).contains($0) }) == true else { throw problem("no number") }
    if let number = Int64(text) { return .int(number) }
    guard text.last.map({ $0 != "." }) == true, let number = Double(text), number.isFinite else { throw problem("no number") }
    return .number(number)
  }

  private mutating func string() throws(JSONValue.Problem) -> String {
    position += 1
    var text: [UInt8] = []
    while true {
      guard let byte = peek else { throw problem("the text ends inside a string") }
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let valid = String(validating: text, as: UTF8.self) else { throw problem("a string is no UTF-8") }
        return valid
      case UInt8(ascii: "\\"): try escape(&text)
      case 0..<32: throw problem("a control character in a string")
      default: text.append(byte)
      }
    }
  }

  private mutating func escape(_ text: inout [UInt8]) throws(JSONValue.Problem) {
    guard let letter = peek else { throw problem("the text ends inside a string") }
    position += 1
    switch letter {
    case UInt8(ascii: "n"): text.append(10)
    case UInt8(ascii: "t"): text.append(9)
    case UInt8(ascii: "r"): text.append(13)
    case UInt8(ascii: "b"): text.append(8)
    case UInt8(ascii: "f"): text.append(12)
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
    case UInt8(ascii: "u"):
      var code = try hex4()
      if (0xD800..<0xDC00).contains(code), peek == UInt8(ascii: "\\"), position + 1 < bytes.count, bytes[position + 1] == UInt8(ascii: "u") {
        position += 2
        let low = try hex4()
        guard (0xDC00..<0xE000).contains(low) else { throw problem("half a surrogate pair") }
        code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
      }
      guard let scalar = Unicode.Scalar(code) else { throw problem("half a surrogate pair") }
      text += String(Character(scalar)).utf8
    default: throw problem("an escape that JSON does not have")
    }
  }

  private mutating func hex4() throws(JSONValue.Problem) -> UInt32 {
    guard position + 4 <= bytes.count, let code = UInt32(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16),
      bytes[position] != UInt8(ascii: "+")
    else { throw problem("expected four hexadecimal digits") }
    position += 4
    return code
  }
}
