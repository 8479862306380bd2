// CallAssembly — gives the values of a signature their places and puts the declaration's arguments together again.
internal import SwiftMangling

/// Why it is not known where all values of a call are.
struct UnknownPlaces: Error { let reason: String }

struct CallAssembly: Sendable {
  private let declaration: Declaration
  private let signature: SILSignature
  private var lowering: SILTypeLowering
  private let genericProblem: TypeProblem?
  private var allocator = PlaceAllocator()
  /// Parallel to the signature's parameters.
  private var locations: [Location] = []
  private var isExact = true
  /// Metadata and witness tables behind the parameters.
  private(set) var hidden: [HiddenArgument] = []
  /// Where a call tells what generic parameters stand for.
  private(set) var sources: [GenericParameterKey: GenericSource] = [:]

  /// - Parameter genericProblem: why the generic signature is not known.
  init(
    _ declaration: Declaration, _ signature: SILSignature, _ lowering: SILTypeLowering, _ evidence: (any BodyEvidence)?,
    genericProblem: TypeProblem? = nil
  ) {
    self.declaration = declaration
    self.signature = signature
    self.lowering = lowering
    self.genericProblem = genericProblem
    switch declaration.kind {
    case .modify, .read: _ = allocator.takeInteger()  // the coroutine buffer
    case .modify2, .read2: (_, _) = (allocator.takeInteger(), allocator.takeInteger())  // buffer and allocator
    default: break
    }
    place(evidence)
  }

  /// Takes over the places of another assembly, with the types of one call.
  init(_ declaration: Declaration, _ signature: SILSignature, _ lowering: SILTypeLowering, placing other: CallAssembly) {
    self = other
    self.lowering = lowering
  }

  func plan() -> CallPlan {
    let function = declaration.functionType
    let selfPlan = selfPlan()
    return CallPlan(
      arguments: function.parameters.indices.map { argument($0, function.parameters[$0]) }, selfPlan: selfPlan,
      result: result(function), thrown: function.thrown, stack: stack(function, selfPlan),
      isExact: isExact, hidden: hidden, thrownValue: thrownValue(function), of: declaration)
  }

  /// Where everything is that the body is passed, arguments or not, or why that is not known for certain.
  var allPlaces: Result<[Place], UnknownPlaces> {
    if signature.takesMetadata(declaration) { return .failure(UnknownPlaces(reason: TypeProblem.generic.description)) }
    var places: [Place] = []
    for (parameter, location) in zip(signature.parameters, locations) where parameter.role != .error {
      if case .unknown(let reason) = location { return .failure(UnknownPlaces(reason: reason)) }
      // Values of 16 bytes are aligned on the stack, and never split between it and registers.
      if location != .optimizedOut, parameter.convention != .address, lowering.info(parameter.type.type).map({ $0.alignment > 8 }) ?? false
      {
        return .failure(UnknownPlaces(reason: "a value of 16 bytes"))
      }
      places += location.places
    }
    if case .typed = declaration.functionType.thrown {
      switch errorLocation {
      case .unknown(let reason): return .failure(UnknownPlaces(reason: reason))
      case .address(let place): places.append(place)
      default: break  // where the result is
      }
    }
    return .success(places)
  }

  // MARK: Places

  private mutating func place(_ evidence: (any BodyEvidence)?) {
    var lost: String?
    if !returnsInRax {
      switch directResultsAreInMemory {
      case true?: _ = allocator.takeInteger()
      case false?: break
      case nil: lost = declaration.functionType.isAsync ? "async result of unknown type" : "result of unknown type beside others in memory"
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
        locations.append(lost.map { .unknown($0) } ?? decideSelf(parameter, evidence))
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
    placeHidden(lost: lost ?? metadataIsLost ?? captures ?? genericsAreGone)
    placesAreKnown = lost == nil && metadataIsLost == nil
    placeError()
    isExact = zip(signature.parameters, locations).allSatisfy {
      guard case .unknown = $1 else { return true }
      return $0.role == .selfValue || $0.role == .error || $0.role == .hidden
    }
  }

  /// What a local function captures comes before its metadata.
  private var captures: String? { declaration.localContext.isEmpty ? nil : "what the local function captures is not in its name" }

  /// A body from which the optimiser took all generic values is generic only if it uses the types otherwise.
  private var genericsAreGone: String? {
    let isChanged = declaration.specialization.contains { if case .signature = $0 { true } else { false } }
    let types = signature.parameters.map(\.type.type) + signature.results.map(\.type.type)
    guard isChanged, !types.contains(where: { $0.deepestParameter >= 0 }) else { return nil }
    return "nothing generic is left of what it is passed, and its name does not say whether metadata is"
  }

  private mutating func placeHidden(lost: String?) {
    // A body compiled for certain types takes no metadata of them.
    guard signature.substitutions.isEmpty else { return }
    guard let environment = lowering.environment else { return }
    var places = HiddenArguments(environment, types: lowering.types)
    places.place(signature.parameters, locations, in: &allocator, lost: lost)
    hidden = places.arguments
    sources = places.sources
    hiddenAreExact = places.isExact
  }
  private var hiddenAreExact = true
  /// All metadata and witness tables the body takes have a known place.
  var hiddenAreKnown: Bool { hiddenAreExact && genericProblem == nil && metadataIsLost == nil }
  private var placesAreKnown = true
  /// Why the places of metadata alone are not known.
  private var metadataIsLost: String?
  /// What a typed error has in the registers of the result.
  private var errorScalars: [Scalar] = []
  private var errorLocation = Location.unknown("its type is not known")

  // MARK: Self of structs and enums

  /// How the body took `self`, for what comes of it.
  private var selfAccess = ValueSelfPlan.Access.borrowed

  /// By value behind the arguments, or by address in its register where the member is mutating: the code tells.
  private mutating func decideSelf(_ parameter: SILParameter, _ evidence: (any BodyEvidence)?) -> Location {
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
    if parameter.type.pattern.isOpaquePattern, case .reference? = lowering.environment?.representation(of: parameter.type.pattern) {
      // Only classes conform: nothing of theirs is mutating.
      return .pieces([Piece(place: signature.isMethod ? .selfRegister : allocator.takeInteger(), offset: 0, size: 8)])
    }
    // A reference and the address of a variable that holds one are in the same register.
    if case .nominal(_, .classType, _) = parameter.type.type { return .unknown(silent) }
    guard let evidence else { return .unknown(silent) }
    var byValue = allocator
    let words = byValue.take(passing)
    var takesAddress = signature.isMethod && !evidence.taken(.selfRegister).isEmpty
    var takesWords: Bool
    let takesMetadata = signature.takesMetadata(declaration) && lowering.environment?.isFixed != true
    if takesMetadata {
      takesWords = takesMoreThanMetadata(words, allocator: byValue, evidence)
    } else {
      // The address of a typed error is behind the words of self, or in the first place of them where those are not passed.
      var (others, behind) = (allocator, byValue)
      let ofError = errorIsInRegisters ? nil : others.takeInteger()
      let places = words.places + (errorIsInRegisters ? [] : [behind.takeInteger()])
      let own = places.reduce(into: Places.nothing) { if $1 != ofError { $0.formUnion(Places(argument: $1) ?? .nothing) } }
      takesWords = !evidence.taken(own).isEmpty
      if signature.isMethod, !takesAddress, !takesWords {
        // What the body does not look at its callers may set all the same.
        takesAddress = !evidence.given(.selfRegister).isEmpty
        takesWords = !evidence.given(own).isEmpty
      }
    }
    switch (takesAddress, takesWords && signature.isMethod) {
    case (true, false):
      selfAccess = .inPlace
      return .address(.selfRegister)
    case (false, true):
      allocator = byValue
      if declaration.mayConsumeSelf { selfAccess = .unknown }
      return words
    case (true, true): return .unknown(silent + ", and its code takes both what a mutating and what another method would")
    case (false, false) where evidence.onlyReturns && isItsOwnResult(words):
      // It was given what it returns, so not by address.
      allocator = byValue
      if declaration.mayConsumeSelf { selfAccess = .unknown }
      return words
    case (false, false) where words.places.contains { Places(argument: $0) == nil }:
      // Nothing was asked of those places.
      return .unknown(silent + ", and it would be too far out on the stack to follow")
    case (false, false):
      // Wherever self would be, it is not: no code takes it, or callers that know the code leave it out.
      let register: Places = signature.isMethod ? .selfRegister : .nothing
      let all = words.places.reduce(into: Places.nothing) { $0.formUnion(Places(argument: $1) ?? .unknown) }
      let isGone = !signature.isMethod || evidence.isCertainlyUnused(register) || !evidence.arePassed(register)
      // In a private function the optimiser takes unused arguments out, and a word of self may stand in the place of one.
      let isKept = evidence.keptBecause != nil || !declaration.isEffectivelyPrivate
      if isKept, isGone, evidence.isCertainlyUnused(all) || !evidence.arePassed(all) {
        let isLast = locations.count == signature.parameters.count - 1 && !declaration.functionType.isAsync
        // Whether metadata comes behind words of self is not known then.
        if isLast, takesMetadata { metadataIsLost = silent }
        // Of the stack that is not proven: what may be there is copied for the original all the same.
        if isLast, byValue.slots > allocator.slots { allocator = byValue }
        if isLast { return .optimizedOut }
      }
      return .unknown(silent + ", and its code does not show that it looks at self")
    }
  }

  /// In a generic body, metadata follows the arguments where self is in its register: self comes in words when the code takes
  /// a register beyond those that would be taken up then. Registers are never put in.
  private func takesMoreThanMetadata(_ words: Location, allocator byValue: PlaceAllocator, _ evidence: any BodyEvidence) -> Bool {
    if case .typed = declaration.functionType.thrown { return false }
    guard signature.substitutions.isEmpty, let environment = lowering.environment, locations.count == signature.parameters.count - 1 else {
      return false
    }
    func end(_ own: Location, _ start: PlaceAllocator) -> PlaceAllocator? {
      var end = start
      var hidden = HiddenArguments(environment, types: lowering.types)
      hidden.place(signature.parameters, locations + [own], in: &end, lost: nil)
      return hidden.isExact ? end : nil
    }
    guard case .direct = try? lowering.passing(of: signature.parameters[locations.count]).get(),
      let mutating = end(.address(.selfRegister), allocator),
      let plain = end(words, byValue), mutating.slots == 0
    else { return false }
    let beyond = (mutating.integers..<max(mutating.integers, plain.integers)).map { Place.integer($0) }
    return beyond.contains { Places(argument: $0).map { !evidence.taken($0).isEmpty } ?? false }
  }

  /// A value in these places is a result where it lies: vector registers are the same ones both ways.
  private func isItsOwnResult(_ words: Location) -> Bool {
    guard signature.isMethod, signature.results.count == 1, !signature.results[0].isIndirect, !signature.results[0].isGone,
      case .success(let scalars?) = lowering.scalars(of: signature.results[0].type), !words.places.isEmpty
    else { return false }
    return PlaceAllocator.returned(AggregateLowering.lower(scalars)).places == words.places
      && words.places.allSatisfy { if case .float = $0 { true } else { false } }
  }

  /// The address of a lone indirect result goes in rax; of several, or beside direct ones, each is an argument. The
  /// result of an async function always is.
  private var returnsThroughRegister: Bool { signature.results.count == 1 && !declaration.functionType.isAsync }

  /// The address of direct results that are too large for registers comes in rax, but beside several others that go by address.
  private var returnsInRax: Bool { !declaration.functionType.isAsync && signature.results.count(where: \.isIndirect) <= 1 }

  /// Results that do not go by address for their type's sake are too large for registers together: where their address does not
  /// come in rax, it comes before all arguments. nil: not known.
  private var directResultsAreInMemory: Bool? {
    var fields: [TypeShape] = []
    for result in signature.results where !result.isIndirect && !result.isGone {
      guard case .success(let shape) = lowering.returnedShape(of: result.type) else { return nil }
      fields.append(shape)
    }
    return AggregateLowering.lower(TypeShape(fields: fields).scalars) == .indirect
  }

  /// Where methods have `self`: an object, a metatype with bits or an address in r13; nil when it is an ordinary argument.
  private func selfRegister(_ parameter: SILParameter) -> Location? {
    guard signature.isMethod, parameter.role == .selfValue, parameter.part == nil else { return nil }
    if parameter.convention == .address { return .address(.selfRegister) }
    let pointer = Location.pieces([Piece(place: .selfRegister, offset: 0, size: 8)])
    if case .nominal(_, .classType, _) = parameter.type.type { return pointer }
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
    var isLocated = true
    // Self may be on the stack, too; of an async function it would be refused instead of copied.
    if case .unknown = selfPlan, !declaration.functionType.isAsync { isLocated = false }
    if isExact, isLocated, fits {
      return StackArguments(bytes: 8 * allocator.slots, isKnown: true, integers: more == 0 ? allocator.integers : nil)
    }
    let words = allocator.slots + more + (isExact ? 0 : declaration.mostStackWords)
    return StackArguments(bytes: 8 * min(words, StackArguments.mostWords), isKnown: false)
  }

  /// At most so many words travel behind the arguments.
  private func hiddenWords(_ function: FunctionType, _ selfPlan: SelfPlan) -> Int {
    var bound = 0
    // What a local function captures comes last, and no name tells how much that is.
    if !declaration.localContext.isEmpty || declaration.kind.isClosure { bound += 128 }
    // A value self takes up to four words behind the arguments, with its metadata; a self that is gone takes none.
    if case .unknown = selfPlan, !signature.gone.contains(where: { $0.role == .selfValue && $0.part == nil }) { bound += 6 }
    // Metadata and witness tables of generic parameters come last, one per parameter and requirement.
    if !hiddenAreExact || genericProblem != nil {
      bound += 8 + 4 * (declaration.genericParameterCounts.reduce(0, +) + declaration.requirements.count)
      if let environment = lowering.environment { bound += environment.parameters.count + environment.conformances.count }
    }
    if case .typed = function.thrown, case .unknown = errorLocation { bound += 1 }
    return bound
  }

  // MARK: Arguments

  private func argument(_ index: Int, _ parameter: Parameter) -> ArgumentPlan {
    let type = lowering.filled(parameter.valueType, signature.substitutions)
    var plan = ArgumentPlan(
      label: parameter.label, type: type, info: lowering.info(type, declaredAs: parameter.valueType), location: .unknown(""),
      isInout: parameter.isInout)
    let parts = self.parts(of: .argument(index))
    let conventions = Set(parts.filter { $0.location != .optimizedOut }.map(\.parameter.convention))
    plan.isOwned = conventions.contains(.owned)
    plan.hasMixedOwnership = conventions.count > 1
    plan.location = join(parts, plan.info)
    if parameter.valueType.isThinMetatype { plan.info = lowering.types.metatypeWithoutBits(type) }
    // The address of a variable without bits leads nowhere.
    if plan.isInout, type.isThinMetatype { plan.info = nil }
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
    return Location(joining: parts)
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
    default:
      // Whatever conforms to the protocol, or to one that only classes conform to.
      guard let place = placed.first?.location else { return .none }
      if case .pieces(let pieces) = place, pieces.count == 1 { return .object(pieces[0].place) }
      if case .unknown(let reason) = place { return .unknown(reason) }
      let access: ValueSelfPlan.Access = placed.contains { $0.parameter.convention == .owned } ? .owned : selfAccess
      return .value(ValueSelfPlan(type: type, info: lowering.info(type), location: place, access: access))
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
    let type = lowering.filled(function.result, signature.substitutions)
    var plan = ResultPlan(type: type, info: lowering.info(type, declaredAs: function.result), location: .unknown(""))
    if function.result.isThinMetatype { plan.info = lowering.types.metatypeWithoutBits(type) }
    plan.isOwned = signature.results.allSatisfy(\.isOwned) && !declaration.isCoroutine
    plan.isYielded = declaration.isCoroutine
    plan.location = resultLocation(function, plan.info)
    if function.isAsync, plan.location.isOnX87 { plan.location = .unknown("an async function passes its Float80 on the stack") }
    return plan
  }

  /// The results of an async function are arguments of the function that is resumed, in the order of registers that
  /// `HKTResults` has after any call; the address of a lone indirect one is kept as if it had come in rax (async.c).
  private func resultLocation(_ function: FunctionType, _ info: TypeInfo?) -> Location {
    if declaration.isCoroutine { return yielded(function.result, info) }
    if signature.results.contains(where: \.isGone) { return .optimizedOut }
    if let problem = signature.resultProblem { return .unknown(problem) }
    guard case .tuple(let elements) = function.result, !elements.isEmpty else {
      guard let result = signature.results.first else { return .pieces([]) }
      if result.isIndirect { return .address(.indirectResult) }
      switch lowering.scalars(of: result.type) {
      case .success(let scalars): return PlaceAllocator.returned(scalars.map(AggregateLowering.lower) ?? .indirect, beside: errorScalars)
      case .failure(let problem): return .unknown(problem.description)
      }
    }
    return tupleResult(info)
  }

  /// What a coroutine accessor yields, of either form, follows the continuation in the result registers: of `modify` the
  /// address of a variable; of `read` the values, element by element, or the addresses of those that do not go in registers.
  private func yielded(_ type: TypeSyntax, _ whole: TypeInfo?) -> Location {
    switch declaration.kind {
    case .modify, .modify2: return .address(.yielded(1))
    default: break
    }
    var registers = YieldRegisters()
    guard case .tuple(let elements) = type, !elements.isEmpty else { return yield(type, &registers) }
    var parts: [ValuePart] = []
    for (index, element) in elements.enumerated() {
      if case .tuple = element.type { return .unknown("it yields a tuple in a tuple") }
      guard let span = span(of: SILParameter(role: .result, path: [index], type: SILType(element.type)), in: whole) else {
        return .unknown("the layout of its tuple is not known")
      }
      let location = yield(element.type, &registers)
      if case .unknown = location { return location }
      parts.append(ValuePart(offset: span.offset, size: span.size, location: location.moved(by: span.offset)))
    }
    return Location(joining: parts)
  }

  /// Specialisations yield as the declaration does: what goes by address for being generic still does.
  private func yield(_ type: TypeSyntax, _ registers: inout YieldRegisters) -> Location {
    if type.isGeneric, lowering.environment == nil { return .unknown(TypeProblem.generic.description) }
    return switch lowering.passing(of: SILType(type)) {
    case .success(let passing): registers.take(passing) ?? .unknown("it yields more than there are registers for")
    case .failure(let problem): .unknown(problem.description)
    }
  }

  /// Direct elements are returned as one packed tuple, each of the others through an address of its own.
  private func tupleResult(_ whole: TypeInfo?) -> Location {
    var fields: [TypeShape] = []
    for result in signature.results where !result.isIndirect {
      switch lowering.returnedShape(of: result.type) {
      case .success(let shape): fields.append(shape)
      case .failure(let problem): return .unknown(problem.description)
      }
    }
    let packed = TypeShape(fields: fields)
    var direct = PlaceAllocator.returned(AggregateLowering.lower(packed.scalars), beside: errorScalars)
    if case .address = direct, !declaration.functionType.isAsync, !returnsInRax { direct = .address(.integer(0)) }
    if fields.count == signature.results.count { return direct }
    if case .unknown = direct { return direct }
    var parts: [ValuePart] = []
    var offset = 0
    var next = fields.makeIterator()
    for result in signature.results {
      guard let span = span(of: SILParameter(role: .result, path: result.path, type: result.type), in: whole) else {
        return .unknown("the layout of its tuple is not known")
      }
      if result.isIndirect {
        guard let placed = resultAddress(of: result.path) else { return .unknown("a result whose address is not known") }
        parts.append(ValuePart(offset: span.offset, size: span.size, location: placed))
        continue
      }
      let field = next.next() ?? .empty
      offset = (offset + field.alignment - 1) / field.alignment * field.alignment
      parts.append(direct.part(offset..<(offset + field.size), movedTo: span.offset))
      offset += field.size
    }
    return .parts(parts)
  }

  private func resultAddress(of path: [Int]) -> Location? {
    for (parameter, location) in zip(signature.parameters, locations) where parameter.role == .result && parameter.path == path {
      if case .address = location { return location }
    }
    return nil
  }

  // MARK: Typed errors

  /// In the integer registers of the result, unless it has floating-point parts, is large or address-only, or the result
  /// is in memory: then through an address behind all other arguments. The same where they are arguments of a resume function.
  private mutating func placeError() {
    guard case .typed(let error) = declaration.functionType.thrown else { return }
    if let problem = signature.resultProblem { return errorLocation = .unknown(problem) }
    let type = SILType(error.substituting(signature.substitutions))
    switch lowering.passing(of: type) {
    case .failure(let problem): errorLocation = .unknown(problem.description)
    case .success(let passing):
      for result in signature.results where !result.isIndirect {
        if case .failure(let problem) = lowering.returnedShape(of: result.type) { return errorLocation = .unknown(problem.description) }
      }
      if case .direct(let scalars) = passing, scalars.allSatisfy({ $0.kind == .integer || $0.kind == .opaque }), let result = directResult {
        errorLocation = PlaceAllocator.returned(passing, beside: result)
        errorScalars = scalars
      } else if placesAreKnown, hiddenAreExact {
        errorLocation = .address(allocator.takeInteger())
      } else {
        errorLocation = .unknown("what comes before the address of its error is not known")
      }
    }
  }

  /// There is none, or its address is not an argument.
  private var errorIsInRegisters: Bool {
    guard case .typed(let error) = declaration.functionType.thrown else { return true }
    guard case .success(.direct(let scalars)) = lowering.passing(of: SILType(error.substituting(signature.substitutions))) else {
      return false
    }
    return directResult != nil && scalars.allSatisfy { $0.kind == .integer || $0.kind == .opaque }
  }

  /// What the result has in registers; nil when it is in memory.
  private var directResult: [Scalar]? {
    if signature.results.contains(where: \.isIndirect) { return nil }
    var fields: [TypeShape] = []
    for result in signature.results {
      if case .success(let shape) = lowering.returnedShape(of: result.type) { fields.append(shape) } else { return nil }
    }
    guard case .direct(let scalars) = AggregateLowering.lower(TypeShape(fields: fields).scalars) else { return nil }
    return scalars
  }

  private func thrownValue(_ function: FunctionType) -> ResultPlan? {
    guard case .typed(let error) = function.thrown else { return nil }
    let type = error.substituting(signature.substitutions)
    return ResultPlan(type: type, info: lowering.info(type), location: errorLocation)
  }
}

extension Location {
  /// Parts that are all in registers and slots are one run of pieces.
  init(joining parts: [ValuePart]) {
    var pieces: [Piece] = []
    for part in parts {
      guard case .pieces(let own) = part.location else {
        self = .parts(parts)
        return
      }
      pieces += own
    }
    self = .pieces(pieces)
  }

  /// These bytes of a value that is all in registers, or all in memory, as a part of another. Small neighbours share a register.
  func part(_ span: Range<Int>, movedTo offset: Int) -> ValuePart {
    guard case .pieces(let pieces) = self else { return ValuePart(offset: offset, size: span.count, location: self, skip: span.lowerBound) }
    var found: [Piece] = []
    for piece in pieces where span.overlaps(piece.offset..<(piece.offset + piece.size)) {
      let begin = max(span.lowerBound, piece.offset)
      let size = min(span.upperBound, piece.offset + piece.size) - begin
      found.append(Piece(place: piece.place, offset: begin - span.lowerBound + offset, size: size, skip: begin - piece.offset))
    }
    return ValuePart(offset: offset, size: span.count, location: .pieces(found))
  }

  /// The pieces of a part, counted from the start of the whole.
  func moved(by distance: Int) -> Location {
    guard case .pieces(let pieces) = self else { return self }
    return .pieces(pieces.map { Piece(place: $0.place, offset: $0.offset + distance, size: $0.size) })
  }
}
