// StringValue — the bytes that a string token stands for, and the rules of its escapes.

enum StringValue {
  /// The bytes of a string token that is well formed.
  static func bytes(of token: ArraySlice<UInt8>) -> [UInt8] {
    guard let first = token.first else { return [] }
    if first == UInt8(ascii: "[") { return long(token) }
    let text = Array(token.dropFirst().dropLast())
    var out: [UInt8] = []
    var at = 0
    while at < text.count {
      let byte = text[at]
      at += 1
      guard byte == UInt8(ascii: "\\"), at < text.count else {
        out.append(byte)
        continue
      }
      switch Unicode.Scalar(text[at]) {
      case "a": out.append(7); at += 1
      case "b": out.append(8); at += 1
      case "f": out.append(12); at += 1
      case "n": out.append(10); at += 1
      case "r": out.append(13); at += 1
      case "t": out.append(9); at += 1
      case "v": out.append(11); at += 1
      case "\n", "\r":
        let first = text[at]
        at += 1
        if at < text.count, text[at] == 10 || text[at] == 13, text[at] != first { at += 1 }
        out.append(10)
      case "z":
        at += 1
        while at < text.count, text[at].isBlank { at += 1 }
      case "\\", "\"", "'": out.append(text[at]); at += 1
      default: out += numericEscape(text, &at).bytes
      }
    }
    return out
  }

  private static func long(_ token: ArraySlice<UInt8>) -> [UInt8] {
    let level = token.dropFirst().prefix { $0 == UInt8(ascii: "=") }.count
    var text = token.dropFirst(level + 2).dropLast(level + 2)
    // The first line's end is not part of it.
    if let first = text.first, first == 10 || first == 13 {
      text = text.dropFirst()
      if let second = text.first, second == 10 || second == 13, second != first { text = text.dropFirst() }
    }
    return Array(text)
  }

  /// `x41`, `65` or `u{41}` behind a backslash, where `at` stands; it moves behind them.
  static func numericEscape(_ text: [UInt8], _ at: inout Int) -> (bytes: [UInt8], problem: String?) {
    guard at < text.count else { return ([], nil) }
    let first = text[at]
    if first == UInt8(ascii: "x") {
      let digits = text[(at + 1)...].prefix(2).prefix { $0.isHexDigit }
      at += 1 + digits.count
      guard digits.count == 2, let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16) else {
        return ([], "'\\x' takes two hexadecimal digits")
      }
      return ([value], nil)
    }
    if first == UInt8(ascii: "u") { return unicode(text, &at) }
    let digits = text[at...].prefix(3).prefix { $0.isDigit }
    guard !digits.isEmpty else {
      let shown = String(decoding: text[at...].prefix(1), as: UTF8.self)
      at += 1
      return ([], "unknown escape '\\\(shown)'; write '\\\\' for a backslash")
    }
    at += digits.count
    guard let value = UInt8(String(decoding: digits, as: UTF8.self)) else { return ([], "a decimal escape is at most '\\255'") }
    return ([value], nil)
  }

  private static func unicode(_ text: [UInt8], _ at: inout Int) -> (bytes: [UInt8], problem: String?) {
    at += 1
    let rule = "'\\u' takes hexadecimal digits in braces, up to 7FFFFFFF: '\\u{1F600}'"
    guard at < text.count, text[at] == UInt8(ascii: "{") else { return ([], rule) }
    let digits = text[(at + 1)...].prefix { $0.isHexDigit }
    let end = at + 1 + digits.count
    at = end
    guard end < text.count, text[end] == UInt8(ascii: "}"), !digits.isEmpty,
      let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16), value <= 0x7FFF_FFFF
    else { return ([], rule) }
    at = end + 1
    return (encoded(value), nil)
  }

  /// UTF-8 as Lua writes it: up to six bytes, surrogates allowed.
  private static func encoded(_ value: UInt32) -> [UInt8] {
    guard value >= 0x80 else { return [UInt8(value)] }
    var rest = value
    var tail: [UInt8] = []
    var room: UInt32 = 0x3F
    repeat {
      tail.insert(UInt8(0x80 | rest & 0x3F), at: 0)
      rest >>= 6
      room >>= 1
    } while rest > room
    return [UInt8(truncatingIfNeeded: ~room << 1 | rest)] + tail
  }
}
