// SelectorPattern — what people type: an exact selector name or a glob.
private import SwiftMangling

/// `Shop.Cart.add(_:price:)`, `Shop.Tree.visit(_: FunctionDeclSyntax)`, `Shop.*Controller.view*(_)`, `Shop.**`.
///
/// `*` stops at a dot, `**` crosses dots, `\*` is the operator. A glob without `static ` matches static members too.
/// Closures are matched by patterns that say so: `closure #1 in Shop.Cart.add(_:)`, `closure * in Shop.**`.
package struct SelectorPattern: Sendable, Hashable {
  package let text: String
  package let isGlob: Bool
  /// The pattern spells types, so it is compared with typed names.
  private let isTyped: Bool
  private let isStatic: Bool
  /// The pattern means closures, and nothing else.
  package let meansClosures: Bool
  private let tokens: [Token]
  private let plain: String

  private enum Token: Hashable, Sendable {
    case byte(UInt8)
    case star
    case doubleStar
  }

  package init(_ text: String) {
    var body = Substring(text).trimmed()
    meansClosures = body.hasPrefix("closure ") || body.hasPrefix("implicit closure ")
    isStatic = body.hasPrefix("static ")
    if isStatic { body = body.dropFirst(7).trimmed() }
    var tokens: [Token] = []
    var bytes = Array(body.utf8)[...]
    while let byte = bytes.popFirst() {
      if byte == UInt8(ascii: "\\"), bytes.first == UInt8(ascii: "*") {
        bytes.removeFirst()
        tokens.append(.byte(UInt8(ascii: "*")))
      } else if byte == UInt8(ascii: "*") {
        if bytes.first == UInt8(ascii: "*") {
          bytes.removeFirst()
          tokens.append(.doubleStar)
        } else {
          tokens.append(.star)
        }
      } else {
        tokens.append(.byte(byte))
      }
    }
    self.text = text
    namesFiles = Self.owner(of: text, meansClosures: meansClosures).utf8.contains(UInt8(ascii: "#"))
    self.tokens = tokens
    // A C function's images and prototype may hold stars, too.
    let isOneFunction = body.hasPrefix("C.") && !body.prefix { $0 != " " && $0 != "(" }.contains("*")
    isGlob = !isOneFunction && tokens.contains { if case .byte = $0 { false } else { true } }
    // This leaves out the backslashes of operators.
    plain = String(decoding: tokens.compactMap { if case .byte(let byte) = $0 { byte } else { nil } }, as: UTF8.self)
    let text = String(body)
    isTyped = Self.marksOfTypes.contains { text.holds($0) }
  }

  /// The pattern tells private types apart by their files (`Secret#Cart.swift`).
  package let namesFiles: Bool

  /// A name that is matched costs at most its length for each wildcard.
  private static let mostWildcards = 32

  /// Why nothing is looked for that matches it.
  package var problem: String? {
    let count = isGlob ? tokens.count { if case .byte = $0 { false } else { true } } : 0
    guard count > Self.mostWildcards else { return nil }
    return "'\(text.prefix(60))\(text.utf8.count > 60 ? "…" : "")' has \(count) wildcards, and a pattern has at most \(Self.mostWildcards); "
      + "'**' stands for any text"
  }

  /// The text without the closures it begins with: `Shop.Cart.add(_:)` of `closure #1 in Shop.Cart.add(_:)`.
  private var owner: Substring { Self.owner(of: text, meansClosures: meansClosures) }

  private static func owner(of text: String, meansClosures: Bool) -> Substring {
    guard meansClosures else { return text[...] }
    var rest = text[...].trimmed()
    while rest.hasPrefix("closure ") || rest.hasPrefix("implicit closure "),
      let end = rest.indices.first(where: { rest[$0...].hasPrefix(" in ") })
    {
      rest = rest[end...].dropFirst(4)
    }
    // A wildcard stands for the owner: any module.
    return rest.hasPrefix("closure ") || rest.hasPrefix("implicit closure ") ? "**" : rest.dropStatic()
  }

  /// A glob that spells a module and a type, or more: `Shop.Cart.add*`.
  var isOfOneContext: Bool {
    guard isGlob, !meansClosures else { return false }
    var spelled: [UInt8] = []
    for case .byte(let byte) in tokens.prefix(while: { if case .byte = $0 { true } else { false } }) { spelled.append(byte) }
    return spelled.prefix { $0 != UInt8(ascii: "(") }.count { $0 == UInt8(ascii: ".") } >= 2
  }

  private static let marksOfTypes: [StaticString] = [" -> ", ": ", "(_: ", ") throws", ") async"]

  /// The module the name begins with, nil when a wildcard decides.
  package var module: String? {
    if meansClosures { return SelectorPattern(String(owner)).module }
    var name: [UInt8] = []
    for token in tokens {
      guard case .byte(let byte) = token else { return nil }
      if byte == UInt8(ascii: ".") { break }
      name.append(byte)
    }
    return String(decoding: name, as: UTF8.self)
  }

  /// Words every matching mangled name holds literally (see SwiftMangling `requiredWords`).
  package var requiredWords: [[UInt8]] {
    if meansClosures { return SelectorPattern(String(owner)).requiredWords }
    var words: Set<[UInt8]> = []
    for identifier in literalIdentifiers {
      for word in SwiftMangling.requiredWords(ofIdentifier: identifier) { words.insert(Array(word.utf8)) }
    }
    return Array(words)
  }

  /// Identifiers that are spelled out whole, before any types.
  private var literalIdentifiers: [String] {
    var found: [String] = []
    var current: [UInt8] = []
    var broken = false
    func isIdentifier(_ byte: UInt8) -> Bool {
      byte == 95 || byte == 36 || byte >= 128 || (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
    }
    func end() {
      let text = String(decoding: current, as: UTF8.self)
      if !broken, !current.isEmpty, !Self.notIdentifiers.contains(text) { found.append(text) }
      current = []
      broken = false
    }
    loop: for token in tokens {
      switch token {
      case .byte(let byte) where isIdentifier(byte): current.append(byte)
      case .byte(UInt8(ascii: "(")), .byte(UInt8(ascii: " ")):
        // Types follow, of which the mangled name may hold nothing: `[T]`, `any P`, substitutions.
        end()
        if isTyped { return found }
      case .byte(UInt8(ascii: "#")):
        // A private type's file comes next: nothing of it is in the mangled name.
        end()
        return found
      case .byte: end()
      case .star, .doubleStar:
        broken = true
      }
    }
    end()
    return found
  }
  /// No mangled name has them. The last two are of members of local types: `Shop.make().closure #1.Box.init()`.
  private static let notIdentifiers = EntityKind.accessorWords.union(["_", "init", "deinit", "subscript", "closure", "implicit"])

  /// - Parameter typed: makes the selector with its types; only called when the pattern spells types.
  package func matches(_ selector: String, isStatic memberIsStatic: Bool, typed: () -> [String]) -> Bool {
    if meansClosures { return matchesText(selector) }
    if isStatic && !memberIsStatic { return false }
    if !isStatic && memberIsStatic && !isGlob { return false }
    if !isTyped { return matchesText(selector.dropStatic()) }
    return typed().contains { matchesTyped(String($0.dropStatic())) }
  }

  private func matchesTyped(_ name: String) -> Bool {
    if isGlob { return matchesText(name) }
    return name == plain || name.hasPrefix(plain + " ")
  }

  private func matchesText(_ text: some StringProtocol) -> Bool {
    Self.match(tokens[...], Array(text.utf8)[...])
  }

  /// Backtracks over the last wildcards only: linear in practice, quadratic at worst.
  private static func match(_ tokens: ArraySlice<Token>, _ text: ArraySlice<UInt8>) -> Bool {
    var t = tokens.startIndex
    var i = text.startIndex
    var single: (token: Int, text: Int)?
    var double: (token: Int, text: Int)?
    while true {
      if t < tokens.endIndex, case .doubleStar = tokens[t] {
        double = (t + 1, i)
        single = nil
        t += 1
        continue
      }
      if t < tokens.endIndex, case .star = tokens[t] {
        single = (t + 1, i)
        t += 1
        continue
      }
      if i < text.endIndex, t < tokens.endIndex, case .byte(let byte) = tokens[t], byte == text[i] {
        t += 1
        i += 1
        continue
      }
      if i == text.endIndex && t == tokens.endIndex { return true }
      if let last = single, last.text < text.endIndex, text[last.text] != UInt8(ascii: ".") {
        single = (last.token, last.text + 1)
        t = last.token
        i = last.text + 1
        continue
      }
      if let last = double, last.text < text.endIndex {
        double = (last.token, last.text + 1)
        single = nil
        t = last.token
        i = last.text + 1
        continue
      }
      return false
    }
  }
}

extension StringProtocol {
  func trimmed() -> SubSequence {
    var slice = self[...]
    while slice.first == " " { slice = slice.dropFirst() }
    while slice.last == " " { slice = slice.dropLast() }
    return slice
  }
  func dropStatic() -> SubSequence { hasPrefix("static ") ? dropFirst(7) : self[...] }
}
