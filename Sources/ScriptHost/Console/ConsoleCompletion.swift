// ConsoleCompletion — which names may stand where somebody types: Lua's, the host's, those of live values, types and selectors.
internal import HookRuntime
internal import SwiftMangling

package enum ConsoleCompletion {
  /// What is asked for, by the text before the cursor.
  struct Wish: Equatable {
    /// The word that was begun.
    let word: String
    /// Where it begins in the text, in bytes.
    let start: Int
    /// What stands before the word's '.' or ':'; nil for a word by itself.
    let receiver: CompletionReceiver?
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
        (receiver, wantsMethods, isText) = (nil, false, true)
        return
      }
      var begin = bytes.count
      while begin > 0, bytes[begin - 1].isPartOfName { begin -= 1 }
      start = begin
      word = String(decoding: bytes[begin...], as: UTF8.self)
      isText = false
      let mark = begin > 0 ? bytes[begin - 1] : 0
      guard mark == UInt8(ascii: ".") || mark == UInt8(ascii: ":") else {
        (receiver, wantsMethods) = (nil, false)
        return
      }
      receiver = CompletionReceiver(endOf: bytes[..<(begin - 1)])
      wantsMethods = mark == UInt8(ascii: ":")
    }
  }

  /// What names are of that stand by themselves, as commands of the console take them.
  package enum Kind: String, Sendable { case types, selectors }

  private static let most = 200

  /// Reads what the first answer needs.
  static func prepare() { ProcessCatalog.shared.prepareNames() }

  private static let keywords = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil", "not", "or", "repeat", "return",
    "then", "true", "until", "while",
  ]

  /// The names of that kind that begin with `text`.
  static func names(of kind: Kind, _ text: String) -> [String] {
    switch kind {
    case .types: chosen(TypeCatalog.shared.all.filter { !$0.contains("#") }, text)
    case .selectors: chosen(program(text), text)
    }
  }

  /// The names in a live value, by a path of names, and its type.
  typealias LiveMembers = (String) -> (names: [String], type: String?)?

  static func names(for wish: Wish, members: LiveMembers) -> [String] {
    let all: [String]
    if wish.isText { all = program(wish.word) } else if let receiver = wish.receiver {
      all = self.members(of: receiver, methods: wish.wantsMethods, members)
    } else {
      all = keywords + ScriptReference.globalNames + (members("")?.names ?? [])
    }
    return chosen(all, wish.word)
  }

  private static func chosen(_ all: [String], _ word: String) -> [String] {
    Array(Set(all.filter { $0.hasPrefix(word) && $0 != word })).sorted().prefix(most).map { $0 }
  }

  private static func members(of receiver: CompletionReceiver, methods: Bool, _ live: LiveMembers) -> [String] {
    switch receiver {
    case .path(let path): members(ofPath: path, methods: methods, live)
    case .call("class", let type?): ofHandle("Class", methods: methods) + statics(of: type, methods: methods)
    case .call(let function, _): ofHandle(result(of: function), methods: methods)
    case .element(of: "hooks"): methods ? [] : HookAPI.rowNames
    case .text: methods ? ScriptReference.members(ofTable: "string") ?? [] : []
    case .element, .other: []
    }
  }

  private static func members(ofPath path: String, methods: Bool, _ live: LiveMembers) -> [String] {
    if let names = ScriptReference.members(ofTable: path), !methods { return names }
    guard let found = live(path) else { return ofHandle(path == "call" || !methods ? "Call" : nil, methods: methods) }
    guard let type = found.type else { return methods ? ofHandle(nil, methods: true) : found.names }
    if ScriptReference.types.contains(where: { $0.name == type }) { return ofHandle(type, methods: methods) }
    guard methods else { return found.names }
    // Type arguments are in no selector.
    let owner = String(type.prefix { $0 != "<" })
    return ProcessCatalog.shared.memberNames(of: owner).filter(\.isMethod).map(\.name)
  }

  /// Of a handle of the host.
  /// - Parameter type: nil: nothing tells which it is.
  private static func ofHandle(_ type: String?, methods: Bool) -> [String] {
    guard let type else { return methods ? ScriptReference.handles.filter { $0.kind == .function }.map(\.name) : [] }
    return ScriptReference.members(of: type).filter { !methods || $0.kind == .function }.map(\.name)
  }

  /// The type of what a function of the host answers, or, after ':', a method of a handle; nil where the reference does not tell.
  private static func result(of function: String) -> String? {
    let entry = function.hasPrefix(":") ? ScriptReference.handles.first { $0.name == function.dropFirst() } : ScriptReference.entry(function)
    // Of a statement: what the second step answers.
    return (entry?.result).map { $0.split(separator: ":").last.map { String($0).trimmedBlanks } ?? $0 }
  }

  private static func statics(of type: String, methods: Bool) -> [String] {
    ProcessCatalog.shared.memberNames(of: type).filter { $0.selector.hasPrefix("static ") && $0.selector.hasSuffix(")") == methods }.map(\.name)
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
