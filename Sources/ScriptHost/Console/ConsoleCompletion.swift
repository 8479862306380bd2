// ConsoleCompletion — which names may stand where somebody types: Lua's, the host's, those of live values, types and selectors.
internal import HookRuntime
internal import SwiftMangling

enum ConsoleCompletion {
  /// What is asked for, by the text before the cursor.
  struct Wish: Equatable {
    /// The word that was begun.
    let word: String
    /// Where it begins in the text, in bytes.
    let start: Int
    /// `cart.user` of `cart.user.na`; empty for a word by itself.
    let path: String
    /// Behind ':', methods are meant.
    let wantsMethods: Bool
    /// The word is in an open text: a type or selector.
    let isText: Bool

    init(_ text: String) {
      let bytes = Array(text.utf8)
      // An open quote on the last line.
      var quote: (byte: UInt8, at: Int)?
      for (at, byte) in bytes.enumerated() {
        if byte == 10 { quote = nil } else if let open = quote {
          if byte == open.byte { quote = nil }
        } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
          quote = (byte, at)
        }
      }
      if let quote {
        start = quote.at + 1
        word = String(decoding: bytes[start...], as: UTF8.self)
        (path, wantsMethods, isText) = ("", false, true)
        return
      }
      func isName(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
      }
      var begin = bytes.count
      while begin > 0, isName(bytes[begin - 1]) { begin -= 1 }
      start = begin
      word = String(decoding: bytes[begin...], as: UTF8.self)
      isText = false
      let mark = begin > 0 ? bytes[begin - 1] : 0
      guard mark == UInt8(ascii: ".") || mark == UInt8(ascii: ":"), begin > 1 else {
        (path, wantsMethods) = ("", false)
        return
      }
      var head = begin - 1
      while head > 0, isName(bytes[head - 1]) || bytes[head - 1] == UInt8(ascii: ".") { head -= 1 }
      path = String(decoding: bytes[head..<(begin - 1)], as: UTF8.self)
      wantsMethods = mark == UInt8(ascii: ":")
    }
  }

  private static let most = 200

  /// Reads what the first answer needs.
  static func prepare() { ProcessCatalog.shared.prepareNames() }

  private static let keywords = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil", "not", "or", "repeat", "return",
    "then", "true", "until", "while",
  ]

  /// - Parameter members: the names in a live value, and its type.
  static func names(for wish: Wish, members: (String) -> (names: [String], type: String?)?) -> [String] {
    let all: [String]
    if wish.isText { all = program(wish.word) } else if !wish.path.isEmpty || wish.wantsMethods { all = self.members(wish, members) } else {
      all = keywords + ScriptReference.globalNames + (members("")?.names ?? [])
    }
    return Array(Set(all.filter { $0.hasPrefix(wish.word) && $0 != wish.word })).sorted().prefix(most).map { $0 }
  }

  private static func members(_ wish: Wish, _ members: (String) -> (names: [String], type: String?)?) -> [String] {
    if let names = ScriptReference.members(ofTable: wish.path), !wish.wantsMethods { return names }
    guard let found = members(wish.path) else {
      return wish.wantsMethods ? ScriptReference.handles.filter { $0.kind == .function }.map(\.name) : ScriptReference.members(of: "Call").map(\.name)
    }
    guard let type = found.type else {
      return wish.wantsMethods ? ScriptReference.handles.filter { $0.kind == .function }.map(\.name) : found.names
    }
    guard wish.wantsMethods else { return found.names }
    // Type arguments are in no selector.
    let owner = String(type.prefix { $0 != "<" })
    return ProcessCatalog.shared.memberNames(of: owner).filter(\.isMethod).map(\.name)
  }

  /// Types and selectors that begin with the word: types while it has no member yet, then their members.
  private static func program(_ word: String) -> [String] {
    guard !word.isEmpty, !word.contains("*") else { return [] }
    let isStatic = word.hasPrefix("static ")
    let body = isStatic ? String(word.dropFirst(7)) : word
    let types = TypeCatalog.shared.all.filter { $0.hasPrefix(body) && !$0.contains("#") }
    var found = isStatic ? types.map { "static " + $0 } : types
    let owner = body.prefix { $0 != "(" }.split(separator: ".").dropLast(body.hasSuffix(".") ? 0 : 1).joined(separator: ".")
    if !owner.isEmpty, TypeCatalog.shared.contains(owner) || !owner.contains(".") {
      found += ProcessCatalog.shared.memberNames(of: owner).map(\.selector)
    }
    return found
  }
}
