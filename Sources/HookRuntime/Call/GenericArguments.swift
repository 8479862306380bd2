// GenericArguments — what the generic parameters of a call are, found from the types of its arguments.
//
// An argument whose type is certain (an object, a struct, a closure of the program) binds the parameters that occur in the
// declared type; numbers and texts of a script, which fit many types, bind what is left. Nothing is guessed from results.
internal import SwiftMangling

/// What is known of the type of one argument before it is made.
package indirect enum GivenType: Sendable {
  /// A value of this type.
  case exact(Metadata)
  /// What would become a value of this type where any type would do: a script's number, text or boolean.
  case natural(Metadata)
  /// What a script's table holds, in no order: it becomes whatever collection is declared.
  case table(keys: [GivenType], values: [GivenType])
  /// Fits where it fits, and tells nothing: nil, a function of a script.
  case unknown
}

struct GenericArguments {
  private(set) var types: [GenericParameterKey: Metadata] = [:]
  private let selector: String
  private let resolver: TypeResolver
  /// Parameters that only scripts' own values have bound so far, which a later one may widen.
  private var natural: Set<GenericParameterKey> = []

  init(selector: String, types resolver: TypeResolver = .shared) {
    self.selector = selector
    self.resolver = resolver
  }

  static func name(_ key: GenericParameterKey) -> String {
    TypeSyntax.genericParameter(depth: key.depth, index: key.index).description(qualified: true)
  }

  /// Binds what the declared types of the arguments, or of `self`, tell together with their types.
  mutating func bind(_ declared: [TypeSyntax], _ given: [GivenType]) throws(CallError) {
    for (type, given) in zip(declared, given) { try bind(type, given, naturally: false) }
    for (type, given) in zip(declared, given) { try bind(type, given, naturally: true) }
  }

  private mutating func bind(_ declared: TypeSyntax, _ given: GivenType, naturally: Bool) throws(CallError) {
    switch given {
    case .unknown: break
    case .exact(let metadata): if !naturally { try match(declared, metadata, naturally: false) }
    case .natural(let metadata): if naturally { try match(declared, metadata, naturally: true) }
    case .table(let keys, let values):
      if case .genericParameter = declared {
        if naturally, let type = Self.collection(keys, values, resolver) { try match(declared, type, naturally: true) }
        return
      }
      guard case .nominal(let name, _, let arguments) = declared, name.module == "Swift" else { return }
      if name.isOptional, arguments.count == 1 { return try bind(arguments[0], given, naturally: naturally) }
      guard (1...2).contains(arguments.count) else { return }
      if arguments.count == 2 { for each in keys { try bind(arguments[0], each, naturally: naturally) } }
      for each in values { try bind(arguments[arguments.count - 1], each, naturally: naturally) }
    }
  }

  /// What a table is where any type will do: the array or dictionary of what its values all are; nil where they are not alike.
  private static func collection(_ keys: [GivenType], _ values: [GivenType], _ resolver: TypeResolver) -> Metadata? {
    func common(_ all: [GivenType]) -> TypeSyntax? {
      var found: Set<Metadata> = []
      for each in all {
        switch each {
        case .exact(let type), .natural(let type): found.insert(type)
        case .table(let keys, let values): if let type = collection(keys, values, resolver) { found.insert(type) } else { return nil }
        case .unknown: return nil
        }
      }
      if found == [Metadata(Int.self), Metadata(Double.self)] { found = [Metadata(Double.self)] }
      return found.count == 1 ? .known(UInt(bitPattern: found.first!.pointer)) : nil
    }
    guard let key = common(keys), let value = common(values) else { return nil }
    let isList = key == .known(UInt(bitPattern: Metadata(Int.self).pointer))
    let name = NominalName(module: "Swift", steps: [.init(name: isList ? "Array" : "Dictionary", kind: .structure)])
    return resolver.metadata(.nominal(name, kind: .structure, arguments: isList ? [value] : [key, value]))
  }

  // MARK: Declared types against types

  private mutating func match(_ declared: TypeSyntax, _ type: Metadata, naturally: Bool) throws(CallError) {
    if declared.deepestParameter < 0 { return }
    switch declared {
    case .genericParameter(let depth, let index): try bind(GenericParameterKey(depth: depth, index: index), type, naturally: naturally)
    case .nominal(let name, _, let arguments): try match(name, arguments, type, naturally: naturally)
    case .tuple(let elements):
      guard case .tuple = type.kind, type.tupleElements.count == elements.count else { return }
      for (element, part) in zip(elements, type.tupleElements) { try match(element.type, part.metadata, naturally: naturally) }
    case .metatype(let instance): if case .metatype = type.kind { try match(instance, type.instanceType, naturally: naturally) }
    case .dynamicSelf(let inner): try match(inner, type, naturally: naturally)
    case .function(let function):
      guard let shape = type.function, shape.parameters.count == function.parameters.count else { return }
      for (parameter, part) in zip(function.parameters, shape.parameters) { try match(parameter.type, part.type, naturally: naturally) }
      try match(function.result, shape.result, naturally: naturally)
    default: break
    }
  }

  private mutating func match(_ name: NominalName, _ arguments: [TypeSyntax], _ type: Metadata, naturally: Bool) throws(CallError) {
    if name.isOptional, arguments.count == 1, { if case .optional = type.kind { false } else { true } }() {
      return try match(arguments[0], type, naturally: naturally)
    }
    guard let descriptor = resolver.descriptor(name), let own = type.ancestor(descriptor) else { return }
    for (argument, part) in zip(arguments, own.genericArgumentMetadata) {
      if let part { try match(argument, part, naturally: naturally) }
    }
  }

  private mutating func bind(_ key: GenericParameterKey, _ type: Metadata, naturally: Bool) throws(CallError) {
    guard let known = types[key] else {
      types[key] = type
      if naturally { natural.insert(key) }
      return
    }
    if known == type || type.isSubclass(of: known) { return }
    if !naturally, known.isSubclass(of: type) { return types[key] = type }
    if naturally {
      // What is certain stands: whether the script's value fits is seen when it is made.
      guard natural.contains(key) else { return }
      let numbers = [Metadata(Int.self), Metadata(Double.self)]
      if numbers.contains(known), numbers.contains(type) { return types[key] = Metadata(Double.self) }
    }
    throw .ambiguousParameter(selector: selector, parameter: Self.name(key), types: [known.name, type.name])
  }

  // MARK: Requirements

  /// All parameters are bound and meet what the signature requires of them.
  mutating func check(_ environment: GenericEnvironment) throws(CallError) {
    bindMembers(environment)
    for parameter in environment.parameters where parameter.concrete == nil {
      guard let type = types[parameter.key] else { throw .undetermined(selector: selector, parameter: Self.name(parameter.key)) }
      if !type.isCopyable { throw unmet(parameter.key, type, "cannot be copied") }
      if parameter.isClass, case .classType = type.kind {} else if parameter.isClass { throw unmet(parameter.key, type, "is no class") }
      if let superclass = parameter.superclass, let wanted = metadata(superclass, environment), !type.isSubclass(of: wanted) {
        throw unmet(parameter.key, type, "does not inherit from '\(wanted.name)'")
      }
    }
    for conformance in environment.conformances { _ = try witnessTable(conformance, environment) }
    for (member, wanted) in environment.concreteMembers {
      // Names leave the protocol of a member out where there is no other.
      guard let found = metadata(member, environment), let wanted = metadata(wanted, environment) else {
        throw .refused(selector: selector, reason: "what its generic parameters are required to be is not known in this process")
      }
      if found != wanted { throw unmet(member, found, "is not '\(wanted.name)'") }
    }
    for member in environment.classMembers {
      guard let found = metadata(member, environment), case .classType = found.kind else { throw unmet(member, nil, "is no class") }
    }
  }

  /// A parameter that no argument tells is what the associated type it equals is: `S.Element == Element`.
  private mutating func bindMembers(_ environment: GenericEnvironment) {
    for (member, wanted) in environment.concreteMembers {
      guard let key = wanted.key, types[key] == nil, let found = metadata(member, environment) else { continue }
      types[key] = found
    }
  }

  /// The witness table a call passes for a requirement.
  func witnessTable(_ conformance: GenericEnvironment.Conformance, _ environment: GenericEnvironment) throws(CallError) -> UInt {
    let name = conformance.proto.description
    guard let type = metadata(conformance.subject, environment) else {
      throw unmet(conformance.subject, nil, "is not known in this process")
    }
    guard let table = resolver.conformance(of: type, to: conformance.proto) else {
      throw unmet(
        conformance.subject, type, "does not conform to '\(conformance.proto.reference == nil ? name : protocolName(conformance.proto))'")
    }
    return UInt(bitPattern: table)
  }

  private func protocolName(_ name: NominalName) -> String { resolver.protocolDescriptor(name)?.name ?? name.description }

  /// The type with what is bound so far; nil where that is not enough.
  func metadata(_ type: TypeSyntax, _ environment: GenericEnvironment) -> Metadata? {
    let named = type.mappingMembers { environment.naming($0) }
    return resolver.metadata(named.substituting(environment.fixed).mappingMembers { environment.naming($0) }.substituting(known))
  }

  /// What a plan is made with.
  var known: [GenericParameterKey: TypeSyntax] { types.mapValues { .known(UInt(bitPattern: $0.pointer)) } }

  private func unmet(_ key: GenericParameterKey, _ type: Metadata, _ requirement: String) -> CallError {
    .unmet(selector: selector, parameter: Self.name(key), type: type.name, requirement: requirement)
  }
  private func unmet(_ subject: TypeSyntax, _ type: Metadata?, _ requirement: String) -> CallError {
    .unmet(selector: selector, parameter: subject.description(qualified: true), type: type?.name ?? "?", requirement: requirement)
  }
}
