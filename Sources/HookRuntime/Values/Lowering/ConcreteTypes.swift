// ConcreteTypes — associated types of known types.
internal import SwiftMangling

extension SILTypeLowering {
  /// The type with `Array<Int>.Element` and the like replaced by what they are, where the runtime knows.
  func concrete(_ type: TypeSyntax) -> TypeSyntax {
    guard type.hasMembers else { return type }
    switch type {
    case .dependentMember(let base, let name, let owner):
      let base = concrete(base)
      return member(name, of: base, owner) ?? .dependentMember(base: base, name: name, of: owner)
    case .nominal(let name, let kind, let arguments): return .nominal(name, kind: kind, arguments: arguments.map(concrete))
    case .tuple(let elements):
      return .tuple(elements.map { TupleElement(label: $0.label, type: concrete($0.type), isVariadic: $0.isVariadic) })
    case .function(var function):
      for index in function.parameters.indices { function.parameters[index].type = concrete(function.parameters[index].type) }
      function.result = concrete(function.result)
      return .function(function)
    case .metatype(let instance): return .metatype(concrete(instance))
    default: return type
    }
  }

  private func member(_ name: String, of base: TypeSyntax, _ owner: NominalName?) -> TypeSyntax? {
    guard let owner, !base.isGeneric, let conforming = info(base)?.metadata, let declaring = types.protocolDescriptor(owner),
      let found = conforming.associatedType(name, of: declaring)
    else { return nil }
    return TypeSyntax(found)
  }
}

extension TypeSyntax {
  /// The type as the runtime spells it; nil for what names cannot spell, private types among them.
  init?(_ metadata: Metadata) {
    guard let mangled = _mangledTypeName(metadata.type) else { return nil }
    var parser = SymbolParser()
    guard let type = Array(mangled.utf8).withUnsafeBufferPointer({ parser.type($0) }) else { return nil }
    self = type
  }

  fileprivate var hasMembers: Bool {
    switch self {
    case .dependentMember: true
    case .nominal(_, _, let arguments): arguments.contains(where: \.hasMembers)
    case .tuple(let elements): elements.contains { $0.type.hasMembers }
    case .function(let function): function.parameters.contains { $0.type.hasMembers } || function.result.hasMembers
    case .metatype(let instance): instance.hasMembers
    default: false
    }
  }
}
