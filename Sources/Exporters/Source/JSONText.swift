// JSONText — JSON as exporters write it: RFC 8259, valid inside a script element of HTML too.
package import Journal

/// Builds one JSON value as text.
package struct JSONText {
  package private(set) var text = ""
  private var needsComma = false

  package init() {}

  // MARK: Structure

  package mutating func object(_ name: String? = nil, _ body: (inout JSONText) -> Void) { nested(name, "{", "}", body) }
  package mutating func array(_ name: String? = nil, _ body: (inout JSONText) -> Void) { nested(name, "[", "]", body) }

  private mutating func nested(_ name: String?, _ open: String, _ close: String, _ body: (inout JSONText) -> Void) {
    key(name)
    text += open
    needsComma = false
    body(&self)
    text += close
    needsComma = true
  }

  private mutating func key(_ name: String?) {
    if needsComma { text += "," }
    if let name { text += Self.string(name) + ":" }
    needsComma = true
  }

  // MARK: Values

  package mutating func add(_ name: String?, _ value: String) { raw(name, Self.string(value)) }
  package mutating func add(_ name: String?, _ value: Bool) { raw(name, value ? "true" : "false") }
  package mutating func add<T: BinaryInteger>(_ name: String?, _ value: T) { raw(name, "\(value)") }
  package mutating func add(_ name: String?, _ value: Double) { raw(name, Self.number(value)) }
  package mutating func add(_ name: String?, _ value: FieldValue) { raw(name, Self.value(value)) }
  package mutating func add(_ name: String?, _ fields: [Field]) { raw(name, Self.value(.object(fields))) }
  /// - Parameter json: a whole JSON value.
  package mutating func raw(_ name: String?, _ json: String) {
    key(name)
    text += json
  }

  /// A number; what JSON has no number for is null.
  package static func number(_ value: Double) -> String {
    guard value.isFinite else { return "null" }
    return value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
  }

  package static func value(_ value: FieldValue) -> String {
    switch value {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .double(let value): number(value)
    case .string(let text, _): string(text)
    case .masked: "\"<masked>\""
    case .identifier(let low, let high): string(EventText.hexadecimal(low, high))
    case .list(let values): "[" + values.map(Self.value).joined(separator: ",") + "]"
    case .object(let fields): "{" + fields.map { string($0.name) + ":" + Self.value($0.value) }.joined(separator: ",") + "}"
    }
  }

  /// A quoted string. `<` and the line separators that end a line of JavaScript are escaped as well.
  package static func string(_ text: String) -> String {
    if EventText.isPlain(text.utf8), !text.utf8.contains(UInt8(ascii: "<")) { return "\"" + text + "\"" }
    var out: [UInt8] = [UInt8(ascii: "\"")]
    out.reserveCapacity(text.utf8.count + 2)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": out += "\\\"".utf8
      case "\\": out += "\\\\".utf8
      case "\n": out += "\\n".utf8
      case "\t": out += "\\t".utf8
      case "<", "\u{2028}", "\u{2029}", "\u{0}"..."\u{1f}", "\u{7f}":
        let digits = String(scalar.value, radix: 16)
        out += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
      default: out += String(scalar).utf8
      }
    }
    out.append(UInt8(ascii: "\""))
    return String(decoding: out, as: UTF8.self)
  }
}
