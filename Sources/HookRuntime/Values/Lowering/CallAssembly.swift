// CallAssembly — gives the values of a signature their places and puts the declaration's arguments together again.
internal import SwiftMangling

struct CallAssembly {
  private let declaration: Declaration
  private let signature: SILSignature
  private let lowering: SILTypeLowering
  private let evidence: (any BodyEvidence)?
  private var allocator = PlaceAllocator()
  /// Parallel to the signature's parameters.
  private var locations: [Location] = []
  private var isExact = true

  init(_ declaration: Declaration, _ signature: SILSignature, _ lowering: SILTypeLowering, _ evidence: (any BodyEvidence)?) {
    self.declaration = declaration
    self.signature = signature
    self.lowering = lowering
    self.evidence = evidence
    switch declaration.kind {
    case .modify, .read: _ = allocator.takeInteger()  // the coroutine buffer
    case .modify2, .read2: (_, _) = (allocator.takeInteger(), allocator.takeInteger())  // buffer and allocator
    default: break
    }
    place()
  }

  func plan(isEnterOnly: Bool) -> CallPlan {
    let function = declaration.functionType
    let selfPlan = selfPlan()
    return CallPlan(
      arguments: function.parameters.indices.map { argument($0, function.parameters[$0]) }, selfPlan: selfPlan,
      result: result(function), thrown: function.thrown, isEnterOnly: isEnterOnly, stack: stack(function, selfPlan),
      isExact: isExact, of: declaration)
  }

  // MARK: Places

  private mutating func place() {
    var lost: String?
    if declaration.functionType.isAsync {
      switch directResultsAreInMemory {
      case true?: _ = allocator.takeInteger()
      case false?: break
      case nil: lost = "async result of unknown type"
      }
    }
    for (index, parameter) in signature.parameters.enumerated() {
      if let (reason, from) = signature.broken, from <= index { lost = lost ?? reason }
      if parameter.role == .error { locations.append(.unknown("typed throws")); continue }  // it comes last of all
      if lost == nil, parameter.role == .result, returnsThroughRegister {
        locations.append(.address(.indirectResult))
        continue
      }
      if parameter.role == .selfValue, signature.selfIsUndecided {
        locations.append(lost.map { .unknown($0) } ?? decideSelf(parameter))
        if case .unknown(let reason) = locations.last { lost = lost ?? reason }
        continue
      }
      // The register of self does not depend on what went before.
      if signature.broken?.from != index, let register = selfRegister(parameter) { locations.append(register); continue }
      if lost == nil, case .failure(let problem) = lowering.passing(of: parameter) { lost = problem.description }
      guard lost == nil, case .success(let passing) = lowering.passing(of: parameter) else {
        locations.append(.unknown(lost ?? ""))
        continue
      }
      locations.append(allocator.take(passing))
    }
    isExact = zip(signature.parameters, locations).allSatisfy {
      guard case .unknown = $1 else { return true }
      return $0.role == .selfValue || $0.role == .error || $0.role == .hidden
    }
  }

  // MARK: Self of structs and enums

  /// How the body took `self`, for what comes of it.
  private var selfAccess = ValueSelfPlan.Access.borrowed

  /// By value behind the arguments, or by address in its register where the member is mutating: the code tells.
  private mutating func decideSelf(_ parameter: SILParameter) -> Location {
    let passing: Passing
    switch lowering.passing(of: parameter) {
    case .failure(let problem): return .unknown(problem.description)
    case .success(let found): passing = found
    }
    guard case .direct(let scalars) = passing else {
      selfAccess = .unknown
      return .address(signature.isMethod ? .selfRegister : allocator.takeInteger())
    }
    if scalars.isEmpty { return .pieces([]) }
    let silent = "whether it is mutating is not in its name"
    guard let evidence else { return .unknown(silent) }
    var byValue = allocator
    let words = byValue.take(passing)
    let takesAddress = signature.isMethod && !evidence.taken(.selfRegister).isEmpty
    // In a generic body, what follows the arguments may be metadata.
    let takesWords = !signature.takesMetadata(declaration) && words.places.contains { place in
      Places(argument: place).map { !evidence.taken($0).isEmpty } ?? false
    }
    switch (takesAddress, takesWords && signature.isMethod) {
    case (true, false):
      selfAccess = .inPlace
      return .address(.selfRegister)
    case (false, true):
      allocator = byValue
      return words
    case (true, true): return .unknown(silent + ", and its code takes both what a mutating and what another method would")
    case (false, false): return .unknown(silent + ", and its code does not show that it looks at self")
    }
  }

  /// The address of a lone indirect result goes in rax; of several, or beside direct ones, each is an argument. The
  /// result of an async function always is.
  private var returnsThroughRegister: Bool { signature.results.count == 1 && !declaration.functionType.isAsync }

  /// Results that do not go by address for their type's sake are too large for registers together: where results are
  /// arguments of a resume function, their address comes before all arguments. nil: not known.
  private var directResultsAreInMemory: Bool? {
    let direct = signature.results.filter { !$0.isIndirect && !$0.isGone }
    let passings = direct.map { lowering.passing(of: $0.type) }
    if direct.count > 1, direct.count == signature.results.count, let whole = lowering.info(declaration.functionType.result) {
      return whole.passing == .indirect
    }
    var registers = 0
    for passing in passings {
      guard case .success(let passing) = passing else { return nil }
      guard case .direct(let scalars) = passing else { return true }
      registers += scalars.count
    }
    return registers <= 4 ? false : nil
  }

  /// Where methods have `self`: an object, a metatype with bits or an address in r13; nil when it is an ordinary argument.
  private func selfRegister(_ parameter: SILParameter) -> Location? {
    guard signature.isMethod, parameter.role == .selfValue, parameter.part == nil else { return nil }
    if parameter.convention == .address { return .address(.selfRegister) }
    let pointer = Location.pieces([Piece(place: .selfRegister, offset: 0, size: 8)])
    switch parameter.type.type {
    case .nominal(_, .classType, _), .genericParameter: return pointer
    default: break
    }
    switch lowering.passing(of: parameter) {
    case .success(.indirect): return .address(.selfRegister)
    case .success(.direct(let scalars)) where !declaration.hasInstance && !scalars.isEmpty: return pointer
    default: return nil
    }
  }

  /// Bytes of stack arguments to copy: exact for what is known, a bound for the rest. Copying too much reads the
  /// caller's own frame, which is harmless; copying too little would lose arguments.
  private func stack(_ function: FunctionType, _ selfPlan: SelfPlan) -> StackArguments {
    let more = hiddenWords(function, selfPlan)
    // What is not known may still be known to fit into registers.
    let fits = more == 0 || allocator.integers + more <= 6 && allocator.floats + 4 <= 8
    if isExact, fits { return StackArguments(bytes: 8 * allocator.slots, isKnown: true, integers: more == 0 ? allocator.integers : nil) }
    return StackArguments(bytes: 8 * min(allocator.slots + more + (isExact ? 0 : 16 + 4 * function.parameters.count), 512), isKnown: false)
  }

  /// At most so many words travel behind the arguments.
  private func hiddenWords(_ function: FunctionType, _ selfPlan: SelfPlan) -> Int {
    var bound = 0
    // A value self takes up to four words behind the arguments, with its metadata; a self that is gone takes none.
    if case .unknown = selfPlan, !signature.gone.contains(where: { $0.role == .selfValue && $0.part == nil }) { bound += 6 }
    // Metadata and witness tables of generic parameters come last, one per parameter and requirement.
    if declaration.isGeneric || declaration.contextKind == .protocolType || !declaration.genericParameterCounts.isEmpty {
      bound += 8 + 4 * (declaration.genericParameterCounts.reduce(0, +) + declaration.requirements.count)
    }
    if case .typed = function.thrown { bound += 1 }
    return bound
  }

  // MARK: Arguments

  private func argument(_ index: Int, _ parameter: Parameter) -> ArgumentPlan {
    let type = lowering.concrete(parameter.valueType.substituting(signature.substitutions))
    var plan = ArgumentPlan(
      label: parameter.label, type: type, info: lowering.info(type), location: .unknown(""), isInout: parameter.isInout)
    let parts = self.parts(of: .argument(index))
    let conventions = Set(parts.filter { $0.location != .optimizedOut }.map(\.parameter.convention))
    plan.isOwned = conventions.contains(.owned)
    plan.hasMixedOwnership = conventions.count > 1
    plan.location = join(parts, plan.info)
    return plan
  }

  private struct Placed {
    var parameter: SILParameter
    var location: Location
  }

  /// What is left, and what is gone, of a value.
  private func parts(of role: SILRole) -> [Placed] {
    zip(signature.parameters, locations).filter { $0.0.role == role }.map(Placed.init)
      + signature.gone.filter { $0.role == role }.map { Placed(parameter: $0, location: .optimizedOut) }
  }

  /// One location for a value whose parts are passed by themselves.
  private func join(_ placed: [Placed], _ whole: TypeInfo?) -> Location {
    if placed.count == 1, placed[0].parameter.path.isEmpty, placed[0].parameter.part == nil { return placed[0].location }
    if !placed.isEmpty, placed.allSatisfy({ $0.location == .optimizedOut }) { return .optimizedOut }
    var parts: [ValuePart] = []
    for each in placed {
      if case .unknown(let reason) = each.location { return .unknown(reason) }
      guard let span = span(of: each.parameter, in: whole) else { return .unknown("the layout of its tuple is not known") }
      parts.append(ValuePart(offset: span.offset, size: span.size, location: each.location.moved(by: span.offset)))
    }
    var pieces: [Piece] = []
    for part in parts {
      guard case .pieces(let own) = part.location else { return .parts(parts) }
      pieces += own
    }
    return .pieces(pieces)
  }

  /// Where in its role's value a parameter lies.
  private func span(of parameter: SILParameter, in whole: TypeInfo?) -> (offset: Int, size: Int)? {
    guard var metadata = whole?.metadata else { return nil }
    var offset = 0
    for index in parameter.path {
      guard case .tuple = metadata.kind else { return nil }
      let elements = metadata.tupleElements
      guard elements.indices.contains(index) else { return nil }
      offset += elements[index].offset
      metadata = elements[index].metadata
    }
    if let part = parameter.part { return (offset + part.offset, part.info.size) }
    return (offset, metadata.size)
  }

  // MARK: Self

  private func selfPlan() -> SelfPlan {
    let placed = parts(of: .selfValue)
    guard let type = placed.first?.parameter.type.instance else { return .none }
    guard declaration.hasInstance else { return metatypePlan(placed, type) }
    switch type {
    case .nominal(_, .classType, _):
      switch placed.first?.location {
      case .pieces(let pieces)? where pieces.count == 1: return .object(pieces[0].place)
      case .optimizedOut?: return .unknown("<optimized out>")
      case .unknown(let reason)?: return .unknown(reason)
      default: return .unknown("taken apart by a specialisation")
      }
    case .nominal:
      let info = lowering.info(type)
      let location = join(placed, info)
      if case .unknown(let reason) = location { return .unknown(reason) }
      let isOwned = placed.contains { $0.parameter.convention == .owned && $0.location != .optimizedOut }
      return .value(ValueSelfPlan(type: type, info: info, location: location, access: isOwned ? .owned : selfAccess))
    default: return .unknown("whatever conforms to the protocol")
    }
  }

  private func metatypePlan(_ placed: [Placed], _ type: TypeSyntax) -> SelfPlan {
    guard case .nominal(_, .classType, _) = type else { return .none }
    switch placed.first?.location {
    case .pieces(let pieces)? where pieces.count == 1: return .metatype(pieces[0].place)
    case .unknown(let reason)?: return .unknown(reason)
    default: return .unknown("<optimized out>")
    }
  }

  // MARK: Result

  private func result(_ function: FunctionType) -> ResultPlan {
    let type = lowering.concrete(function.result.substituting(signature.substitutions))
    var plan = ResultPlan(type: type, info: lowering.info(type), location: .unknown(""))
    plan.isOwned = signature.results.allSatisfy(\.isOwned)
    plan.location = resultLocation(function, plan.info)
    return plan
  }

  /// The results of an async function are arguments of the function that is resumed, in the order of registers that
  /// `HKTResults` has after any call; the address of a lone indirect one is kept as if it had come in rax (async.c).
  private func resultLocation(_ function: FunctionType, _ info: TypeInfo?) -> Location {
    if declaration.isCoroutine { return .unknown("coroutine") }
    if declaration.isAsyncAccessor { return .unknown("whether an async getter throws is not in its name") }
    // The registers may hold the error instead, which only its type tells.
    if case .typed = function.thrown { return .unknown("typed throws") }
    if signature.results.contains(where: \.isGone) { return .optimizedOut }
    guard case .tuple(let elements) = function.result, !elements.isEmpty else {
      if case .dynamicSelf = function.result { return .unknown("dynamic Self") }
      guard let result = signature.results.first else { return .pieces([]) }
      if result.isIndirect { return result.type.type.isGeneric ? .unknown(TypeProblem.generic.description) : .address(.indirectResult) }
      switch lowering.scalars(of: result.type) {
      case .success(let scalars): return PlaceAllocator.returned(scalars.map(AggregateLowering.lower) ?? .indirect)
      case .failure(let problem): return .unknown(problem.description)
      }
    }
    if signature.results.contains(where: \.isIndirect) { return .unknown("a tuple with results in memory") }
    return info.map { PlaceAllocator.returned($0.passing) } ?? .unknown("tuple result of unknown layout")
  }
}

extension Location {
  /// The pieces of a part, counted from the start of the whole.
  fileprivate func moved(by distance: Int) -> Location {
    guard case .pieces(let pieces) = self else { return self }
    return .pieces(pieces.map { Piece(place: $0.place, offset: $0.offset + distance, size: $0.size) })
  }
}
