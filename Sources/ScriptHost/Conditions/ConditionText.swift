// ConditionText — the words of a condition: `self.total > 0 and args.1.name ~= "x"`.
//
//     condition  = both { ("or" | "||") both }
//     both       = not { ("and" | "&&") not }
//     not        = ("not" | "!") not | comparison
//     comparison = operand [ ("==" | "~=" | "!=" | "<" | "<=" | ">" | ">=") operand ]
//     operand    = number [unit] | text | true | false | nil | path | function "(" path "," text ")" | "(" condition ")"
//
// A unit makes a number one of nanoseconds or bytes: 10ms, 2s, 4KB. Functions: contains, starts_with, ends_with.

/// A condition as it was read. Texts are as written, without quotes.
package indirect enum ConditionText: Equatable, Sendable {
  package enum Comparison: String, Sendable {
    case equal = "==", unequal = "~=", less = "<", lessOrEqual = "<=", greater = ">", greaterOrEqual = ">="
  }
  package enum Function: String, CaseIterable, Sendable { case contains, starts_with, ends_with }

  case number(Double)
  case text(String)
  case bool(Bool)
  case null
  case path(String)
  case compare(Comparison, ConditionText, ConditionText)
  case function(Function, path: String, text: String)
  case both(ConditionText, ConditionText)
  case either(ConditionText, ConditionText)
  case not(ConditionText)

  package init(reading text: String) throws(RuleProblem) {
    var reader = try ConditionReader(text)
    self = try reader.condition()
    try reader.end()
  }

  /// The capture paths in it, from left to right.
  package var paths: [String] {
    switch self {
    case .number, .text, .bool, .null: []
    case .path(let path), .function(_, let path, _): [path]
    case .compare(_, let left, let right), .both(let left, let right), .either(let left, let right): left.paths + right.paths
    case .not(let inner): inner.paths
    }
  }
}

/// Reads one condition.
private struct ConditionReader {
  private enum Token: Equatable {
    case word(String), number(Double), text(String), symbol(String)

    var shown: String {
      switch self {
      case .word(let text), .symbol(let text): text
      case .number(let value): "\(value)"
      case .text(let text): "\"\(text)\""
      }
    }
  }

  private let source: String
  private var tokens: [Token] = []
  private var at = 0
  private var depth = 0

  private static let mostBytes = 65_536, mostTokens = 16_384

  init(_ source: String) throws(RuleProblem) {
    guard source.utf8.count <= Self.mostBytes else {
      throw RuleProblem("'where': a condition has at most \(Self.mostBytes) bytes, found \(source.utf8.count): '\(source.prefix(60))…'")
    }
    self.source = source
    var rest = Array(source.unicodeScalars)[...]
    while let first = rest.first {
      if first.properties.isWhitespace { rest.removeFirst() } else { tokens.append(try Self.token(&rest, source)) }
      if tokens.count > Self.mostTokens { throw RuleProblem("'where': a condition has at most \(Self.mostTokens) words: '\(source.prefix(60))…'") }
    }
  }

  private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
  }

  private static func token(_ rest: inout ArraySlice<Unicode.Scalar>, _ source: String) throws(RuleProblem) -> Token {
    let first = rest.first!
    if first == "\"" || first == "'" { return try quoted(&rest, first, source) }
    if first.properties.numericType != nil || first == "-" { return try number(&rest, source) }
    if isWord(first) { return .word(word(&rest)) }
    for symbol in ["==", "~=", "!=", "<=", ">=", "&&", "||", "<", ">", "(", ")", ",", "!"] where rest.starts(with: symbol.unicodeScalars) {
      rest.removeFirst(symbol.unicodeScalars.count)
      return .symbol(symbol == "!=" ? "~=" : symbol)
    }
    throw RuleProblem("'where': '\(first)' in '\(source)' is no part of a condition\(first == "=" ? "; what is equal is compared with '=='" : "")")
  }

  /// A word, or a path with its dots and its `()`.
  private static func word(_ rest: inout ArraySlice<Unicode.Scalar>) -> String {
    var text = String.UnicodeScalarView()
    while let next = rest.first {
      if isWord(next) || next == "." {
        text.append(rest.removeFirst())
      } else if rest.starts(with: "()".unicodeScalars) {
        text.append(contentsOf: "()".unicodeScalars)
        rest.removeFirst(2)
      } else {
        break
      }
    }
    return String(text)
  }

  private static func quoted(_ rest: inout ArraySlice<Unicode.Scalar>, _ mark: Unicode.Scalar, _ source: String) throws(RuleProblem) -> Token {
    rest.removeFirst()
    var text = String.UnicodeScalarView()
    while let next = rest.popFirst() {
      if next == mark { return .text(String(text)) }
      if next == "\\", let escaped = rest.popFirst() { text.append(escaped == "n" ? "\n" : escaped) } else { text.append(next) }
    }
    throw RuleProblem("'where': a text in '\(source)' has no end")
  }

  private static let units: [String: Double] = [
    "": 1, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9, "B": 1, "KB": 1024, "MB": 1_048_576, "GB": 1_073_741_824,
  ]

  private static func number(_ rest: inout ArraySlice<Unicode.Scalar>, _ source: String) throws(RuleProblem) -> Token {
    var digits = String.UnicodeScalarView()
    var unit = String.UnicodeScalarView()
    digits.append(rest.removeFirst())
    while let next = rest.first, next.properties.numericType != nil || next == "." { digits.append(rest.removeFirst()) }
    while let next = rest.first, isWord(next) { unit.append(rest.removeFirst()) }
    guard let value = Double(String(digits)), let factor = units[String(unit)] else {
      throw RuleProblem("'where': '\(String(digits))\(String(unit))' in '\(source)' is no number; units are ns, us, ms, s, min, h, B, KB, MB, GB")
    }
    return .number(value * factor)
  }

  // MARK: Grammar

  private mutating func take(_ words: String...) -> Bool {
    guard at < tokens.count else { return false }
    for word in words where tokens[at] == .symbol(word) || tokens[at] == .word(word) {
      at += 1
      return true
    }
    return false
  }

  func end() throws(RuleProblem) {
    if at < tokens.count {
      throw RuleProblem("'where': '\(tokens[at].shown)' is more than a condition in '\(source)'; join conditions with 'and' or 'or'")
    }
  }

  mutating func condition() throws(RuleProblem) -> ConditionText {
    depth += 1
    defer { depth -= 1 }
    if depth > 32 { throw RuleProblem("'where': more than 32 parentheses inside each other") }
    var parts = [try both()]
    while take("or", "||") { parts.append(try both()) }
    return Self.joined(parts[...]) { .either($0, $1) }
  }

  private mutating func both() throws(RuleProblem) -> ConditionText {
    var parts = [try not()]
    while take("and", "&&") { parts.append(try not()) }
    return Self.joined(parts[...]) { .both($0, $1) }
  }

  /// Joins the parts, at least one, in their order and no deeper than it must be: whoever walks through a condition calls itself.
  private static func joined(_ parts: ArraySlice<ConditionText>, _ join: (ConditionText, ConditionText) -> ConditionText) -> ConditionText {
    if parts.count == 1 { return parts[parts.startIndex] }
    let middle = parts.startIndex + parts.count / 2
    return join(joined(parts[..<middle], join), joined(parts[middle...], join))
  }

  private mutating func not() throws(RuleProblem) -> ConditionText {
    var count = 0
    while take("not", "!") { count += 1 }
    let found = try comparison()
    return count % 2 == 0 ? found : .not(found)
  }

  private mutating func comparison() throws(RuleProblem) -> ConditionText {
    let left = try operand()
    guard at < tokens.count, case .symbol(let symbol) = tokens[at], let comparison = ConditionText.Comparison(rawValue: symbol) else { return left }
    at += 1
    return .compare(comparison, left, try operand())
  }

  private mutating func operand() throws(RuleProblem) -> ConditionText {
    guard at < tokens.count else { throw RuleProblem("'where': '\(source)' ends where a value is expected") }
    let token = tokens[at]
    at += 1
    switch token {
    case .number(let value): return .number(value)
    case .text(let text): return .text(text)
    case .word("true"): return .bool(true)
    case .word("false"): return .bool(false)
    case .word("nil"): return .null
    case .word(let name):
      if take("(") { return try function(name) }
      return .path(name)
    case .symbol("("):
      let inner = try condition()
      guard take(")") else { throw RuleProblem("'where': a '(' in '\(source)' has no ')'") }
      return inner
    case .symbol(let symbol): throw RuleProblem("'where': '\(symbol)' in '\(source)' where a value is expected")
    }
  }

  private mutating func function(_ name: String) throws(RuleProblem) -> ConditionText {
    guard let function = ConditionText.Function(rawValue: name) else {
      let known = ConditionText.Function.allCases.map(\.rawValue).joined(separator: ", ")
      throw RuleProblem("'where': no function '\(name)'; known are \(known)")
    }
    guard at + 3 < tokens.count + 0, case .word(let path) = tokens[at], tokens[at + 1] == .symbol(","), case .text(let text) = tokens[at + 2],
      tokens[at + 3] == .symbol(")")
    else { throw RuleProblem("'where': '\(name)' takes a path and a text: \(name)(args.1, \"x\")") }
    at += 4
    return .function(function, path: path, text: text)
  }
}
