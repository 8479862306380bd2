// GenericEnvironment — the generic signature a declaration is compiled under: its parameters and what is required of them.
//
// What the declaration adds is in its mangled name; what its type is generic over is in the type's descriptor. How a value
// travels, and which metadata a call passes, follow this signature, never the types of one call.
package import SwiftMangling

package struct GenericEnvironment: Sendable {
  package struct Parameter: Sendable {
    package enum Kind: Sendable { case type, pack, value }
    package let key: GenericParameterKey
    package var kind = Kind.type
    /// Values are one reference.
    package var isClass = false
    package var superclass: TypeSyntax?
    /// A same-type requirement says what it is.
    package var concrete: TypeSyntax?
  }
  /// `A: P`, for a subject that may be an associated type.
  package struct Conformance: Hashable, Sendable {
    package var subject: TypeSyntax
    package var proto: NominalName
  }

  /// They stand in the order of depth and index.
  package private(set) var parameters: [Parameter] = []
  /// Those that need a witness table, in canonical order as far as known.
  package private(set) var conformances: [Conformance] = []
  /// How many of `parameters` the enclosing types declare.
  package private(set) var contextCount = 0
  /// The number and order of witness tables are certain.
  package private(set) var tablesAreKnown = true
  /// Of a witness: the type that conforms, and the conformance whose table it was found in. Both are passed behind all others.
  private(set) var witnessSelf: (key: GenericParameterKey, conformance: Conformance)?
  /// Associated types that are classes, or a certain type.
  private(set) var classMembers: Set<TypeSyntax> = []
  private(set) var concreteMembers: [TypeSyntax: TypeSyntax] = [:]
  let types: TypeResolver

  package var isEmpty: Bool { parameters.isEmpty }
  /// Same-type requirements make every parameter a certain type: calls bring neither metadata nor witness tables.
  var isFixed: Bool { !isEmpty && witnessSelf == nil && parameters.allSatisfy { $0.concrete != nil } }
  package var hasPacks: Bool { parameters.contains { $0.kind == .pack } }

  /// Parameters that a same-type requirement makes another type, in terms of those that stay.
  var fixed: [GenericParameterKey: TypeSyntax] {
    var table: [GenericParameterKey: TypeSyntax] = [:]
    for parameter in parameters { table[parameter.key] = parameter.concrete }
    // `B == A` and `A == Int`, one of the type and one of an extension.
    return table.mapValues { type in type.deepestParameter < 0 ? type : type.substituting(table) }
  }

  package func parameter(_ key: GenericParameterKey) -> Parameter? { parameters.first { $0.key == key } }
  package func position(_ key: GenericParameterKey) -> Int? { parameters.firstIndex { $0.key == key } }

  /// - Throws: a sentence when the signature cannot be known for certain.
  package init(_ declaration: Declaration, types: TypeResolver) throws(TypeProblem) {
    self.types = types
    try addContext(declaration)
    contextCount = parameters.count
    addOwnParameters(declaration)
    for requirement in declaration.requirements { try add(requirement) }
    settleTables()
    if declaration.isWitness, let conforming = parameters.first?.key {
      let own = TypeSyntax.genericParameter(depth: conforming.depth, index: conforming.index)
      witnessSelf = conformances.first { $0.subject == own && $0.proto == declaration.context }.map { (conforming, $0) }
    }
  }

  /// What the fields of a type are declared under.
  init(fieldsOf descriptor: TypeDescriptor, types: TypeResolver) throws(TypeProblem) {
    self.types = types
    try addContext(descriptor)
    contextCount = parameters.count
  }

  // MARK: The enclosing type

  private mutating func addContext(_ declaration: Declaration) throws(TypeProblem) {
    guard let context = declaration.context, let kind = declaration.contextKind else { return }
    if kind == .protocolType {
      let key = GenericParameterKey(depth: 0, index: 0)
      parameters.append(Parameter(key: key))
      return try add(GenericRequirement(subject: .genericParameter(depth: 0, index: 0), kind: .conformance(context), description: ""))
    }
    guard let descriptor = types.descriptor(context) else {
      throw .unresolved(context.description)
    }
    try addContext(descriptor)
  }

  private mutating func addContext(_ descriptor: TypeDescriptor) throws(TypeProblem) {
    guard let generic = descriptor.genericContext else {
      if descriptor.isGeneric { throw .layout("a generic type") }
      return
    }
    try addParameters(generic, levels: descriptor.genericLevels)
    for requirement in generic.requirements { try add(types.requirement(requirement), isKey: requirement.isKey) }
  }

  private mutating func addParameters(_ generic: GenericContext, levels: [Int]) throws(TypeProblem) {
    var rest = generic.parameters[...]
    for (depth, count) in levels.enumerated() {
      for index in 0..<count {
        guard let parameter = rest.popFirst() else { throw .layout("a generic type") }
        var made = Parameter(key: GenericParameterKey(depth: depth, index: index))
        switch parameter.kind {
        case .type: break
        case .pack: made.kind = .pack
        case .value: made.kind = .value
        }
        parameters.append(made)
      }
    }
    guard rest.isEmpty else { throw .layout("a generic type") }
  }

  // MARK: The declaration's own

  private mutating func addOwnParameters(_ declaration: Declaration) {
    let start = (parameters.last?.key.depth ?? -1) + 1
    // Requirements alone, on the only parameter of the type, are spelled with that parameter.
    if start == 1, parameters.count == 1, declaration.genericParameterCounts == [1], !declaration.mentions(depth: 1) { return }
    for (level, count) in declaration.genericParameterCounts.enumerated() {
      for index in 0..<count { parameters.append(Parameter(key: GenericParameterKey(depth: start + level, index: index))) }
    }
  }

  private mutating func add(_ requirement: GenericRequirement, isKey: Bool = true) throws(TypeProblem) {
    let subject = requirement.subject
    switch requirement.kind {
    case .conformance(let proto):
      // Marker protocols exist for the compiler only.
      if proto.isMarker { return }
      guard let descriptor = types.protocolDescriptor(proto) else { throw .unresolved(proto.description) }
      if descriptor.isClassBound { markClass(subject) }
      let conformance = Conformance(subject: subject, proto: proto)
      guard isKey, !conformances.contains(conformance) else { return }
      // Two sources speak of one subject: one protocol may imply the other, which leaves the signature then.
      if conformances.contains(where: { $0.subject == subject }), contextCount > 0 { tablesAreKnown = false }
      conformances.append(conformance)
      // Tables come in the order of their subjects; `sorted` keeps the order of equal ones.
      conformances.sort { $0.subject.subjectOrder.lexicographicallyPrecedes($1.subject.subjectOrder) }
    case .superclass(let type):
      markClass(subject)
      change(subject) { $0.superclass = type }
    case .classLayout: markClass(subject)
    case .sameType(let type): addSameType(requirement, type)
    case .pack: change(subject) { $0.kind = .pack }
    case .value: change(subject) { $0.kind = .value }
    case .sameShape, .inverse, .layout, .other: break
    }
  }

  /// Of a parameter and an associated type the parameter stays, whichever is named first: a call passes what it is.
  private mutating func addSameType(_ requirement: GenericRequirement, _ type: TypeSyntax) {
    let subject = requirement.subject
    if let key = requirement.fixedParameter {
      let other = subject.key == key ? type : subject
      change(.genericParameter(depth: key.depth, index: key.index)) { $0.concrete = other }
    } else if subject.key != nil {
      concreteMembers[type.withoutProtocols] = subject
    } else {
      concreteMembers[subject.withoutProtocols] = type
    }
  }

  /// What is fixed needs no table, equal members share one, and what the protocols of an associated type ask of it they ask
  /// of the parameter that it equals: which tables are left then is not worked out here.
  private mutating func settleTables() {
    for (key, type) in fixed {
      let fixed = TypeSyntax.genericParameter(depth: key.depth, index: key.index)
      if conformances.contains(where: { $0.subject == fixed || $0.subject == type }) { tablesAreKnown = false }
    }
    for (member, type) in concreteMembers {
      let own = conformances.filter { $0.subject.withoutProtocols == type.withoutProtocols }
      if conformances.contains(where: { $0.subject.withoutProtocols == member }) { tablesAreKnown = false }
      guard !own.isEmpty else { continue }
      let implied = protocols(of: naming(member))
      if own.contains(where: { types.protocolDescriptor($0.proto).map(implied.contains) ?? true }) { tablesAreKnown = false }
    }
  }

  private mutating func change(_ subject: TypeSyntax, _ body: (inout Parameter) -> Void) {
    guard case .genericParameter(let depth, let index) = subject, let position = position(GenericParameterKey(depth: depth, index: index))
    else { return }
    body(&parameters[position])
  }

  private mutating func markClass(_ subject: TypeSyntax) {
    if case .genericParameter = subject { change(subject) { $0.isClass = true } } else { classMembers.insert(subject.withoutProtocols) }
  }

  // MARK: Questions

  /// The associated type with the protocol that declares it: names leave it out where there is no other.
  func naming(_ member: TypeSyntax) -> TypeSyntax {
    guard case .dependentMember(let base, let name, nil) = member else { return member }
    let owner = protocols(of: base).first { $0.associatedType(name) != nil }
    return .dependentMember(base: base, name: name, of: owner?.reference)
  }

  /// What a subject conforms to, with everything those protocols inherit.
  private func protocols(of subject: TypeSyntax) -> [ProtocolDescriptor] {
    var found = conformances.filter { $0.subject.withoutProtocols == subject.withoutProtocols }.compactMap {
      types.protocolDescriptor($0.proto)
    }
    if case .dependentMember(let base, let name, _) = subject {
      for proto in protocols(of: base) { found += types.conformances(of: name, in: proto) }
    }
    var next = 0
    while next < found.count, found.count < 256 {
      for inherited in types.conformances(of: nil, in: found[next]) where !found.contains(inherited) { found.append(inherited) }
      next += 1
    }
    return found
  }

  /// How values of a generic parameter or associated type are held.
  package enum Representation: Sendable {
    case opaque, reference
    case concrete(TypeSyntax)
  }

  package func representation(of type: TypeSyntax) -> Representation {
    switch type {
    case .genericParameter(let depth, let index):
      guard let parameter = parameter(GenericParameterKey(depth: depth, index: index)) else { return .opaque }
      if let concrete = parameter.concrete { return .concrete(concrete) }
      return parameter.isClass ? .reference : .opaque
    case .dependentMember(let base, let name, let owner):
      let bare = type.withoutProtocols
      if let concrete = concreteMembers[bare] { return .concrete(concrete) }
      if classMembers.contains(bare) { return .reference }
      if case .genericParameter(let depth, let index) = base,
        let concrete = parameter(GenericParameterKey(depth: depth, index: index))?.concrete
      {
        return .concrete(.dependentMember(base: concrete, name: name, of: owner))
      }
      // The protocol itself may ask for a class.
      if let owner, let descriptor = types.protocolDescriptor(owner), types.asksForClass(descriptor, name) { return .reference }
      return .opaque
    default: return .concrete(type)
    }
  }
}

extension Declaration {
  /// A generic parameter of this depth, or a deeper one, occurs in the type.
  fileprivate func mentions(depth: Int) -> Bool {
    requirements.contains { $0.subject.deepestParameter >= depth } || (type?.deepestParameter ?? -1) >= depth
  }
}

extension TypeSyntax {
  /// The greatest depth of a generic parameter in the type, -1 for none.
  var deepestParameter: Int {
    switch self {
    case .genericParameter(let depth, _): depth
    case .dependentMember(let base, _, _): base.deepestParameter
    case .nominal(_, _, let arguments): arguments.map(\.deepestParameter).max() ?? -1
    case .tuple(let elements): elements.map(\.type.deepestParameter).max() ?? -1
    case .function(let function):
      max(
        function.result.deepestParameter, function.parameters.map(\.type.deepestParameter).max() ?? -1,
        { if case .typed(let error) = function.thrown { error.deepestParameter } else { -1 } }())
    case .existential(_, let superclass, _): superclass?.deepestParameter ?? -1
    case .constrainedExistential(_, let requirements):
      requirements.map { if case .sameType(let type) = $0.kind { type.deepestParameter } else { -1 } }.max() ?? -1
    case .metatype(let type), .existentialMetatype(let type), .dynamicSelf(let type), .weak(let type), .unowned(let type),
      .unmanaged(let type), .packExpansion(let type):
      type.deepestParameter
    case .pack(let types): types.map(\.deepestParameter).max() ?? -1
    case .builtin, .opaqueResult, .integer, .known, .constrainedSelf, .unknown: -1
    }
  }

  /// Depth and index of the parameter a subject is rooted in, and the length of its path.
  fileprivate var subjectOrder: [Int] {
    var length = 0
    var type = self
    while case .dependentMember(let base, _, _) = type {
      type = base
      length += 1
    }
    guard case .genericParameter(let depth, let index) = type else { return [Int.max] }
    // A parameter itself comes before all associated types of any parameter.
    return [min(length, 1), depth, index, length]
  }

  /// Associated types compare by their names alone.
  var withoutProtocols: TypeSyntax {
    if case .dependentMember(let base, let name, _) = self { return .dependentMember(base: base.withoutProtocols, name: name, of: nil) }
    return self
  }
}

extension NominalName {
  /// Exists for the compiler only: no witness table, no descriptor.
  var isMarker: Bool {
    guard module == "Swift", steps.count == 1 else { return false }
    switch shortName {
    case "Sendable", "SendableMetatype", "Copyable", "Escapable", "BitwiseCopyable": return true
    default: return false
    }
  }
}
