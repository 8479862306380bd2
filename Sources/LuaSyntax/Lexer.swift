// Lexer — cuts a Lua 5.4 text into tokens. Never fails: what is no Lua becomes a token that says why.

/// Reads one token after another.
package struct Lexer {
  private let bytes: [UInt8]
  private var at = 0

  package init(_ source: SourceText) {
    bytes = source.bytes
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { at = 3 }
    // The line by which a shell starts a script.
    if peek() == UInt8(ascii: "#") { skipLine() }
  }

  /// All tokens, comments among them; the last one is the end.
  package static func tokens(_ source: SourceText) -> [Token] {
    var lexer = Lexer(source)
    var tokens: [Token] = []
    repeat { tokens.append(lexer.next()) } while tokens.last?.kind != .end
    return tokens
  }

  private func peek(_ ahead: Int = 0) -> UInt8? { at + ahead < bytes.count ? bytes[at + ahead] : nil }
  private func peek(_ ahead: Int = 0, is character: Unicode.Scalar) -> Bool { peek(ahead) == UInt8(ascii: character) }

  /// The next token; at the end always the end.
  package mutating func next() -> Token {
    while let byte = peek(), byte.isBlank { at += 1 }
    let start = at
    guard let byte = peek() else { return Token(kind: .end, range: at..<at) }
    if byte.isNameStart {
      while let byte = peek(), byte.isNamePart { at += 1 }
      let isKeyword = Token.keywords.contains(String(decoding: bytes[start..<at], as: UTF8.self))
      return Token(kind: isKeyword ? .keyword : .name, range: start..<at)
    }
    if byte.isDigit || byte == UInt8(ascii: ".") && peek(1)?.isDigit == true { return number(start) }
    if byte == UInt8(ascii: "-"), peek(1, is: "-") { return comment(start) }
    if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { return string(start, quote: byte) }
    if byte == UInt8(ascii: "["), let level = longBracket() { return long(start, level, .string) }
    if let length = symbolLength(byte) {
      at += length
      return Token(kind: .symbol, range: start..<at)
    }
    // One token for a run of what is no Lua.
    repeat { at += 1 } while peek().map { $0 >= 0x80 } ?? false
    let shown = String(decoding: bytes[start..<min(at, start + 16)], as: UTF8.self)
    let what = byte < 32 || byte == 127 ? "control character \(byte)" : "'\(shown)'"
    return Token(kind: .invalid, range: start..<at, problem: "unexpected \(what)")
  }

  private func symbolLength(_ byte: UInt8) -> Int? {
    switch Unicode.Scalar(byte) {
    case ".": return peek(1, is: ".") ? peek(2, is: ".") ? 3 : 2 : 1
    case "<": return peek(1, is: "<") || peek(1, is: "=") ? 2 : 1
    case ">": return peek(1, is: ">") || peek(1, is: "=") ? 2 : 1
    case "=", "~": return peek(1, is: "=") ? 2 : 1
    case "/": return peek(1, is: "/") ? 2 : 1
    case ":": return peek(1, is: ":") ? 2 : 1
    case "+", "-", "*", "%", "^", "#", "&", "|", "(", ")", "{", "}", "[", "]", ";", ",": return 1
    default: return nil
    }
  }

  private mutating func skipLine() { while let byte = peek(), byte != 10 { at += 1 } }

  /// The number of '=' in the `[==[` that starts here.
  private func longBracket() -> Int? {
    guard peek(is: "[") else { return nil }
    var level = 0
    while peek(1 + level, is: "=") { level += 1 }
    return peek(1 + level, is: "[") ? level : nil
  }

  private mutating func comment(_ start: Int) -> Token {
    at += 2
    if let level = longBracket() { return long(start, level, .comment) }
    skipLine()
    return Token(kind: .comment, range: start..<at)
  }

  private mutating func long(_ start: Int, _ level: Int, _ kind: Token.Kind) -> Token {
    at += level + 2
    while let byte = peek() {
      if byte == UInt8(ascii: "]") {
        var count = 0
        while peek(1 + count, is: "=") { count += 1 }
        if count == level, peek(1 + count, is: "]") {
          at += level + 2
          return Token(kind: kind, range: start..<at)
        }
      }
      at += 1
    }
    let opening = "[" + String(repeating: "=", count: level) + "["
    let closing = "]" + String(repeating: "=", count: level) + "]"
    return Token(
      kind: kind, range: start..<at, problem: "this \(kind == .comment ? "comment" : "text") begins with '\(opening)' and has no '\(closing)'",
      isUnfinished: true)
  }

  private mutating func string(_ start: Int, quote: UInt8) -> Token {
    at += 1
    var problem: String?
    while let byte = peek(), byte != quote {
      if byte == 10 || byte == 13 { return Token(kind: .string, range: start..<at, problem: "this text has no closing quote on its line") }
      at += 1
      if byte == UInt8(ascii: "\\") { problem = escape() ?? problem }
    }
    guard peek() != nil else {
      // A line that follows would not help: such a text ends with its line.
      return Token(kind: .string, range: start..<at, problem: "this text has no closing quote on its line")
    }
    at += 1
    return Token(kind: .string, range: start..<at, problem: problem)
  }

  /// Skips what stands behind a backslash; answers what is wrong with it.
  private mutating func escape() -> String? {
    guard let byte = peek() else { return nil }
    switch Unicode.Scalar(byte) {
    case "z":
      at += 1
      while let byte = peek(), byte.isBlank { at += 1 }
      return nil
    case "\r" where peek(1, is: "\n"), "\n" where peek(1, is: "\r"): at += 2; return nil
    case "a", "b", "f", "n", "r", "t", "v", "\\", "\"", "'", "\n", "\r": at += 1; return nil
    default: return StringValue.numericEscape(bytes, &at).problem
    }
  }

  private mutating func number(_ start: Int) -> Token {
    let isHex = peek(is: "0") && (peek(1, is: "x") || peek(1, is: "X"))
    if isHex { at += 2 }
    while let byte = peek() {
      let isExponent = isHex ? byte | 0x20 == UInt8(ascii: "p") : byte | 0x20 == UInt8(ascii: "e")
      if isExponent {
        at += 1
        if peek(is: "+") || peek(is: "-") { at += 1 }
      } else if byte.isNamePart || byte == UInt8(ascii: ".") {
        at += 1
      } else {
        break
      }
    }
    let isGood = Self.isNumber(bytes[start..<at], isHex: isHex)
    let shown = String(decoding: bytes[start..<at], as: UTF8.self)
    return Token(kind: .number, range: start..<at, problem: isGood ? nil : "'\(shown)' is no number")
  }

  private static func isNumber(_ text: ArraySlice<UInt8>, isHex: Bool) -> Bool {
    var rest = isHex ? text.dropFirst(2) : text
    func isDigit(_ byte: UInt8) -> Bool { isHex ? byte.isHexDigit : byte.isDigit }
    var digits = 0
    while let byte = rest.first, isDigit(byte) { rest = rest.dropFirst(); digits += 1 }
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      while let byte = rest.first, isDigit(byte) { rest = rest.dropFirst(); digits += 1 }
    }
    guard digits > 0 else { return false }
    guard let mark = rest.first else { return true }
    guard mark | 0x20 == UInt8(ascii: isHex ? "p" : "e") else { return false }
    rest = rest.dropFirst()
    if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { rest = rest.dropFirst() }
    return !rest.isEmpty && rest.allSatisfy(\.isDigit)
  }
}
