// CompletionReceiver — what stands before the '.' or ':' of a name that somebody types: names, or a call, whose result the reference may know.

/// Read backwards from the mark, byte by byte: what is typed need not be whole before it.
enum CompletionReceiver: Equatable {
  /// `cart.user`: names alone.
  case path(String)
  /// The result of a function, `method` or `swift.new`, or of a method, `:before`; with the text that is its only or first argument.
  case call(String, argument: String?)
  /// An element of what a function answers: `hooks()[1]`.
  case element(of: String)
  case text
  /// An expression of which nothing is known.
  case other

  /// - Parameter bytes: what stands before the mark.
  init(endOf bytes: ArraySlice<UInt8>) {
    let bytes = bytes.withoutBlanks
    guard let last = bytes.last else {
      self = .other
      return
    }
    switch last {
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      guard let open = bytes.openingQuote else {
        self = .other
        return
      }
      self = Self.called(by: bytes[..<open], with: String(decoding: bytes[(open + 1)...].dropLast(), as: UTF8.self))
    case UInt8(ascii: ")"), UInt8(ascii: "}"): self = Self.closed(bytes)
    case UInt8(ascii: "]"):
      guard let open = bytes.openingBracket, case .call(let function, _) = CompletionReceiver(endOf: bytes[..<open]) else {
        self = .other
        return
      }
      self = .element(of: function)
    default:
      let path = bytes.path
      self = path.isEmpty || path.hasPrefix(".") ? .other : .path(path)
    }
  }

  /// `f(…)`, `f {…}`, `f "…" {…}` and `(…)`.
  private static func closed(_ bytes: ArraySlice<UInt8>) -> CompletionReceiver {
    guard let open = bytes.openingBracket else { return .other }
    let inner = bytes[(open + 1)...].dropLast()
    let argument = inner.first.flatMap { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") ? $0 : nil }.map { quote in
      String(decoding: inner.dropFirst().prefix { $0 != quote }, as: UTF8.self)
    }
    let before = bytes[..<open].withoutBlanks
    if before.last == UInt8(ascii: "\"") || before.last == UInt8(ascii: "'") { return CompletionReceiver(endOf: before) }
    let found = called(by: before, with: argument)
    return found == .other && argument != nil && bytes.last == UInt8(ascii: ")") && before.path.isEmpty ? .text : found
  }

  private static func called(by bytes: ArraySlice<UInt8>, with argument: String?) -> CompletionReceiver {
    let bytes = bytes.withoutBlanks
    let path = bytes.path
    guard !path.isEmpty, !path.hasPrefix(".") else { return .other }
    let isMethod = bytes.dropLast(path.utf8.count).last == UInt8(ascii: ":")
    return .call(isMethod ? ":" + path : path, argument: argument)
  }
}

extension ArraySlice<UInt8> {
  /// The bytes that are left when blanks at the end are taken away.
  fileprivate var withoutBlanks: ArraySlice<UInt8> { self[..<(lastIndex { $0 != 32 && !(9...13).contains($0) }.map { $0 + 1 } ?? startIndex)] }

  /// The names and dots that it ends with.
  fileprivate var path: String {
    let start = lastIndex { !$0.isPartOfName && $0 != UInt8(ascii: ".") }.map { $0 + 1 } ?? startIndex
    return String(decoding: self[start...], as: UTF8.self)
  }

  /// Where the text begins that it ends with.
  fileprivate var openingQuote: Int? {
    guard let quote = last else { return nil }
    return dropLast().lastIndex(of: quote)
  }

  /// Where the bracket opens that it ends with; brackets in texts do not count.
  fileprivate var openingBracket: Int? {
    var depth = 0
    var at = endIndex
    while at > startIndex {
      at -= 1
      switch self[at] {
      case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): depth += 1
      case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"):
        depth -= 1
        if depth == 0 { return at }
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        guard let open = self[...at].openingQuote else { return nil }
        at = open
      default: break
      }
    }
    return nil
  }
}

extension UInt8 {
  /// It stands in names of Lua.
  var isPartOfName: Bool { (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) || self == 0x5F }
}
