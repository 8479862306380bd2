// ControlValue — JSON of the control protocol, read and written without Foundation.
//
// Reading is bounded: by the caller in bytes, here in depth. A text with anything behind its value is no value.

/// A JSON value; members of objects keep their order.
package indirect enum ControlValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case int(Int64)
  case number(Double)
  case string(String)
  case array([ControlValue])
  case object([Member])

  package struct Member: Sendable, Equatable {
    package let name: String
    package let value: ControlValue
    package init(_ name: String, _ value: ControlValue) {
      self.name = name
      self.value = value
    }
  }

  /// The last member of that name; nil for anything but an object with it.
  package subscript(_ name: String) -> ControlValue? {
    if case .object(let members) = self { members.last { $0.name == name }?.value } else { nil }
  }
  package var text: String? { if case .string(let text) = self { text } else { nil } }
  package var int: Int64? { if case .int(let number) = self { number } else { nil } }
  package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  package var elements: [ControlValue]? { if case .array(let elements) = self { elements } else { nil } }
}

extension ControlValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  package init(stringLiteral text: String) { self = .string(text) }
  package init(integerLiteral number: Int64) { self = .int(number) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(arrayLiteral elements: ControlValue...) { self = .array(elements) }
  package init(dictionaryLiteral members: (String, ControlValue)...) { self = .object(members.map { Member($0, $1) }) }
  /// Absent is null.
  package init(_ text: String?) { self = text.map { .string($0) } ?? .null }
  package init(_ number: some BinaryInteger) { self = .int(Int64(clamping: number)) }
}

// MARK: Writing

extension ControlValue {
  /// One line, without the newline at its end.
  package var line: String {
    var out: [UInt8] = []
    write(to: &out)
    return String(decoding: out, as: UTF8.self)
  }

  /// Appends the value; control characters are escaped, so that no newline is inside.
  package func write(to out: inout [UInt8]) {
    switch self {
    case .null: out += "null".utf8
    case .bool(let value): out += (value ? "true" : "false").utf8
    case .int(let number): out += String(number).utf8
    case .number(let number): out += (number.isFinite ? "\(number)" : "null").utf8
    case .string(let text): Self.write(text, to: &out)
    case .array(let elements):
      out.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { out.append(UInt8(ascii: ",")) }
        element.write(to: &out)
      }
      out.append(UInt8(ascii: "]"))
    case .object(let members):
      out.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { out.append(UInt8(ascii: ",")) }
        Self.write(member.name, to: &out)
        out.append(UInt8(ascii: ":"))
        member.value.write(to: &out)
      }
      out.append(UInt8(ascii: "}"))
    }
  }

  private static let digits = Array("0123456789abcdef".utf8)

  private static func write(_ text: String, to out: inout [UInt8]) {
    out.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): out += [UInt8(ascii: "\\"), byte]
      case 10: out += "\\n".utf8
      case 9: out += "\\t".utf8
      case 13: out += "\\r".utf8
      case 0..<32, 127: out += "\\u00".utf8 + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: out.append(byte)
      }
    }
    out.append(UInt8(ascii: "\""))
  }
}

// MARK: Reading

extension ControlValue {
  /// What is wrong with a text, and where.
  package struct Problem: Error, Sendable, Equatable {
    package let position: Int
    package let what: String
  }

  /// Reads one value; `depth` is how many arrays and objects may be inside one another.
  package init(parsing bytes: some Collection<UInt8>, depth: Int = 32) throws(Problem) {
    var reader = ControlReader(bytes: Array(bytes), deepest: depth)
    self = try reader.value()
    reader.skipBlanks()
    guard reader.isAtEnd else { throw reader.problem("something behind the value") }
  }
}

private struct ControlReader {
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
  func problem(_ what: String) -> ControlValue.Problem { ControlValue.Problem(position: position, what: what) }

  mutating func skipBlanks() { while let byte = peek, byte == 32 || byte == 9 || byte == 10 || byte == 13 { position += 1 } }

  mutating func value() throws(ControlValue.Problem) -> ControlValue {
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
      guard byte == UInt8(ascii: "-") || (48...57).contains(byte) else { throw problem("no value begins so") }
      return try number()
    }
  }

  private mutating func word(_ text: String, _ value: ControlValue) throws(ControlValue.Problem) -> ControlValue {
    guard bytes[position...].starts(with: text.utf8) else { throw problem("no value begins so") }
    position += text.utf8.count
    return value
  }

  private mutating func enter() throws(ControlValue.Problem) {
    position += 1
    depth += 1
    if depth > deepest { throw problem("nested deeper than \(deepest)") }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    skipBlanks()
    guard peek == byte else { return false }
    position += 1
    return true
  }

  private mutating func array() throws(ControlValue.Problem) -> ControlValue {
    try enter()
    defer { depth -= 1 }
    var elements: [ControlValue] = []
    if take(UInt8(ascii: "]")) { return .array(elements) }
    while true {
      elements.append(try value())
      if take(UInt8(ascii: "]")) { return .array(elements) }
      guard take(UInt8(ascii: ",")) else { throw problem("expected ',' or ']'") }
    }
  }

  private mutating func object() throws(ControlValue.Problem) -> ControlValue {
    try enter()
    defer { depth -= 1 }
    var members: [ControlValue.Member] = []
    if take(UInt8(ascii: "}")) { return .object(members) }
    while true {
      skipBlanks()
      guard peek == UInt8(ascii: "\"") else { throw problem("expected a name in quotes") }
      let name = try string()
      guard take(UInt8(ascii: ":")) else { throw problem("expected ':'") }
      members.append(ControlValue.Member(name, try value()))
      if take(UInt8(ascii: "}")) { return .object(members) }
      guard take(UInt8(ascii: ",")) else { throw problem("expected ',' or '}'") }
    }
  }

  private mutating func number() throws(ControlValue.Problem) -> ControlValue {
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

  private mutating func string() throws(ControlValue.Problem) -> String {
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

  private mutating func escape(_ text: inout [UInt8]) throws(ControlValue.Problem) {
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

  private mutating func hex4() throws(ControlValue.Problem) -> UInt32 {
    guard position + 4 <= bytes.count, let code = UInt32(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16),
      bytes[position] != UInt8(ascii: "+")
    else { throw problem("expected four hexadecimal digits") }
    position += 4
    return code
  }
}
