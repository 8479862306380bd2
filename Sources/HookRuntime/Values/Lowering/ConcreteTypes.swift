// ConcreteTypes — associated types of known types.
internal import SwiftMangling

extension SILTypeLowering {
  /// A type of the declaration in a body compiled for these generic arguments.
  func filled(_ type: TypeSyntax, _ table: [GenericParameterKey: TypeSyntax]) -> TypeSyntax {
    table.isEmpty ? type : concrete(qualified(type).substituting(table))
  }

  /// The type with each associated type's protocol named, which mangled names leave out where only one has it.
  private func qualified(_ type: TypeSyntax) -> TypeSyntax {
    guard let environment else { return type }
    return type.mapMembers { base, name, owner in
      .dependentMember(base: base, name: name, of: owner ?? environment.protocolDeclaring(name, of: base)?.reference)
    }
  }

  /// The type with `Array<Int>.Element` and the like replaced by what they are, where the runtime knows.
  func concrete(_ type: TypeSyntax) -> TypeSyntax {
    type.mapMembers { base, name, owner in member(name, of: base, owner) ?? .dependentMember(base: base, name: name, of: owner) }
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

  /// The type with its associated types replaced, inner ones first.
  fileprivate func mapMembers(_ change: (TypeSyntax, String, NominalName?) -> TypeSyntax) -> TypeSyntax {
    guard hasMembers else { return self }
    switch self {
    case .dependentMember(let base, let name, let owner): return change(base.mapMembers(change), name, owner)
    case .nominal(let name, let kind, let arguments): return .nominal(name, kind: kind, arguments: arguments.map { $0.mapMembers(change) })
    case .tuple(let elements):
      return .tuple(elements.map { TupleElement(label: $0.label, type: $0.type.mapMembers(change), isVariadic: $0.isVariadic) })
    case .function(var function):
      for index in function.parameters.indices { function.parameters[index].type = function.parameters[index].type.mapMembers(change) }
      function.result = function.result.mapMembers(change)
      return .function(function)
    case .metatype(let instance): return .metatype(instance.mapMembers(change))
    default: return self
    }
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

extension GenericEnvironment {
  /// The protocol that has an associated type of this name, among those the type is required to conform to.
  fileprivate func protocolDeclaring(_ name: String, of type: TypeSyntax) -> ProtocolDescriptor? {
    var waiting = protocols(of: type)
    var seen: Set<ProtocolDescriptor> = []
    while let next = waiting.popLast() {
      guard seen.insert(next).inserted else { continue }
      if next.associatedType(name) != nil { return next }
      waiting += next.signature.compactMap { requirement in
        guard case .conformance(let inherited) = requirement.kind, case .genericParameter? = types.syntax(requirement.subject) else {
          return nil
        }
        return inherited
      }
    }
    return nil
  }

  private func protocols(of type: TypeSyntax) -> [ProtocolDescriptor] {
    let bare = type.withoutProtocols
    var found = conformances.filter { $0.subject.withoutProtocols == bare }.compactMap { types.protocolDescriptor($0.proto) }
    // What the protocol that has the associated type requires of it.
    if case .dependentMember(let base, let name, _) = type, let owner = protocolDeclaring(name, of: base) {
      for requirement in owner.signature {
        guard case .conformance(let other) = requirement.kind,
          case .dependentMember(.genericParameter, name, _)? = types.syntax(requirement.subject)
        else { continue }
        found.append(other)
      }
    }
    return found
  }
}
