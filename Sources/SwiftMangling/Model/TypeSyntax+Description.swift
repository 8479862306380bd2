extension TypeSyntax {
  /// Swift's own spelling: `[T]`, `[K: V]`, `T?`, `(A, B) -> C`, `any P`.
  /// - Parameter qualified: Nominal types carry their module and outer types.
  package func description(qualified: Bool) -> String {
    switch self {
    case .nominal(let name, let kind, let arguments):
      return nominal(name, kind, arguments, qualified)
    case .tuple(let elements):
      let parts = elements.map { element in
        (element.label.map { $0 + ": " } ?? "") + element.type.description(qualified: qualified)
          + (element.isVariadic ? "..." : "")
      }
      return "(" + parts.joined(separator: ", ") + ")"
    case .function(let function): return function.description(qualified: qualified)
    case .existential(let protocols, let superclass, let isClassBound):
      var parts: [String] = []
      if let superclass { parts.append(superclass.description(qualified: qualified)) }
      parts += protocols.map { qualified ? $0.description : $0.shortName }
      if isClassBound, superclass == nil { parts.append(qualified ? "Swift.AnyObject" : "AnyObject") }
      if parts.isEmpty { return "Any" }
      if protocols.isEmpty { return parts[0] }
      return "any " + parts.joined(separator: " & ")
    case .constrainedExistential(let base, let requirements):
      // The usual case names its argument alone.
      let description = requirements.map {
        if case .sameType(let type) = $0.kind { type.description(qualified: true) } else { $0.description }
      }.joined(separator: ", ")
      return base.description(qualified: qualified) + "<" + description + ">"
    case .metatype(let instance):
      return instance.wrapped(qualified) + (instance.isExistential ? ".Protocol" : ".Type")
    case .existentialMetatype(let instance):
      // `any P.Type`, not `(any P).Type`: the metatype of some conforming type.
      return instance.description(qualified: qualified) + ".Type"
    case .genericParameter(let depth, let index):
      return TypeSyntax.parameterName(depth: depth, index: index)
    case .dependentMember(let base, let name, _): return base.description(qualified: qualified) + "." + name
    case .dynamicSelf: return "Self"
    case .builtin(let name): return name
    case .weak(let inner): return "weak " + inner.description(qualified: qualified)
    case .unowned(let inner): return "unowned " + inner.description(qualified: qualified)
    case .unmanaged(let inner): return "unowned(unsafe) " + inner.description(qualified: qualified)
    case .opaqueResult(let owner): return owner.isEmpty ? "some" : "some (result of \(owner))"
    case .pack(let elements):
      return "Pack{" + elements.map { $0.description(qualified: qualified) }.joined(separator: ", ") + "}"
    case .packExpansion(let pattern): return "repeat " + pattern.description(qualified: qualified)
    case .integer(let value): return "\(value)"
    case .constrainedSelf: return "Self"
    case .known: return "_"
    case .unknown(let what): return what
    }
  }

  private func nominal(
    _ name: NominalName, _ kind: NominalKind, _ arguments: [TypeSyntax], _ qualified: Bool
  ) -> String {
    if name.module == "Swift", name.steps.count == 1 {
      switch (name.shortName, arguments.count) {
      case ("Optional", 1): return arguments[0].wrapped(qualified) + "?"
      case ("Array", 1): return "[" + arguments[0].description(qualified: qualified) + "]"
      case ("Dictionary", 2):
        return "[" + arguments[0].description(qualified: qualified) + ": "
          + arguments[1].description(qualified: qualified) + "]"
      default: break
      }
    }
    guard !arguments.isEmpty else { return qualified ? name.description : name.shortName }
    // A name made by hand does not say whose arguments they are: then they are the last step's.
    var counts = name.steps.map(\.argumentCount)
    if counts.reduce(0, +) != arguments.count, let last = counts.indices.last {
      counts = counts.map { _ in 0 }
      counts[last] = arguments.count
    }
    var text = qualified ? name.module : ""
    var used = 0
    for (position, step) in name.steps.enumerated() {
      let own = arguments[used..<used + counts[position]]
      used += own.count
      guard qualified || position == name.steps.count - 1 else { continue }
      text += (qualified ? "." : "") + step.name
      if qualified, let discriminator = step.privateDiscriminator { text += "#" + discriminator }
      if !own.isEmpty {
        text += "<" + own.map { $0.description(qualified: qualified) }.joined(separator: ", ") + ">"
      }
    }
    return text
  }

  /// In parentheses where a postfix `?` or `.Type` would bind to a part only.
  private func wrapped(_ qualified: Bool) -> String {
    let text = description(qualified: qualified)
    switch self {
    case .function, .existential, .constrainedExistential, .opaqueResult, .existentialMetatype,
      .weak, .unowned, .unmanaged, .packExpansion:
      return text == "Any" || !text.contains(" ") ? text : "(" + text + ")"
    default: return text
    }
  }

  private var isExistential: Bool {
    switch self {
    case .existential, .constrainedExistential: true
    default: false
    }
  }

  /// `A`, `B`, … at depth 0, `A1`, `B1`, … at depth 1.
  private static func parameterName(depth: Int, index: Int) -> String {
    var name = ""
    var rest = index
    repeat {
      name.unicodeScalars.append(Unicode.Scalar(UInt8(ascii: "A") + UInt8(rest % 26)))
      rest /= 26
    } while rest > 0
    return depth == 0 ? name : name + "\(depth)"
  }

  /// Some part is a generic parameter or an associated type of one.
  package var mentionsGenericParameter: Bool {
    switch self {
    case .genericParameter, .dependentMember: true
    case .nominal(_, _, let arguments): arguments.contains { $0.mentionsGenericParameter }
    case .tuple(let elements): elements.contains { $0.type.mentionsGenericParameter }
    case .function(let function):
      function.result.mentionsGenericParameter
        || function.parameters.contains { $0.type.mentionsGenericParameter }
        || function.throwsGeneric
    case .existential(_, let superclass, _): superclass?.mentionsGenericParameter ?? false
    case .constrainedExistential(let inner, _), .metatype(let inner), .existentialMetatype(let inner),
      .dynamicSelf(let inner), .weak(let inner), .unowned(let inner), .unmanaged(let inner),
      .packExpansion(let inner):
      inner.mentionsGenericParameter
    case .pack(let elements): elements.contains { $0.mentionsGenericParameter }
    case .builtin, .opaqueResult, .integer, .known, .constrainedSelf, .unknown: false
    }
  }
}

extension FunctionType {
  /// `(Int, inout String) async throws -> Bool` with attributes in front.
  package func description(qualified: Bool) -> String {
    var text = ""
    if isSendable { text += "@Sendable " }
    switch convention {
    case .thin: text += "@convention(thin) "
    case .c: text += "@convention(c) "
    case .block, .escapingBlock: text += "@convention(block) "
    default: break
    }
    switch isolation {
    case .globalActor(let actor): text += "@" + actor.description(qualified: qualified) + " "
    case .erased: text += "@isolated(any) "
    case .caller: text += "nonisolated(nonsending) "
    case .unspecified: break
    }
    text += "(" + parameters.map { $0.description(qualified: qualified) }.joined(separator: ", ") + ")"
    text += effects(qualified: qualified) + " -> "
    if hasSendingResult { text += "sending " }
    return text + result.description(qualified: qualified)
  }

  /// ` async throws(E)`, with a leading space when there is any.
  package func effects(qualified: Bool) -> String {
    var text = isAsync ? " async" : ""
    switch thrown {
    case .never: break
    case .any: text += " throws"
    case .typed(let error): text += " throws(" + error.description(qualified: qualified) + ")"
    }
    return text
  }

  var throwsGeneric: Bool {
    if case .typed(let error) = thrown { error.mentionsGenericParameter } else { false }
  }
}

extension Parameter {
  /// The type with its modifiers, without the label.
  package func description(qualified: Bool) -> String {
    var text = ""
    if isAutoclosure { text += "@autoclosure " }
    if isIsolated { text += "isolated " }
    if isSending { text += "sending " }
    if isInout { text += "inout " }
    switch ownership {
    case .borrowed: text += "borrowing "
    case .owned: text += "consuming "
    case .default: break
    }
    return text + type.description(qualified: qualified) + (isVariadic ? "..." : "")
  }
}
