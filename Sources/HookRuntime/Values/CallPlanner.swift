// CallPlanner — from a declaration and the way its body was specialised to the places of its values.
//
// Source of the rules: IRGen's GenCall.cpp (order of results, arguments, metadata) and the x86-64 swiftcc register
// lists; each rule is checked against `swiftc -emit-irgen` in the tests.
package import SwiftMangling

package struct CallPlanner {
  private let types: TypeResolver
  package init(types: TypeResolver = .shared) { self.types = types }

  /// The plan for the body that `declaration` (of a base or a clone) names.
  package func plan(_ declaration: Declaration) -> CallPlan {
    let isEnterOnly = declaration.functionType.isAsync || declaration.isCoroutine
    if let reason = Self.distrust(declaration) {
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
    let result = declaration.isCoroutine
      ? ResultPlan(type: function.result, info: nil, location: .unknown("coroutine"))
      : result(function)
    let owned = ownsArguments
    let arguments = function.parameters.enumerated().map { index, parameter in
      argument(parameter, isOwned: parameter.ownership == .owned || (owned && parameter.ownership != .borrowed && (index == 0 || declaration.kind != .setter)))
    }
    let selfPlan = selfPlan()
    return CallPlan(
      arguments: arguments, selfPlan: selfPlan, result: result, thrown: function.thrown, isEnterOnly: isEnterOnly,
      stackBytes: stackBound(function, selfPlan), isExact: lost == nil, selfEndsWithCall: declaration.kind.isDeinit)
  }

  /// Bytes of stack arguments to copy: exact for what is known, a bound for the rest. Copying too much reads the
  /// caller's own frame, which is harmless; copying too little would lose arguments.
  private func stackBound(_ function: FunctionType, _ selfPlan: SelfPlan) -> Int {
    var bound = slots
    if lost != nil { bound += 16 + 4 * function.parameters.count }
    // A value self takes up to four words behind the arguments, with its metadata.
    if case .unknown = selfPlan { bound += 6 }
    // Metadata and witness tables of generic parameters come last, one per parameter and requirement.
    if declaration.isGeneric || declaration.contextKind == .protocolType || !declaration.genericParameterCounts.isEmpty {
      bound += 8 + 4 * (declaration.genericParameterCounts.reduce(0, +) + declaration.requirements.count)
    }
    if case .typed = function.thrown { bound += 1 }
    return min(bound, 512) * 8
  }

  /// Initialisers own their arguments, setters the new value.
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
    if parameter.isVariadic { plan.type = .nominal(NominalName(module: "Swift", steps: [.init(name: "Array", kind: .structure)]), kind: .structure, arguments: [parameter.type]) }
    if parameter.isInout {
      plan.info = try? types.type(parameter.type).get()
      plan.location = scalarPlace { .address($0) }
      return plan
    }
    if case .tuple(let elements) = parameter.type, !elements.isEmpty {
      for element in elements { _ = leaf(element.type) }
      plan.location = lost.map { .unknown($0) } ?? .unknown("tuple")
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
    switch type {
    case .genericParameter, .dependentMember:
      // An unspecialised generic value goes by address, unless a class bound makes it a reference.
      if declaration.requirements.isEmpty { return .indirect }
      lost = "generic parameter with requirements"
      return nil
    case .metatype(let instance):
      switch instance {
      case .nominal(_, .classType, _), .genericParameter, .dependentMember, .dynamicSelf:
        return .direct([Scalar(offset: 0, size: 8, kind: .integer)])
      case .nominal(_, .structure, _), .nominal(_, .enumeration, _), .tuple, .function: return .direct([])  // thin
      default:
        lost = "metatype"
        return nil
      }
    case .function(let function):
      let words = function.convention == .c || function.convention == .thin || function.convention == .block ? 1 : 2
      return .direct((0..<words).map { Scalar(offset: 8 * $0, size: 8, kind: .integer) })
    default:
      switch types.type(type) {
      case .success(let info): return info.passing
      case .failure(let problem):
        lost = problem.description
        return nil
      }
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
    if case .typed = function.thrown {
      plan.location = .unknown("typed throws")
      lost = "typed throws"
      return plan
    }
    if function.isAsync {
      plan.location = .unknown("async")
      plan.info = try? types.type(function.result).get()
      // The indirect result of an async function is its first integer argument.
      if case .success(let info) = types.type(function.result) {
        if info.passing == .indirect { integers += 1 }
      } else if !function.result.isVoid { lost = "async result of unknown type" }
      return plan
    }
    if case .unchanged = resultChange {} else {
      plan.location = .optimizedOut
      return plan
    }
    if case .tuple(let elements) = function.result, !elements.isEmpty { return tupleResult(plan, elements) }
    if case .dynamicSelf = function.result { return objectResult(plan) }
    switch types.type(function.result) {
    case .success(let info):
      plan.info = info
      plan.location = Self.returned(info.passing)
    case .failure(let problem):
      plan.location = .unknown(problem.description)
    }
    return plan
  }

  private func objectResult(_ plan: ResultPlan) -> ResultPlan {
    var plan = plan
    plan.location = .unknown("dynamic Self")
    return plan
  }

  /// Address-only elements are returned through pointers that come first; with several of them, or with others
  /// beside them, they take argument registers.
  private mutating func tupleResult(_ plan: ResultPlan, _ elements: [TupleElement]) -> ResultPlan {
    var plan = plan
    switch types.type(plan.type) {
    case .success(let info) where info.scalars != nil:
      plan.info = info
      plan.location = Self.returned(info.passing)
    default:
      plan.location = .unknown("tuple of indirect results")
      lost = "tuple result of unknown form"
    }
    return plan
  }

  static func returned(_ passing: Passing) -> Location {
    guard case .direct(let scalars) = passing else { return .address(.indirectResult) }
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

extension TypeSyntax {
  package var isVoid: Bool { if case .tuple(let elements) = self { elements.isEmpty } else { false } }
}
