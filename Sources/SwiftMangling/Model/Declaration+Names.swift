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
    guard case .function(let function)? = type else {
      guard let type, kind.isAccessor || kind == .variable || kind == .variableInitializer else {
        return selectorName
      }
      return selectorName + " -> " + type.description(qualified: qualified)
    }
    var parameters: [String] = []
    for parameter in function.parameters {
      parameters.append((parameter.label ?? "_") + ": " + parameter.description(qualified: qualified))
    }
    var name = spelled("(" + parameters.joined(separator: ", ") + ")")
    name += function.effects(qualified: qualified)
    if self.name != "init", function.result != .tuple([]) {
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

  private func spelled(_ arguments: String) -> String {
    let prefix = isStatic ? "static " : ""
    switch kind {
    case .explicitClosure, .implicitClosure: return name + " in " + prefix + contextName
    case .defaultArgument: return name + " of " + prefix + contextName
    case .variableInitializer: return "initial value of " + prefix + contextName + "." + name
    case .type: return contextName
    case .compilerMade(let words):
      // A record of a type names the type as its context.
      if name.isEmpty { return words }
      let isTypeRecord = type == nil && name == context?.shortName && localContext.isEmpty
      return words + " for " + prefix + (isTypeRecord ? contextName : member(arguments))
    default: return prefix + member(arguments)
    }
  }

  private func member(_ arguments: String) -> String {
    var text = contextName + "." + name
    if kind.isAccessor || kind == .subscriptDeclaration || kind == .variable {
      if name == "subscript" { text += arguments }
      let word = kind.accessorWord
      return word.isEmpty ? text : text + "." + word
    }
    if name != "deinit", case .function? = type { text += arguments }
    return text
  }

  private var labelList: String {
    "(" + labels.map { ($0 ?? "_") + ":" }.joined() + ")"
  }
}
