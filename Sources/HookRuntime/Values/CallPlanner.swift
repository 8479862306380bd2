// CallPlanner — from a declaration and the way its body was specialised to the places of its values.
//
// Source of the rules: IRGen's GenCall.cpp (order of results, arguments, metadata) and the x86-64 swiftcc register
// lists; each rule is checked against `swiftc -emit-irgen` in the tests.
package import SwiftMangling

package struct CallPlanner {
  private let types: TypeResolver
  package init(types: TypeResolver = .shared) { self.types = types }

  /// The plan for the body that `declaration` (of a base or a clone) names.
  /// - Parameter conflict: why calls that enter the body may carry other values.
  package func plan(_ declaration: Declaration, sharing conflict: String? = nil) -> CallPlan {
    let isEnterOnly = declaration.isCoroutine
    if let reason = conflict ?? Self.distrust(declaration) {
      return .opaque(declaration, reason: reason, isEnterOnly: isEnterOnly)
    }
    var build = Build(types: types, declaration: declaration)
    return build.make(isEnterOnly: isEnterOnly)
  }

  /// Why the body's convention may differ from its mangled type.
  static func distrust(_ declaration: Declaration) -> String? {
    if declaration.isMerged { return "merged body: it takes extra arguments" }
    if declaration.kind.isClosure { return "closure: the optimiser may have changed its convention" }
    if declaration.isEffectivelyPrivate { return "private: the optimiser may have changed its convention" }
    for step in declaration.specialization {
      if case .generic = step { return "generic specialisation" }
    }
    if declaration.specialization.count > 1 { return "specialised more than once" }
    switch declaration.kind {
    case .function, .allocatingInit, .`init`, .`deinit`, .deallocatingDeinit, .getter, .setter, .read, .modify, .read2, .modify2,
      .willSet, .didSet:
      return nil
    default: return "compiler-made function"
    }
  }
}

extension Declaration {
  /// `modify` and `read` yield in the middle: what the entry returns is not their result.
  package var isCoroutine: Bool {
    switch kind {
    case .modify, .read, .modify2, .read2: true
    default: false
    }
  }
}

/// One plan in the making: hands out registers in order.
private struct Build {
  let types: TypeResolver
  let declaration: Declaration
  private var integers = 0
  private var floats = 0
  private var slots = 0
  /// Set once a value of unknown size went by: places are no longer known.
  private var lost: String?
  private var changes: [SpecializedValue]?
  private var resultChange = SpecializedValue.unchanged
  private var nextParameter = 0

  init(types: TypeResolver, declaration: Declaration) {
    self.types = types
    self.declaration = declaration
    if case .signature(let parameters, let result)? = declaration.specialization.first {
      changes = parameters
      resultChange = result
    }
  }

  mutating func make(isEnterOnly: Bool) -> CallPlan {
    let function = declaration.functionType
    if case .caller = function.isolation, function.isAsync { integers += 2 }  // the implicit isolation argument
    switch declaration.kind {
    case .modify, .read: integers += 1  // the coroutine buffer
    case .modify2, .read2: integers += 2  // buffer and allocator
    default: break
    }
    let result =
      declaration.isCoroutine
      ? ResultPlan(type: function.result, info: nil, location: .unknown("coroutine"))
      : result(function)
    let owned = ownsArguments
    let arguments = function.parameters.map { parameter in
      argument(parameter, isOwned: !parameter.isInout && (parameter.ownership == .owned || (owned && parameter.ownership != .borrowed)))
    }
    let selfPlan = selfPlan()
    return CallPlan(
      arguments: arguments, selfPlan: selfPlan, result: result, thrown: function.thrown, isEnterOnly: isEnterOnly,
      stack: stack(function, selfPlan), isExact: lost == nil, of: declaration)
  }

  /// Bytes of stack arguments to copy: exact for what is known, a bound for the rest. Copying too much reads the
  /// caller's own frame, which is harmless; copying too little would lose arguments.
  private func stack(_ function: FunctionType, _ selfPlan: SelfPlan) -> StackArguments {
    let more = hiddenWords(function, selfPlan)
    // What is not known may still be known to fit into registers.
    let fits = more == 0 || integers + more <= 6 && floats + 4 <= 8
    if lost == nil, fits { return StackArguments(bytes: 8 * slots, isKnown: true) }
    return StackArguments(bytes: 8 * min(slots + more + (lost == nil ? 0 : 16 + 4 * function.parameters.count), 512), isKnown: false)
  }

  /// At most so many words travel behind the arguments.
  private func hiddenWords(_ function: FunctionType, _ selfPlan: SelfPlan) -> Int {
    var bound = 0
    // A value self takes up to four words behind the arguments, with its metadata.
    if case .unknown = selfPlan { bound += 6 }
    // Metadata and witness tables of generic parameters come last, one per parameter and requirement.
    if declaration.isGeneric || declaration.contextKind == .protocolType || !declaration.genericParameterCounts.isEmpty {
      bound += 8 + 4 * (declaration.genericParameterCounts.reduce(0, +) + declaration.requirements.count)
    }
    if case .typed = function.thrown { bound += 1 }
    return bound
  }

  /// Initialisers and setters own their arguments, a subscript's indices too.
  private var ownsArguments: Bool {
    switch declaration.kind {
    case .allocatingInit, .`init`, .setter: true
    default: false
    }
  }

  // MARK: Parameters

  private mutating func argument(_ parameter: Parameter, isOwned: Bool) -> ArgumentPlan {
    var plan = ArgumentPlan(
      label: parameter.label, type: parameter.type, info: nil, location: .unknown(""), isInout: parameter.isInout, isOwned: isOwned)
    if parameter.isVariadic {
      plan.type = .nominal(
        NominalName(module: "Swift", steps: [.init(name: "Array", kind: .structure)]), kind: .structure, arguments: [parameter.type])
    }
    if parameter.isInout {
      plan.info = try? types.type(parameter.type).get()
      plan.location = scalarPlace { .address($0) }
      return plan
    }
    if declaration.kind == .didSet {
      // An observer that does not mention `oldValue` does not get it.
      plan.location = .unknown("whether the observer takes the old value is not in its name")
      lost = "observer"
      return plan
    }
    if case .tuple(let elements) = plan.type {
      plan.info = try? types.type(plan.type).get()
      plan.location = spread(elements, plan.info?.metadata)
      return plan
    }
    let (info, location, change) = leaf(plan.type)
    plan.info = info
    plan.location = location
    switch change {
    case .ownedToGuaranteed: plan.isOwned = false
    case .guaranteedToOwned: plan.isOwned = true
    default: break
    }
    return plan
  }

  /// A tuple parameter is one parameter for each element, nested ones too.
  private mutating func spread(_ elements: [TupleElement], _ tuple: Metadata?) -> Location {
    let layout = tuple?.tupleElements
    var pieces: [Piece] = []
    var problem: String?
    for (index, element) in elements.enumerated() {
      let inner = layout.flatMap { $0.count == elements.count ? $0[index] : nil }
      let location: Location
      if case .tuple(let nested) = element.type {
        location = spread(nested, inner?.metadata)
      } else {
        let (_, place, change) = leaf(element.type)
        location = place
        if change != .unchanged { problem = problem ?? "taken apart by a specialisation" }
      }
      switch (location, inner) {
      case (.pieces(let parts), let inner?):
        pieces += parts.map { Piece(place: $0.place, offset: $0.offset + inner.offset, size: $0.size) }
      case (.unknown(let reason), _): problem = problem ?? reason
      default: problem = problem ?? "a tuple with elements in memory"
      }
    }
    return problem.map { .unknown($0) } ?? .pieces(pieces)
  }

  /// The change the specialisation made to the next SIL parameter.
  private mutating func nextChange() -> SpecializedValue {
    defer { nextParameter += 1 }
    guard let changes else { return .unchanged }
    return nextParameter < changes.count ? changes[nextParameter] : .other("missing")
  }

  /// One place for a pointer.
  private mutating func scalarPlace(_ make: (Place) -> Location) -> Location {
    switch nextChange() {
    case .unchanged, .ownedToGuaranteed, .guaranteedToOwned: break
    case .dead: return .optimizedOut
    default: lost = lost ?? "changed by a specialisation"
    }
    if let lost { return .unknown(lost) }
    return make(takeInteger())
  }

  /// A value that is one SIL parameter.
  private mutating func leaf(_ type: TypeSyntax) -> (TypeInfo?, Location, SpecializedValue) {
    let change = nextChange()
    let info = try? types.type(type).get()
    switch change {
    case .unchanged, .ownedToGuaranteed, .guaranteedToOwned: break
    case .dead, .constant, .closure: return (info, .optimizedOut, change)
    default: lost = lost ?? "taken apart by a specialisation"
    }
    if let lost { return (info, .unknown(lost), change) }
    guard let passing = passing(of: type) else { return (info, .unknown(lost ?? ""), change) }
    switch passing {
    case .indirect: return (info, .address(takeInteger()), change)
    case .direct(let scalars): return (info, .pieces(scalars.flatMap { take($0) }), change)
    }
  }

  /// How a parameter of the type travels; nil (and lost) when unknown.
  private mutating func passing(of type: TypeSyntax) -> Passing? {
    // An unspecialised generic value goes by address, or is a reference: one integer register in either case.
    if type.isGenericValue { return .direct([Scalar(offset: 0, size: 8, kind: .integer)]) }
    switch shape(of: type) {
    case .success(let shape): return shape.map(AggregateLowering.lower) ?? .indirect
    case .failure(let problem):
      lost = problem.description
      return nil
    }
  }

  /// The scalars of a value of the type by itself, nil when it is address-only.
  private func shape(of type: TypeSyntax) -> Result<[Scalar]?, TypeProblem> {
    switch type {
    case .metatype(let instance): instance.hasOneMetatype ? .success([]) : .success([Scalar(offset: 0, size: 8, kind: .integer)])
    case .function(let function):
      .success(
        (0..<(function.convention == .c || function.convention == .thin || function.convention == .block ? 1 : 2)).map {
          Scalar(offset: 8 * $0, size: 8, kind: .integer)
        })
    // Metadata has a word for the metatype where the code has a case number alone.
    case .nominal(let name, .enumeration, let arguments) where name.isOptional && arguments.count == 1 && arguments[0].isThinMetatype:
      .success([Scalar(offset: 0, size: 1, kind: .integer)])
    default: types.type(type).map(\.scalars)
    }
  }

  // MARK: Places

  private mutating func takeInteger() -> Place {
    if integers < 6 {
      integers += 1
      return .integer(integers - 1)
    }
    slots += 1
    return .stack(slots - 1)
  }

  private mutating func take(_ scalar: Scalar) -> [Piece] {
    switch scalar.kind {
    case .integer where scalar.size <= 8, .opaque where scalar.size <= 8:
      return [Piece(place: takeInteger(), offset: scalar.offset, size: scalar.size)]
    case .integer, .opaque:
      // A 128-bit integer is never split between registers and stack.
      if integers + 2 <= 6 {
        integers += 2
        return (0..<2).map { Piece(place: .integer(integers - 2 + $0), offset: scalar.offset + 8 * $0, size: 8) }
      }
      slots = (slots + 1) / 2 * 2 + 2
      return (0..<2).map { Piece(place: .stack(slots - 2 + $0), offset: scalar.offset + 8 * $0, size: 8) }
    case .extended:
      slots = (slots + 1) / 2 * 2 + 2
      return [
        Piece(place: .stack(slots - 2), offset: scalar.offset, size: 8),
        Piece(place: .stack(slots - 1), offset: scalar.offset + 8, size: 2),
      ]
    case .vector where floats >= 8:
      slots = (slots + 1) / 2 * 2 + 2
      return (0..<2).map { Piece(place: .stack(slots - 2 + $0), offset: scalar.offset + 8 * $0, size: 8) }
    case .float, .vector:
      if floats < 8 {
        floats += 1
        return [Piece(place: .float(floats - 1), offset: scalar.offset, size: scalar.size)]
      }
      slots += 1
      return [Piece(place: .stack(slots - 1), offset: scalar.offset, size: scalar.size)]
    }
  }

  // MARK: Result

  private mutating func result(_ function: FunctionType) -> ResultPlan {
    var plan = ResultPlan(type: function.result, info: nil, location: .unknown(""))
    plan.info = try? types.type(function.result).get()
    if case .tuple(let elements) = function.result, !elements.isEmpty {
      plan.location = tupleResult(elements, plan.info)
    } else if case .dynamicSelf = function.result {
      plan.location = .unknown("dynamic Self")
    } else {
      switch shape(of: function.result) {
      case .success(let shape): plan.location = Self.returned(shape.map(AggregateLowering.lower) ?? .indirect)
      case .failure(let problem): plan.location = .unknown(problem.description)
      }
    }
    if function.isAsync { takeAsyncResult(&plan) }
    if case .unchanged = resultChange {
    } else {
      plan.location = .optimizedOut
    }
    // The registers may hold the error instead, which only its type tells.
    if case .typed = function.thrown { plan.location = .unknown("typed throws") }
    return plan
  }

  /// The results of an async function are arguments of the function that is resumed, in the order of registers that
  /// `HKTResults` has after any call; the address of an indirect one is the first integer argument, kept as if it were
  /// in rax (`swiftc -emit-irgen`; async.c).
  private mutating func takeAsyncResult(_ plan: inout ResultPlan) {
    switch plan.location {
    case .address: integers += 1
    case .unknown where !plan.type.isVoid:
      if case .tuple = plan.type { break }
      if case .dynamicSelf = plan.type { break }
      lost = "async result of unknown type"
    default: break
    }
    if declaration.isAsyncAccessor {
      plan.location = .unknown("whether an async getter throws is not in its name")
    }
  }

  /// The elements are results of their own: address-only ones go through pointers that come before all arguments
  /// (in rax when there is no other result), the rest is returned as one tuple.
  private mutating func tupleResult(_ elements: [TupleElement], _ info: TypeInfo?) -> Location {
    var leaves = 0
    var pointers = 0
    func visit(_ type: TypeSyntax) -> TypeProblem? {
      if case .tuple(let nested) = type {
        for element in nested { if let problem = visit(element.type) { return problem } }
        return nil
      }
      switch shape(of: type) {
      case .success(let scalars):
        leaves += 1
        if scalars == nil { pointers += 1 }
        return nil
      case .failure(let problem): return problem
      }
    }
    if let problem = visit(.tuple(elements)) {
      lost = "tuple result: \(problem.description)"
      return .unknown(problem.description)
    }
    if pointers == 0 { return info.map { Self.returned($0.passing) } ?? .unknown("tuple result of unknown layout") }
    if leaves > 1 || declaration.functionType.isAsync { integers += pointers }
    return .unknown("a tuple with results in memory")
  }

  static func returned(_ passing: Passing) -> Location {
    guard case .direct(let scalars) = passing else { return .address(.indirectResult) }
    if scalars.contains(where: { $0.kind == .extended }) { return .unknown("returned on the x87 stack") }
    var integers = 0
    var floats = 0
    var pieces: [Piece] = []
    for scalar in scalars {
      if scalar.kind == .float || scalar.kind == .vector {
        pieces.append(Piece(place: .float(floats), offset: scalar.offset, size: scalar.size))
        floats += 1
      } else {
        for part in stride(from: 0, to: scalar.size, by: 8) {
          pieces.append(Piece(place: .integer(integers), offset: scalar.offset + part, size: min(8, scalar.size - part)))
          integers += 1
        }
      }
    }
    return .pieces(pieces)
  }

  // MARK: Self

  private mutating func selfPlan() -> SelfPlan {
    guard let kind = declaration.contextKind, declaration.context != nil else { return .none }
    let change = nextChange()
    let isObject: Bool
    switch declaration.kind {
    case .allocatingInit: isObject = false
    default: isObject = !declaration.isStatic
    }
    // A clone that knows a closure or constant argument is no method any more, and takes what those captured at the end.
    if let changes, !changes.allSatisfy(\.keepsMethod) { return isObject ? .unknown("specialised for its arguments") : .none }
    guard kind == .classType else { return isObject ? .unknown("whether it is mutating is not in its name") : .none }
    switch change {
    case .unchanged: return isObject ? .object(.selfRegister) : .metatype(.selfRegister)
    case .dead: return .unknown("<optimized out>")
    case .ownedToGuaranteed, .guaranteedToOwned:
      // A clone with a changed self is no method any more: self is its last ordinary argument.
      if let lost { return .unknown(lost) }
      let place = takeInteger()
      return isObject ? .object(place) : .metatype(place)
    default: return .unknown("taken apart by a specialisation")
    }
  }
}

extension SpecializedValue {
  /// The function stays a method with `self` in its register.
  fileprivate var keepsMethod: Bool {
    switch self {
    case .unchanged, .dead, .ownedToGuaranteed, .guaranteedToOwned, .exploded: true
    case .combined(let all): all.allSatisfy(\.keepsMethod)
    default: false
    }
  }
}

extension NominalName {
  fileprivate var isOptional: Bool { module == "Swift" && shortName == "Optional" }
}

extension TypeSyntax {
  /// A generic parameter, or one in Optionals: its representation is not known here, but it is never more than a pointer.
  fileprivate var isGenericValue: Bool {
    switch self {
    case .genericParameter, .dependentMember: true
    case .nominal(let name, .enumeration, let arguments) where name.isOptional && arguments.count == 1: arguments[0].isGenericValue
    default: false
    }
  }

  fileprivate var isThinMetatype: Bool { if case .metatype(let instance) = self { instance.hasOneMetatype } else { false } }

  /// The type has no subtypes, so that its metatype has one value and no bits.
  fileprivate var hasOneMetatype: Bool {
    switch self {
    case .nominal(_, .structure, _), .nominal(_, .enumeration, _), .tuple, .function, .existential, .constrainedExistential: true
    case .metatype(let instance): instance.hasOneMetatype
    default: false
    }
  }

  package var isVoid: Bool { if case .tuple(let elements) = self { elements.isEmpty } else { false } }
}
