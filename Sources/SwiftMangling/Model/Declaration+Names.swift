extension Declaration {
  /// The name people write: `Shop.Cart.add(_:price:)`, `static Shop.Cart.make()`, `Shop.Cart.title.get`.
  ///
  /// Closures and default arguments name their owner: `closure #1 in Shop.Cart.add(_:)`; a local
  /// function follows the one it is in: `Shop.Cart.add(_:).helper()`.
  package var selectorName: String { spelled(labelList) }

  /// The selector with its types: `Shop.Tree.visit(_: FunctionDeclSyntax) async throws -> R`.
  ///
  /// A Void result is left out, and so is the result of an initialiser.
  /// - Parameter qualified: Types carry their module and outer types.
  package func typedName(qualified: Bool) -> String {
    let kind = wrappedKind ?? kind
    let isProperty = kind.isAccessor && !isSubscript || kind == .variable || kind == .variableInitializer
    guard !isProperty, case .function(let function)? = type else {
      guard let type, isProperty else { return selectorName }
      return selectorName + " -> " + type.description(qualified: qualified)
    }
    var parameters: [String] = []
    for parameter in function.parameters {
      parameters.append((parameter.label ?? "_") + ": " + parameter.description(qualified: qualified))
    }
    var name = spelled("(" + parameters.joined(separator: ", ") + ")")
    if kind == .importedFunction { name += "(" + parameters.joined(separator: ", ") + ")" }
    name += function.effects(qualified: qualified)
    if kind != .allocatingInit, kind != .`init`, function.result != .tuple([]) {
      name += " -> " + function.result.description(qualified: qualified)
    }
    return name
  }

  /// The name of what the declaration is a member of: a type's, a module's, with local functions appended.
  package var contextName: String {
    var text = context?.description ?? module
    for function in localContext { text += "." + function }
    return text
  }

  private func spelled(_ arguments: String) -> String { spelled(arguments, as: kind) }

  private func spelled(_ arguments: String, as kind: EntityKind) -> String {
    let prefix = isStatic ? "static " : ""
    switch kind {
    case .explicitClosure, .implicitClosure: return name + " in " + prefix + contextName
    case .defaultArgument: return name + " of " + prefix + contextName
    case .variableInitializer: return "initial value of " + prefix + contextName + "." + name
    case .type: return contextName
    case .compilerMade(let words):
      if let wrappedKind { return words + " for " + spelled(arguments, as: wrappedKind) }
      // A record of a type has the type as its context.
      return context == nil ? words : words + " for " + contextName
    case .importedFunction: return contextName + "." + name
    default: return prefix + member(arguments, kind)
    }
  }

  private func member(_ arguments: String, _ kind: EntityKind) -> String {
    var text = contextName + "." + (kind == .function && Self.memberKeywords.contains(name) ? "`\(name)`" : name)
    if kind.isAccessor || kind == .subscriptDeclaration || kind == .variable {
      if isSubscript { text += arguments }
      let word = kind.accessorWord
      return word.isEmpty ? text : text + "." + word
    }
    if case .function? = type { text += arguments }
    return text
  }

  /// A function of such a name is declared, and spelled, with backticks: ``func `init`()``.
  private static let memberKeywords: Set<String> = ["init", "deinit", "subscript"]

  private var labelList: String {
    "(" + labels.map { ($0 ?? "_") + ":" }.joined() + ")"
  }
}
