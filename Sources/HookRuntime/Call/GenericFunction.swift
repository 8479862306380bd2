// GenericFunction — a generic function of the program, and the callables it becomes when its types are known.
//
// The body is the unspecialised one, which takes metadata of its generic parameters and witness tables of their conformances
// behind its arguments. Each combination of types is one Callable, kept.
private import CHookTrampoline
internal import SwiftMangling
private import Synchronization

package final class GenericFunction: Sendable {
  let selector: String
  let declaration: Declaration
  private let generic: GenericPlan
  private let selfPlan: SelfPlan
  private let entry: UInt
  private let asyncPointer: UInt?
  private let known = Mutex<[[UInt]: Callable]>([:])
  /// A program that makes types without end must not fill memory.
  private static let mostCallables = 1024

  package var argumentCount: Int { generic.plan.argumentCount }

  /// - Parameter selfPlan: with what the code says of a copy's end.
  init(
    _ declaration: Declaration, selector: String, _ generic: GenericPlan, selfPlan: SelfPlan, entry: UInt, asyncPointer: UInt? = nil
  ) throws(CallRefusal) {
    self.declaration = declaration
    self.selector = selector
    self.generic = generic
    self.selfPlan = selfPlan
    self.entry = entry
    self.asyncPointer = asyncPointer
    if generic.environment.hasPacks { throw .generic("it takes a parameter pack") }
    if !generic.hiddenAreKnown { throw .generic("which metadata it takes is not certain") }
    for hidden in generic.plan.hiddenArguments {
      if case .value = hidden.kind { throw .generic("it takes a value as generic parameter") }
      guard case .pieces(let pieces) = hidden.location, pieces.count == 1 else { throw .generic("where it takes metadata is not known") }
    }
  }

  /// For calls on instances of `type` (nil: not known yet): what can be called, where that type tells everything, else what
  /// stands for it until there are arguments.
  func callable(on type: Metadata?) throws(CallError) -> Callable {
    let known = try arguments(on: type)
    return isKnown(known) ? try callable(known) : try template(on: type)
  }

  private func template(on type: Metadata?) throws(CallError) -> Callable {
    let own = try arguments(on: type)
    let metadata = ownType.flatMap { own.metadata($0, generic.environment) }
    let receiver: Callable.Receiver
    switch selfPlan {
    case .none: receiver = .none
    case .object: receiver = metadata.map { .object($0) } ?? .none
    case .metatype: receiver = metadata.map { .metatype($0) } ?? .none
    case .value(let value):
      if value.access == .inPlace { throw .refused(selector: selector, reason: CallRefusal.mutating.description) }
      receiver = metadata.flatMap { try? TypeResolver.shared.type(of: $0).get() }.map { .value($0) } ?? .none
    case .unknown(let reason): throw .refused(selector: selector, reason: CallRefusal.receiver(reason).description)
    }
    return Callable(self, plan: generic.plan, receiver: receiver, entry: entry, asyncPointer: asyncPointer)
  }

  /// Its types, as far as the receiver alone tells.
  /// - Parameter type: of the instance it is called on; nil for none.
  func arguments(on type: Metadata?) throws(CallError) -> GenericArguments {
    var arguments = GenericArguments(selector: selector)
    if let type, let own = ownType { try arguments.bind([own], [.exact(type)]) }
    return arguments
  }

  /// The receiver tells all there is to know.
  func isKnown(_ arguments: GenericArguments) -> Bool {
    generic.environment.parameters.allSatisfy { $0.concrete != nil || arguments.types[$0.key] != nil }
  }

  /// The callable for arguments of these types.
  /// - Parameter type: as above.
  package func callable(on type: Metadata?, _ given: [GivenType]) throws(CallError) -> Callable {
    var arguments = try arguments(on: type)
    try arguments.bind(declaration.functionType.parameters.map(\.valueType), given)
    return try callable(arguments)
  }

  func callable(_ arguments: GenericArguments) throws(CallError) -> Callable {
    let words = generic.environment.parameters.map { arguments.types[$0.key].map { UInt(bitPattern: $0.pointer) } ?? 0 }
    if let made = known.withLock({ $0[words] }) { return made }
    var arguments = arguments
    try arguments.check(generic.environment)
    let plan = generic.replan(arguments.known)
    var hidden: [Callable.Hidden] = []
    for each in generic.plan.hiddenArguments {
      guard case .pieces(let pieces) = each.location else { continue }
      hidden.append(Callable.Hidden(place: pieces[0].place, word: try word(each.kind, arguments)))
    }
    let made: Callable
    do throws(CallRefusal) {
      made = try Callable(
        declaration, selector: selector, plan: plan, selfPlan: plan.selfPlan.ending(like: selfPlan), entry: entry,
        asyncPointer: asyncPointer, hidden: hidden,
        ownType: ownType.flatMap { arguments.metadata($0, generic.environment) })
    } catch { throw .refused(selector: selector, reason: error.description) }
    return known.withLock {
      if let other = $0[words] { return other }
      if $0.count < Self.mostCallables { $0[words] = made }
      return made
    }
  }

  private func word(_ kind: HiddenArgument.Kind, _ arguments: GenericArguments) throws(CallError) -> UInt {
    switch kind {
    case .selfMetadata:
      if let own = ownType, let type = arguments.metadata(own, generic.environment) { return UInt(bitPattern: type.pointer) }
    case .metadata(let key): if let type = arguments.types[key] { return UInt(bitPattern: type.pointer) }
    case .witnessTable(let conformance): return try arguments.witnessTable(conformance, generic.environment)
    case .value: break
    }
    throw .refused(selector: selector, reason: CallRefusal.generic("the type it belongs to is not known in this process").description)
  }

  /// The type it is a member of, with that type's generic parameters.
  private var ownType: TypeSyntax? { SILTypeLowering(types: .shared, environment: generic.environment).selfType(of: declaration) }
}

extension SelfPlan {
  /// This plan, which is of known types, with what is known of the end of the generic one's self.
  fileprivate func ending(like generic: SelfPlan) -> SelfPlan {
    guard case .value(var own) = self, case .value(let known) = generic, own.access == .unknown else { return self }
    own.access = known.access
    return .value(own)
  }
}
