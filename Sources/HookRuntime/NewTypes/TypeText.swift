// TypeText — types as people write them: `Int`, `Shop.Cart`, `[String: Int]`, `Double?`, `Any`, `any Shop.CartDelegate`.
internal import SwiftMangling

package enum TypeText {
  /// Why a text is no type here.
  package struct Problem: Error, Sendable {
    package let description: String
  }

  package static func metadata(_ text: String) throws(Problem) -> Metadata {
    let text = text.trimmingSpaces
    if text.hasSuffix("?") { return Metadata(optional(of: try metadata(String(text.dropLast())).type)) }
    if text.hasPrefix("["), text.hasSuffix("]") { return try collection(String(text.dropFirst().dropLast())) }
    if text.hasPrefix("("), text.hasSuffix(")") {
      let inside = String(text.dropFirst().dropLast())
      if inside.trimmingSpaces.isEmpty { return Metadata(Void.self) }
      if split(inside, at: ",").count == 1 { return try metadata(inside) }
    }
    switch text {
    case "Any", "Swift.Any": return Metadata(Any.self)
    case "AnyObject", "Swift.AnyObject": return Metadata(AnyObject.self)
    case "Void", "Swift.Void": return Metadata(Void.self)
    case "Error", "any Error", "Swift.Error": return Metadata((any Error).self)
    default: break
    }
    if text.hasPrefix("any ") { return try existential(String(text.dropFirst(4))) }
    guard let found = TypeCatalog.shared.metadata(text) ?? TypeCatalog.shared.metadata("Swift." + text) else {
      // The standard library's are spelled without it.
      let standard = NearestNames.types(to: "Swift." + text).filter { $0.hasPrefix("Swift.") }.map { String($0.dropFirst(6)) }
      throw Problem(description: LookupError.noType(text, nearest: standard.isEmpty ? NearestNames.types(to: text) : standard).description)
    }
    return found
  }

  private static func optional(of type: Any.Type) -> Any.Type {
    func make<T>(_: T.Type) -> Any.Type { T?.self }
    return _openExistential(type, do: make)
  }

  private static func collection(_ inside: String) throws(Problem) -> Metadata {
    func array<T>(_: T.Type) -> Any.Type { [T].self }
    func dictionary<K: Hashable, V>(_: K.Type, _: V.Type) -> Any.Type { [K: V].self }
    let parts = split(inside, at: ":")
    let last = try metadata(parts[parts.count - 1]).type
    guard parts.count == 2 else { return Metadata(_openExistential(last, do: array)) }
    guard let key = try metadata(parts[0]).type as? any Hashable.Type else {
      throw Problem(description: "'\(parts[0])' is no type of keys")
    }
    func open<V>(_ value: V.Type) -> Any.Type { dictionary(key, value) }
    return Metadata(_openExistential(last, do: open))
  }

  private static func existential(_ name: String) throws(Problem) -> Metadata {
    var steps = name.split(separator: ".").map(String.init)
    let module = steps.count > 1 ? steps.removeFirst() : "Swift"
    let nominal = NominalName(module: module, steps: steps.map { .init(name: $0, kind: .protocolType) })
    switch TypeResolver.shared.type(.existential(protocols: [nominal], superclass: nil, isClassBound: false)) {
    case .success(let info): return info.metadata
    case .failure(let problem): throw Problem(description: problem.description)
    }
  }

  /// The parts between separators that no bracket encloses.
  static func split(_ text: String, at separator: Character) -> [String] {
    var parts = [""]
    var depth = 0
    for character in text {
      switch character {
      case "(", "[", "<": depth += 1
      case ")", "]", ">": depth -= 1
      case separator where depth == 0:
        parts.append("")
        continue
      default: break
      }
      parts[parts.count - 1].append(character)
    }
    return parts
  }
}

extension String {
  fileprivate var trimmingSpaces: String {
    var text = self[...]
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}

extension MethodSignature {
  /// `discount(for: String, _: Int) -> Double`; without types, `discount(for:_:)`, everything is `Any?`.
  package init(text: String) throws(NewTypeError) {
    guard let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")"), open < close else {
      throw .method(text, reason: Self.noMethod)
    }
    let name = String(text[..<open]).trimmingSpaces
    let tail = String(text[text.index(after: close)...]).trimmingSpaces
    let inside = String(text[text.index(after: open)..<close])
    if tail.isEmpty, !inside.contains(": ") {
      let any = Metadata(Any?.self)
      try self.init("\(name)(\(inside))", parameters: inside.split(separator: ":").map { _ in any }, result: any)
      return
    }
    let types: (labels: String, parameters: [Metadata], result: Metadata)
    do throws(TypeText.Problem) { types = try Self.types(inside, tail) } catch { throw .method(text, reason: error.description) }
    try self.init("\(name)(\(types.labels))", parameters: types.parameters, result: types.result)
  }

  /// What is between the parentheses, and behind them.
  private static func types(_ inside: String, _ tail: String) throws(TypeText.Problem) -> (String, [Metadata], Metadata) {
    guard tail.isEmpty || tail.hasPrefix("->") else { throw TypeText.Problem(description: "'->' and a type are expected behind ')'") }
    let result = tail.isEmpty ? Metadata(Void.self) : try TypeText.metadata(String(tail.dropFirst(2)))
    var labels = ""
    var parameters: [Metadata] = []
    for part in TypeText.split(inside, at: ",") where !part.trimmingSpaces.isEmpty {
      let pieces = TypeText.split(part, at: ":")
      guard pieces.count == 2 else { throw TypeText.Problem(description: "'\(part.trimmingSpaces)' is no 'label: Type'") }
      labels += pieces[0].trimmingSpaces + ":"
      parameters.append(try TypeText.metadata(pieces[1]))
    }
    return (labels, parameters, result)
  }
}
