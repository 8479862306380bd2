/// Which generic parameter a type names.
package struct GenericParameterKey: Hashable, Sendable {
  package var depth: Int
  package var index: Int
  package init(depth: Int, index: Int) {
    self.depth = depth
    self.index = index
  }
}

extension TypeSyntax {
  /// The type with generic parameters replaced; those that are not in the table stay.
  ///
  /// A member of a replaced parameter (`T.Element`) stays a dependent member of the replacement: only the runtime knows
  /// what it is.
  package func substituting(_ table: [GenericParameterKey: TypeSyntax]) -> TypeSyntax {
    if table.isEmpty || !isGenericSyntax { return self }
    let apply = { (type: TypeSyntax) in type.substituting(table) }
    switch self {
    case .genericParameter(let depth, let index): return table[GenericParameterKey(depth: depth, index: index)] ?? self
    case .dependentMember(let base, let name, let owner): return .dependentMember(base: apply(base), name: name, of: owner)
    case .nominal(let name, let kind, let arguments): return .nominal(name, kind: kind, arguments: arguments.map(apply))
    case .tuple(let elements):
      return .tuple(elements.map { TupleElement(label: $0.label, type: apply($0.type), isVariadic: $0.isVariadic) })
    case .function(var function):
      for index in function.parameters.indices { function.parameters[index].type = apply(function.parameters[index].type) }
      function.result = apply(function.result)
      if case .typed(let error) = function.thrown { function.thrown = .typed(apply(error)) }
      return .function(function)
    case .existential(let protocols, let superclass?, let isClassBound):
      return .existential(protocols: protocols, superclass: apply(superclass), isClassBound: isClassBound)
    case .constrainedExistential(let base, let requirements):
      return .constrainedExistential(
        apply(base),
        requirements: requirements.map {
          var requirement = $0
          if case .sameType(let type) = requirement.kind { requirement.kind = .sameType(apply(type)) }
          return requirement
        })
    case .metatype(let type): return .metatype(apply(type))
    case .existentialMetatype(let type): return .existentialMetatype(apply(type))
    case .dynamicSelf(let type): return .dynamicSelf(apply(type))
    case .weak(let type): return .weak(apply(type))
    case .unowned(let type): return .unowned(apply(type))
    case .unmanaged(let type): return .unmanaged(apply(type))
    case .pack(let types): return .pack(types.map(apply))
    case .packExpansion(let type): return .packExpansion(apply(type))
    case .existential, .builtin, .opaqueResult, .integer, .known, .constrainedSelf, .unknown: return self
    }
  }

  /// The type with each associated type replaced, innermost first.
  package func mappingMembers(_ change: (TypeSyntax) -> TypeSyntax) -> TypeSyntax {
    func apply(_ type: TypeSyntax) -> TypeSyntax { type.mappingMembers(change) }
    switch self {
    case .dependentMember(let base, let name, let owner): return change(.dependentMember(base: apply(base), name: name, of: owner))
    case .nominal(let name, let kind, let arguments): return .nominal(name, kind: kind, arguments: arguments.map(apply))
    case .tuple(let elements):
      return .tuple(elements.map { TupleElement(label: $0.label, type: apply($0.type), isVariadic: $0.isVariadic) })
    case .function(var function):
      for index in function.parameters.indices { function.parameters[index].type = apply(function.parameters[index].type) }
      function.result = apply(function.result)
      return .function(function)
    case .metatype(let type): return .metatype(apply(type))
    case .dynamicSelf(let type): return .dynamicSelf(apply(type))
    default: return self
    }
  }

  /// A generic parameter occurs in the type.
  private var isGenericSyntax: Bool {
    switch self {
    case .genericParameter, .dependentMember, .pack, .packExpansion, .constrainedExistential: true
    case .nominal(_, _, let arguments): arguments.contains(where: \.isGenericSyntax)
    case .tuple(let elements): elements.contains { $0.type.isGenericSyntax }
    case .function(let function):
      function.parameters.contains { $0.type.isGenericSyntax } || function.result.isGenericSyntax || function.thrown != .never
    case .existential(_, let superclass, _): superclass?.isGenericSyntax ?? false
    case .metatype(let type), .existentialMetatype(let type), .dynamicSelf(let type), .weak(let type), .unowned(let type),
      .unmanaged(let type):
      type.isGenericSyntax
    case .builtin, .integer, .known, .constrainedSelf, .unknown, .opaqueResult: false
    }
  }
}
