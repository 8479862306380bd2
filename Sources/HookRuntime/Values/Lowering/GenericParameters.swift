// GenericParameters — which generic parameters a declaration has, those of the types around it first.
internal import SwiftMangling

extension SILTypeLowering {
  /// The type the declaration is a member of, with its own parameters for arguments; nil for free functions.
  func selfType(of declaration: Declaration) -> TypeSyntax? {
    guard var name = declaration.context, let kind = declaration.contextKind else { return nil }
    // Whatever conforms: the first parameter of the protocol's own signature.
    if kind == .protocolType { return .genericParameter(depth: 0, index: 0) }
    guard let levels = parameterCounts(of: name) else { return .nominal(name, kind: kind, arguments: []) }
    var arguments: [TypeSyntax] = []
    var depth = 0
    for (step, count) in levels.enumerated() {
      name.steps[step].argumentCount = count
      guard count > 0 else { continue }
      arguments += (0..<count).map { .genericParameter(depth: depth, index: $0) }
      depth += 1
    }
    return .nominal(name, kind: kind, arguments: arguments)
  }

  /// How many generic parameters each step of a type's name adds; nil when a step is not found in this process.
  private func parameterCounts(of name: NominalName) -> [Int]? {
    var counts: [Int] = []
    var total = 0
    for end in name.steps.indices {
      let outer = NominalName(module: name.module, steps: Array(name.steps[...end]))
      guard let descriptor = types.descriptor(outer) else { return nil }
      // A descriptor counts the parameters of the types around it as well.
      let all = descriptor.genericContext?.parameters.count ?? 0
      counts.append(max(0, all - total))
      total = max(total, all)
    }
    return counts
  }

  /// All generic parameters of the declaration, in the order specialisations list their arguments: without those that a
  /// same-type requirement makes another type. nil when they are not known.
  func parameters(of declaration: Declaration) -> [GenericParameterKey]? {
    var levels: [Int] = []
    if let context = declaration.context {
      if declaration.contextKind == .protocolType {
        levels = [1]
      } else {
        guard let counts = parameterCounts(of: context) else { return nil }
        levels = counts.filter { $0 > 0 }
      }
    }
    let fixed = Set(declaration.requirements.compactMap(\.fixedParameter))
    let own = declaration.genericParameterCounts.filter { $0 > 0 }
    var keys: [GenericParameterKey] = []
    for (depth, count) in (levels + own).enumerated() { keys += (0..<count).map { GenericParameterKey(depth: depth, index: $0) } }
    return keys.filter { !fixed.contains($0) }
  }

  /// What same-type requirements make of the declaration's parameters.
  func fixedParameters(of declaration: Declaration) -> [GenericParameterKey: TypeSyntax] {
    var table: [GenericParameterKey: TypeSyntax] = [:]
    for requirement in declaration.requirements {
      guard let key = requirement.fixedParameter, case .sameType(let other) = requirement.kind else { continue }
      table[key] = requirement.subject.key == key ? other : requirement.subject
    }
    return table
  }
}

extension GenericRequirement {
  /// The parameter that a same-type requirement makes another type: of two parameters the later one. One that equals an
  /// associated type stays: the associated type is what gives way.
  var fixedParameter: GenericParameterKey? {
    guard case .sameType(let other) = kind else { return nil }
    if case .dependentMember = other { return nil }
    guard let key = subject.key, let second = other.key else { return subject.key }
    return (key.depth, key.index) < (second.depth, second.index) ? second : key
  }
}

extension TypeSyntax {
  /// Of a generic parameter; nil for any other type.
  var key: GenericParameterKey? {
    if case .genericParameter(let depth, let index) = self { GenericParameterKey(depth: depth, index: index) } else { nil }
  }
}
