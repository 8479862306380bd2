// HiddenArguments — the metadata and witness tables behind a generic call's arguments, and where a call's generic types are.
//
// Order: metadata of Self where a struct or enum is passed by address, metadata of each parameter, witness tables; in witnesses the
// metadata of what conforms and its table come last. What can
// be had from self or from an argument that is an object is not passed. Source of the rules: IRGen's GenProto.cpp
// (PolymorphicConvention, considerParameter, Fulfillment.cpp); checked against `swiftc -emit-irgen`.
package import SwiftMangling

/// What no source parameter names but a generic body takes.
package struct HiddenArgument: Sendable {
  package enum Kind: Hashable, Sendable {
    case selfMetadata
    case metadata(GenericParameterKey)
    /// The argument of a value parameter, `let N: Int`.
    case value(GenericParameterKey)
    case witnessTable(GenericEnvironment.Conformance)
  }
  package var kind: Kind
  package var location: Location
}

/// Where a call tells what a generic parameter stands for.
package enum GenericSource: Hashable, Sendable {
  case metadata(Place)
  /// The arguments of the generic type whose metadata is there: which of them, and which of that one's in turn.
  case argument(of: Place, path: [Int])
  /// An argument of the class an object is of: this class or one it inherits from.
  case object(Place, TypeDescriptor, path: [Int], mayBeGone: Bool)
  case metatype(Place, TypeDescriptor, path: [Int])
}

/// Collects what a body's parameters tell, then places the rest.
struct HiddenArguments {
  private(set) var arguments: [HiddenArgument] = []
  private(set) var sources: [GenericParameterKey: GenericSource] = [:]
  /// Nothing behind the hidden arguments is certain when their number is not.
  private(set) var isExact = true
  private let environment: GenericEnvironment
  private let types: TypeResolver
  private var tables: Set<GenericEnvironment.Conformance> = []
  private var fulfilled: Set<GenericParameterKey> = []
  /// What the metadata of Self tells: of its arguments, and of what these are made of by same-type requirements.
  private var ofSelf: [(key: GenericParameterKey, path: [Int])] = []

  init(_ environment: GenericEnvironment, types: TypeResolver) {
    self.environment = environment
    self.types = types
  }

  private var isPolymorphic: Bool { environment.parameters.contains { $0.concrete == nil } }

  /// - Parameter lost: why places behind the parameters are not known.
  mutating func place(_ parameters: [SILParameter], _ locations: [Location], in allocator: inout PlaceAllocator, lost: String?) {
    guard isPolymorphic else { return }
    if environment.hasPacks { isExact = false; return }
    let placed = Array(zip(parameters, locations))
    for (parameter, location) in placed where parameter.role == .selfValue { consider(parameter, location, isSelf: true) }
    let passesSelf = arguments.contains { $0.kind == .selfMetadata }
    for (parameter, location) in placed where parameter.role != .selfValue { consider(parameter, location, isSelf: false) }
    if passesSelf {
      if let lost { arguments[0].location = .unknown(lost) } else { give(0, allocator.takeInteger()) }
    }
    let last = environment.witnessSelf
    for parameter in environment.parameters
    where parameter.concrete == nil && !fulfilled.contains(parameter.key) && parameter.key != last?.key {
      add(parameter.kind == .value ? .value(parameter.key) : .metadata(parameter.key), &allocator, lost)
    }
    let missing = environment.tablesAreKnown ? lost : "which witness tables it takes is not in its name"
    for conformance in environment.conformances where !isFulfilled(conformance) && conformance != last?.conformance {
      add(.witnessTable(conformance), &allocator, missing)
    }
    if let last {
      add(.metadata(last.key), &allocator, missing)
      add(.witnessTable(last.conformance), &allocator, missing)
    }
    if !environment.tablesAreKnown || lost != nil { isExact = false }
  }

  private mutating func add(_ kind: HiddenArgument.Kind, _ allocator: inout PlaceAllocator, _ lost: String?) {
    arguments.append(HiddenArgument(kind: kind, location: .unknown(lost ?? "")))
    if lost == nil { give(arguments.count - 1, allocator.takeInteger()) }
  }

  private mutating func give(_ index: Int, _ place: Place) {
    arguments[index].location = .pieces([Piece(place: place, offset: 0, size: 8)])
    switch arguments[index].kind {
    case .metadata(let key): sources[key] = .metadata(place)
    case .selfMetadata:
      for each in ofSelf { sources[each.key] = .argument(of: place, path: each.path) }
    case .value, .witnessTable: break
    }
  }

  private func isFulfilled(_ conformance: GenericEnvironment.Conformance) -> Bool {
    if tables.contains(conformance) { return true }
    if case .genericParameter(let depth, let index) = conformance.subject,
      environment.parameter(GenericParameterKey(depth: depth, index: index))?.concrete != nil
    {
      return true
    }
    return false
  }

  // MARK: Sources

  private mutating func consider(_ parameter: SILParameter, _ location: Location, isSelf: Bool) {
    guard parameter.part == nil else { return }
    let place: Place? =
      switch location {
      case .pieces(let pieces) where pieces.count == 1: pieces[0].place
      case .address(let place): place
      default: nil
      }
    switch parameter.type.pattern {
    case .nominal(_, .classType, let arguments) where parameter.convention != .address:
      fulfil(parameter.type.pattern, arguments) { descriptor, path in
        place.map { .object($0, descriptor, path: path, mayBeGone: parameter.convention == .owned) }
      }
    case .nominal(let name, _, _) where isSelf:
      // A loadable self is no source; one in memory comes with its type.
      guard case .address = location, types.descriptor(name)?.isGeneric == true else { return }
      fulfilFromSelf(name)
      arguments.insert(HiddenArgument(kind: .selfMetadata, location: .unknown("")), at: 0)
    case .metatype(.nominal(_, .classType, let arguments)):
      guard case .metatype(let instance) = parameter.type.pattern else { return }
      fulfil(instance, arguments) { descriptor, path in place.map { .metatype($0, descriptor, path: path) } }
    case .genericParameter(let depth, let index) where parameter.convention != .address:
      // An object of a certain class, or of one that inherits from it.
      guard let superclass = environment.parameter(GenericParameterKey(depth: depth, index: index))?.superclass,
        case .nominal(_, .classType, let arguments) = superclass
      else { return }
      fulfil(superclass, arguments) { descriptor, path in
        place.map { .object($0, descriptor, path: path, mayBeGone: parameter.convention == .owned) }
      }
    default: return
    }
  }

  private mutating func fulfil(
    _ type: TypeSyntax, _ arguments: [TypeSyntax], _ source: (TypeDescriptor, [Int]) -> GenericSource?
  ) {
    guard case .nominal(let name, _, _) = type, !arguments.isEmpty, let descriptor = types.descriptor(name) else { return }
    for (key, path) in search(descriptor, fixed(arguments), []) where fulfilled.insert(key).inserted {
      sources[key] = source(descriptor, path)
    }
  }

  /// Finds generic parameters among the arguments of a nominal type, and the witness tables its metadata has for them.
  private mutating func search(
    _ descriptor: TypeDescriptor, _ arguments: [TypeSyntax], _ path: [Int]
  ) -> [(GenericParameterKey, [Int])] {
    guard let generic = descriptor.genericContext, generic.parameters.count == arguments.count, path.count < 8 else { return [] }
    var table: [GenericParameterKey: TypeSyntax] = [:]
    var position = 0
    for (depth, count) in descriptor.genericLevels.enumerated() {
      for index in 0..<count where position < arguments.count {
        table[GenericParameterKey(depth: depth, index: index)] = arguments[position]
        position += 1
      }
    }
    var found: [(GenericParameterKey, [Int])] = []
    for (index, argument) in arguments.enumerated() where generic.parameters[index].isKey {
      switch argument {
      case .genericParameter(let depth, let number): found.append((GenericParameterKey(depth: depth, index: number), path + [index]))
      case .nominal(let name, _, let inner) where !inner.isEmpty:
        if let descriptor = types.descriptor(name) { found += search(descriptor, inner, path + [index]) }
      default: break
      }
    }
    addTables(generic, table)
    return found
  }

  /// The type's metadata holds tables for what it requires of its arguments, and for what those protocols inherit.
  private mutating func addTables(_ generic: GenericContext, _ table: [GenericParameterKey: TypeSyntax]) {
    for requirement in generic.requirements where requirement.isKey {
      guard case .conformance(let proto) = requirement.kind, let subject = types.syntax(requirement.subject)?.substituting(table) else {
        continue
      }
      markFulfilled(subject, proto, depth: 0)
    }
  }

  private mutating func markFulfilled(_ subject: TypeSyntax, _ proto: ProtocolDescriptor, depth: Int) {
    for conformance in environment.conformances
    where conformance.subject.withoutProtocols == subject.withoutProtocols && types.protocolDescriptor(conformance.proto) == proto {
      tables.insert(conformance)
    }
    guard depth < 16 else { return }
    for inherited in proto.signature {
      guard case .conformance(let base) = inherited.kind, case .genericParameter(0, 0)? = types.syntax(inherited.subject) else { continue }
      markFulfilled(subject, base, depth: depth + 1)
    }
  }

  private mutating func fulfilFromSelf(_ name: NominalName) {
    let context = environment.parameters.prefix(environment.contextCount)
    for (index, each) in context.enumerated() {
      fulfilled.insert(each.key)
      ofSelf.append((each.key, [index]))
    }
    guard let descriptor = types.descriptor(name), let generic = descriptor.genericContext else { return }
    addTables(generic, [:])
    let own = context.map { TypeSyntax.genericParameter(depth: $0.key.depth, index: $0.key.index) }
    for (key, path) in search(descriptor, fixed(own), []) where fulfilled.insert(key).inserted { ofSelf.append((key, path)) }
  }

  /// With what same-type requirements make of them.
  private func fixed(_ arguments: [TypeSyntax]) -> [TypeSyntax] { arguments.map { $0.substituting(environment.fixed) } }
}
