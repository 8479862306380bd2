// Token — what a Lua text is made of, with ranges: for the parser, for colours and for completion.

/// One token. Blanks are no tokens; comments are, and the parser skips them.
package struct Token: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    case name, keyword, number, string, symbol, comment
    /// What no Lua text holds; `problem` says why.
    case invalid
    case end
  }

  package let kind: Kind
  /// Byte offsets.
  package let range: Range<Int>
  /// What is wrong with it; nil for all that are well formed.
  package var problem: String?
  /// A string or comment that the text ends in: more input would help.
  package var isUnfinished = false

  package static let keywords: Set<String> = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil", "not", "or", "repeat",
    "return", "then", "true", "until", "while",
  ]
}

extension UInt8 {
  var isDigit: Bool { (0x30...0x39).contains(self) }
  var isHexDigit: Bool { isDigit || (0x41...0x46).contains(self) || (0x61...0x66).contains(self) }
  /// Letters of names: ASCII only, as in Lua.
  var isNameStart: Bool { (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) || self == 0x5F }
  var isNamePart: Bool { isNameStart || isDigit }
  var isBlank: Bool { self == 32 || (9...13).contains(self) }
}
