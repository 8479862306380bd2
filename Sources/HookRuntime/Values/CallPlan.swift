// CallPlan — where the arguments and results of one body are when it is entered and left (swiftcc, x86-64).
internal import CHookTrampoline
package import SwiftMangling

/// A register or stack slot at entry, or a result register on return.
package enum Place: Hashable, Sendable {
  case integer(Int)  // rdi rsi rdx rcx r8 r9 at entry; rax rdx rcx r8 on return
  case float(Int)  // xmm0-7 at entry; xmm0-3 on return
  case stack(Int)  // 8-byte slot above the return address
  case selfRegister  // r13
  case indirectResult  // rax at entry
  /// An integer result register that holds the address of what a coroutine accessor yields, until the access ends.
  case yielded(Int)
  case x87(Int)  // st0 and st1 on return
}

extension Place {
  /// Bytes from the start of the frame to where the register is kept; nil for what is on the stack, and floats.
  var inFrame: UInt16? {
    switch self {
    case .integer(let i): UInt16(8 * i)
    case .selfRegister: UInt16(MemoryLayout<HKTFrame>.offset(of: \.self_register)!)
    case .indirectResult: UInt16(MemoryLayout<HKTFrame>.offset(of: \.indirect_result)!)
    case .float, .stack, .yielded, .x87: nil
    }
  }
}

/// Part of a value, in one place.
package struct Piece: Hashable, Sendable {
  package var place: Place
  package var offset: Int
  package var size: Int
  /// Bytes of the place before the piece: results that share a register.
  package var skip = 0
}

/// Where a value is.
package enum Location: Hashable, Sendable {
  case pieces([Piece])
  /// The place holds the address of the value.
  case address(Place)
  /// Its parts are passed in different ways, or only some of them are.
  case parts([ValuePart])
  /// The optimiser removed it from this body.
  case optimizedOut
  case unknown(String)
}

/// Part of a value that is passed by itself.
package struct ValuePart: Hashable, Sendable {
  package var offset: Int
  package var size: Int
  /// `.pieces` (whose offsets count from the start of the whole value), `.address` (of this part), or why it is not there.
  package var location: Location
  /// Bytes between the address and the part: elements that lie in one memory.
  package var skip = 0
}

extension Location {
  /// The bytes of the value in this range are there, all of them.
  package func has(offset: Int, size: Int) -> Bool {
    switch self {
    case .pieces, .address: true
    case .optimizedOut, .unknown: false
    case .parts(let parts):
      parts.allSatisfy { $0.offset >= offset + size || $0.offset + $0.size <= offset || $0.location.isWhole }
    }
  }

  /// The whole value is there.
  package var isWhole: Bool { if case .parts(let parts) = self { parts.allSatisfy(\.location.isWhole) } else { has(offset: 0, size: 0) } }

  /// A part of the result is a Float80, on the stack of the x87.
  var isOnX87: Bool { places.contains { if case .x87 = $0 { true } else { false } } }

  /// All registers and stack slots the value, or its address, is in.
  package var places: [Place] {
    switch self {
    case .pieces(let pieces): pieces.map(\.place)
    case .address(let place): [place]
    case .parts(let parts): parts.flatMap(\.location.places)
    case .optimizedOut, .unknown: []
    }
  }
}

package struct ArgumentPlan: Sendable {
  package var label: String?
  package var type: TypeSyntax
  /// nil where the type is not known in this process.
  package var info: TypeInfo?
  package var location: Location
  package var isInout = false
  /// The callee releases it: a replacement is given away, and what it replaces is released.
  package var isOwned = false
  /// Some parts are owned, others borrowed: it can be read only.
  package var hasMixedOwnership = false

  /// Another value can take its place.
  package var isReplaceable: Bool { info != nil && location.isWhole && !hasMixedOwnership }
  /// The callee ends the value, which is more than bits. That may be out of reach: an argument that nothing shows to be
  /// passed is no argument to read, but the callee may have it and end it all the same.
  package var isEnded: Bool { isOwned && !(info?.isTrivial ?? false) }
  /// The value is not the caller's any more after a run: the callee ends it, or it cannot be copied.
  package var isConsumed: Bool { isEnded || isOwned && info?.isCopyable == false }
}

/// What is asked of an argument when it is replaced. Owns nothing, so that asking costs no reference count.
package struct ArgumentTraits: Sendable {
  /// The plan keeps it.
  package let info: Unmanaged<TypeInfo>?
  package let isInout: Bool
  package let isOwned: Bool
  package let isReplaceable: Bool

  init(_ plan: ArgumentPlan) {
    info = plan.info.map { .passUnretained($0) }
    isInout = plan.isInout
    isOwned = plan.isOwned
    isReplaceable = plan.isReplaceable
  }
}

package struct ResultPlan: Sendable {
  package var type: TypeSyntax
  package var info: TypeInfo?
  package var location: Location
  /// The caller releases it; otherwise somebody else holds it, and a replacement would be lost.
  package var isOwned = true
  /// A coroutine accessor yields the value to its caller, which borrows it for the time of an access.
  package var isYielded = false
  /// Another value can take its place.
  package var isReplaceable: Bool { !isYielded && (info.map { location.isWhole && (isOwned || $0.isTrivial) } ?? false) }
}

/// Where the `self` of a struct or enum is.
package struct ValueSelfPlan: Sendable {
  package var type: TypeSyntax
  /// nil where the type is not known in this process.
  package var info: TypeInfo?
  package var location: Location
  package var access = Access.unknown
  /// What is there to read at the entry, where that is less than `location` says: of a variable that the body may change, callers
  /// store only what it reads.
  package var atEntry: Location?

  /// Where handlers read it.
  package var readable: Location { atEntry ?? location }

  package enum Access: Hashable, Sendable {
    case borrowed, owned
    /// The body may change it in place: `location` is the address of the caller's variable.
    case inPlace
    /// By address, and whether it is the caller's variable is not known; or by value, and a method may be consuming, so that
    /// the value may be gone when it returns.
    case unknown
  }
}

/// The bytes of stack arguments; an upper bound when `isKnown` is false.
package struct StackArguments: Hashable, Sendable {
  package var bytes: Int
  package var isKnown: Bool
  /// Where only a bound is known, no more than these are copied.
  static let mostWords = 1024
  /// How many integer registers the function takes, where everything it takes is known.
  package var integers: Int?
}

/// Who `self` is.
package enum SelfPlan: Sendable {
  case none
  /// A class instance whose reference is at the place.
  case object(Place)
  /// The metatype of a class.
  case metatype(Place)
  /// A struct or enum.
  case value(ValueSelfPlan)
  /// A value we cannot locate, and why.
  case unknown(String)
}

/// Everything the dispatcher and the scripts need to know of one body's calls.
package final class CallPlan: @unchecked Sendable {
  // Immutable; `slots` is written in init only.
  package let arguments: [ArgumentPlan]
  package let selfPlan: SelfPlan
  package let result: ResultPlan
  package let thrown: Thrown
  /// The results are those of an async function: they come back as arguments of the function that is resumed.
  package let isAsync: Bool
  package let stack: StackArguments
  package let isExact: Bool
  /// Where a typed error is when r12 says that there is one; nil for functions that throw any error, or none.
  package let thrownValue: ResultPlan?
  /// Metadata and witness tables behind the arguments of a generic body.
  package let hiddenArguments: [HiddenArgument]
  private let declaration: Declaration
  /// Names the function's module, as call sites name their caller's.
  let module: UInt64
  static func module(named name: String) -> UInt64 { max(1, NameHash.of(name)) }
  /// How to find the types of one call, where the body is generic.
  let generics: GenericCall?

  /// What generic values are, each call tells.
  package var learnsTypesFromCalls: Bool { generics != nil }

  /// Why nothing of the call is known; nil when something may be.
  package let opaqueBecause: String?

  // What every call asks for: plain values, so that asking costs no reference count.
  /// The first of them once more, where C finds them; lives as long as the plan.
  let facts: UnsafePointer<HKTPlanFacts>
  package let argumentCount: Int
  /// One per argument; lives as long as the plan.
  package let slots: UnsafePointer<ValueSlot>
  /// Words on the stack that hold arguments for certain. Where only a bound is known, those of the arguments whose places are: what lies behind
  /// what callers pass is their own.
  let argumentWords: Int
  /// How many of the first arguments have slots that hold numbers, Bools or Strings.
  package let plainSlots: Int
  /// One per argument, none where each call tells what the values are; lives as long as the plan.
  package let recipes: UnsafePointer<ValueRecipe>
  /// One per argument; lives as long as the plan.
  package let traits: UnsafePointer<ArgumentTraits>
  /// One per argument; lives as long as the plan.
  let straightArguments: UnsafePointer<StraightPlace>
  package let resultSlot: ValueSlot
  let straightResult: StraightPlace
  package let selfSlot: ValueSlot
  package let resultIsVoid: Bool
  /// Bit i: argument i is a word in a register, of the type of the result, which is one too.
  package let argumentsLikeResult: UInt64
  /// The result is of the class that self is of, or that self is: `Self`, and what initialisers of classes return, which those of
  /// subclasses call for objects of their own.
  package let resultIsOfSelf: Bool
  /// The integer register or r13 that holds the address of a struct's or enum's `self`, by its offset in the frame; -1 for none.
  let selfAddressOffset: Int
  let changesSelfInPlace: Bool
  /// Callers look for an error, so that a handler may throw one.
  package let mayThrow: Bool
  /// It is declared with `throws`; the optimiser may have made a private function one that cannot.
  package let declaresError: Bool
  /// The error register may come back with an error. What throws nothing returns that register as it was at entry.
  package let mayReturnError: Bool
  /// Of an async function: nothing tells whether it throws.
  let hasUnknownEffect: Bool
  package let throwsTyped: Bool
  /// Some argument is consumed by the callee.
  package let consumesArguments: Bool

  init(
    arguments: [ArgumentPlan], selfPlan: SelfPlan, result: ResultPlan, thrown: Thrown, stack: StackArguments,
    isExact: Bool, hidden: [HiddenArgument] = [], thrownValue: ResultPlan? = nil, generics: GenericCall? = nil,
    opaqueBecause: String? = nil, selfUse: SelfUse = .unknown, of declaration: Declaration
  ) {
    isMethod = declaration.kind == .function && declaration.hasInstance
    mayConsumeSelf = declaration.mayConsumeSelf
    isGetter = declaration.kind == .getter
    if case .object = selfPlan, mayConsumeSelf { self.selfUse = selfUse } else { self.selfUse = .kept }
    self.opaqueBecause = opaqueBecause
    hiddenArguments = hidden
    self.thrownValue = thrownValue
    self.generics = generics
    self.declaration = declaration
    module = Self.module(named: declaration.module)
    self.arguments = arguments
    self.selfPlan = selfPlan
    self.result = result
    self.thrown = thrown
    isAsync = declaration.functionType.isAsync
    let isInit = declaration.kind == .`init` || declaration.kind == .allocatingInit
    resultIsOfSelf = declaration.contextKind == .classType && (isInit || result.type.isDynamicSelf)
    self.stack = stack
    self.isExact = isExact
    selfEndsWithCall = declaration.kind.isDeinit
    freesSelf = declaration.kind == .deallocatingDeinit || declaration.kind == .isolatedDeinit
    isOnClass = declaration.contextKind == .classType
    makesSelf = isInit && declaration.contextKind == .classType
    consumesSelf = selfEndsWithCall || makesSelf && declaration.kind == .`init` || self.selfUse == .consumed
    argumentCount = arguments.count
    let places = arguments.lazy.flatMap(\.location.places)
    argumentWords = stack.isKnown ? stack.bytes / 8 : places.map { if case .stack(let slot) = $0 { slot + 1 } else { 0 } }.max() ?? 0
    let slots = UnsafeMutablePointer<ValueSlot>.allocate(capacity: arguments.count)
    for (index, argument) in arguments.enumerated() { (slots + index).initialize(to: .argument(argument)) }
    self.slots = UnsafePointer(slots)
    plainSlots = (0..<arguments.count).first { !slots[$0].isPlain } ?? arguments.count
    let recipes = UnsafeMutablePointer<ValueRecipe>.allocate(capacity: arguments.count)
    for (index, argument) in arguments.enumerated() { (recipes + index).initialize(to: generics == nil ? ValueRecipe(argument) : .none) }
    self.recipes = UnsafePointer(recipes)
    let traits = UnsafeMutablePointer<ArgumentTraits>.allocate(capacity: arguments.count)
    for (index, argument) in arguments.enumerated() { (traits + index).initialize(to: ArgumentTraits(argument)) }
    self.traits = UnsafePointer(traits)
    let straight = UnsafeMutablePointer<StraightPlace>.allocate(capacity: arguments.count)
    for (index, argument) in arguments.enumerated() { (straight + index).initialize(to: .argument(argument)) }
    straightArguments = UnsafePointer(straight)
    // The registers may hold a typed error instead, which is looked at by plan.
    if case .typed = thrown {
      (resultSlot, straightResult) = (.none, .none)
    } else {
      (resultSlot, straightResult) = (.result(result), .result(result))
    }
    selfSlot = .object(selfPlan)
    resultIsVoid = result.type.isVoid
    let resultIsWord = Self.isWord(result.location, result.info)
    argumentsLikeResult = !resultIsWord ? 0 : arguments.prefix(64).enumerated().reduce(0) { found, argument in
      let (index, plan) = argument
      guard !plan.isInout, plan.info?.metadata.pointer == result.info?.metadata.pointer, Self.isWord(plan.location, plan.info) else { return found }
      return found | 1 << UInt64(index)
    }
    if case .value(let value) = selfPlan, case .address(let place) = value.location {
      selfAddressOffset = place == .selfRegister ? MemoryLayout<HKTFrame>.offset(of: \.self_register)! : -1
      changesSelfInPlace = value.access == .inPlace
    } else {
      selfAddressOffset = -1
      changesSelfInPlace = false
    }
    mayThrow = thrown == .any
    declaresError = declaration.functionType.thrown != .never
    // Whether a getter throws is not in its name, nor whether the optimiser let a private function go on throwing: one that
    // does not returns the register as it was. Of an async getter the code that its caller is resumed in tells (settle_error in async.c).
    mayReturnError = declaresError || mayThrow || declaration.kind == .getter
    hasUnknownEffect = declaration.isAsyncAccessor
    throwsTyped = if case .typed = thrown { true } else { false }
    consumesArguments = arguments.contains(where: \.isConsumed)
    let facts = UnsafeMutablePointer<HKTPlanFacts>.allocate(capacity: 1)
    facts.initialize(
      to: HKTPlanFacts(
        slots: slots, argument_count: Int32(argumentCount), plain_slots: Int32(plainSlots), self: selfSlot, result: resultSlot,
        may_return_error: mayReturnError || throwsTyped, consumes_self: consumesSelf, consumes_arguments: consumesArguments))
    self.facts = UnsafePointer(facts)
  }

  /// The result may be the argument: both are a word of one type.
  func argumentIsResult(_ index: Int) -> Bool { index < 64 && argumentsLikeResult >> UInt64(index) & 1 != 0 }

  private static func isWord(_ location: Location, _ info: TypeInfo?) -> Bool {
    guard info?.size == 8, case .pieces(let pieces) = location, pieces.count == 1, case .integer = pieces[0].place else { return false }
    return pieces[0].size == 8
  }

  deinit {
    facts.deallocate()
    slots.deallocate()
    recipes.deallocate()
    traits.deallocate()
    straightArguments.deallocate()
  }

  /// The first argument with this label.
  package func position(ofLabel label: UnsafeRawBufferPointer) -> Int? {
    if let same = (0..<argumentCount).first(where: { StringBits.are(arguments[$0].label, label) }) { return same }
    // Spelled in other bytes, where a letter has several spellings.
    let text = String(decoding: label, as: UTF8.self)
    return text.utf8.allSatisfy { $0 < 0x80 } ? nil : arguments.firstIndex { $0.label == text }
  }

  /// The object is gone when the call is over.
  package let selfEndsWithCall: Bool
  /// The object is no value before the initialiser is over: of its fields nothing is written yet, and one that fails frees it, whoever keeps it.
  package let makesSelf: Bool
  /// A `deinit` that gives the memory back, too; of others the caller does.
  package let freesSelf: Bool
  /// A method or a getter, which may be consuming.
  let mayConsumeSelf: Bool
  let isGetter: Bool
  private let isOnClass: Bool
  /// The object is gone when the call is over, or is handed back as the result unless the initialiser fails; or the method is consuming.
  package let consumesSelf: Bool
  /// The body runs on an object that may be gone when the call is over.
  var endsObject: Bool {
    if case .object = selfPlan { return consumesSelf }
    return false
  }
  /// A function of an instance.
  let isMethod: Bool
  /// What a method or a getter does with the object it runs on; `.kept` for everything else.
  package let selfUse: SelfUse

  /// The result comes on the x87 stack, or may: nothing else looks there.
  package var mayUseX87: Bool {
    switch result.location {
    case .unknown, .optimizedOut: !isAsync
    case .pieces, .address, .parts: result.location.isOnX87
    }
  }

  /// Where in the frame the reference to the object or the class is that the body runs on; nil where a call does not tell.
  var selfWord: (inFrame: UInt16, isClass: Bool)? {
    switch selfPlan {
    case .object(let place): place.inFrame.map { ($0, false) }
    case .metatype(let place): place.inFrame.map { ($0, true) }
    case .none, .value, .unknown: nil
    }
  }

  /// The original may run several times for one call: nothing that it ends or leaves behind is out of our reach.
  /// - Parameter leavesSelf: the struct or enum it runs on is there after a run; asked where the plan does not exclude it.
  package func canRunAgain(leavesSelf: (ValueSelfPlan) -> Bool) -> Bool {
    // What is consumed for certain is had again: see KeptSelf.
    if consumesSelf && selfUse != .consumed || result.isYielded || opaqueBecause != nil { return false }
    // Of async methods nothing is known: they are taken to give self back, as all but a few do.
    if selfUse == .unknown, !isAsync { return false }
    switch selfPlan {
    case .none, .object, .metatype, .unknown(CallPlan.gone): break
    case .value(let value):
      // A consuming method ends self at its first run; of what cannot be copied that may be more than its bits tell.
      let isSpent = value.access == .owned || value.access == .unknown && value.info?.isTrivial == true
      if value.info?.isCopyable == false, isSpent { return false }
      if value.location != .optimizedOut, !leavesSelf(value) { return false }
    case .unknown: if mayConsumeSelf, !isOnClass { return false }
    }
    if case .typed = thrown, thrownValue?.info == nil || thrownValue?.location.isWhole != true { return false }
    switch result.location {
    case .unknown, .optimizedOut: return resultIsVoid
    case .pieces, .address, .parts: return resultIsVoid || result.info != nil && result.isOwned
    }
  }

  /// No argument travels in one of these places (as HKTThunk numbers them).
  func leavesFree(_ added: UInt64) -> Bool {
    var used: UInt64 = 0
    func add(_ place: Place) {
      switch place {
      case .integer(let i): used |= 1 << UInt64(i)
      case .stack(let i) where i < Int(HKT_THUNK_SLOTS): used |= 1 << UInt64(Int(HKT_THUNK_REGISTERS) + i)
      case .float(let i): used |= 1 << UInt64(Int(HKT_THUNK_REGISTERS + HKT_THUNK_SLOTS) + i)
      default: break
      }
    }
    for argument in arguments { argument.location.places.forEach(add) }
    if case .value(let plan) = selfPlan { plan.location.places.forEach(add) }
    for argument in hiddenArguments { argument.location.places.forEach(add) }
    return used & added == 0
  }

  /// The plan of a body that is passed more behind its arguments, in these places (as HKTThunk numbers them).
  func passing(_ added: UInt64) -> CallPlan {
    let onStack = added >> UInt64(HKT_THUNK_REGISTERS) & (1 << UInt64(HKT_THUNK_SLOTS) - 1)
    let slots = 64 - onStack.leadingZeroBitCount
    return 8 * slots > stack.bytes ? changed(stack: StackArguments(bytes: 8 * slots, isKnown: stack.isKnown)) : self
  }

  /// The plan with parts of it replaced.
  func changed(
    arguments: [ArgumentPlan]? = nil, selfPlan: SelfPlan? = nil, result: ResultPlan? = nil, thrown: Thrown? = nil,
    generics: GenericCall? = nil, stack: StackArguments? = nil, selfUse: SelfUse? = nil
  ) -> CallPlan {
    CallPlan(
      arguments: arguments ?? self.arguments, selfPlan: selfPlan ?? self.selfPlan, result: result ?? self.result,
      thrown: thrown ?? self.thrown, stack: stack ?? self.stack, isExact: isExact, hidden: hiddenArguments,
      thrownValue: thrownValue, generics: generics ?? self.generics, opaqueBecause: opaqueBecause,
      selfUse: selfUse ?? self.selfUse, of: declaration)
  }

  /// This plan, which is `original` with other types, with what the code made of the places in `checked`.
  func located(like checked: CallPlan, not original: CallPlan) -> CallPlan {
    if checked === original { return self }
    var arguments = arguments
    for index in arguments.indices where checked.arguments[index].location != original.arguments[index].location {
      arguments[index].location = checked.arguments[index].location
    }
    var result = result
    if checked.result.location != original.result.location { result.location = checked.result.location }
    var selfPlan = selfPlan
    if case .value(var value) = selfPlan, case .value(let known) = checked.selfPlan, case .value(let first) = original.selfPlan,
      known.location != first.location
    {
      value.location = known.location
      selfPlan = .value(value)
    } else if case .unknown = checked.selfPlan {
      selfPlan = checked.selfPlan
    }
    return changed(arguments: arguments, selfPlan: selfPlan, result: result, thrown: checked.thrown, selfUse: checked.selfUse)
  }

  /// There is nothing to know: a closure without arguments and result, whatever the optimiser made of it.
  static func ofNothing(_ declaration: Declaration, thrown: Thrown) -> CallPlan {
    CallPlan(
      arguments: [], selfPlan: .none, result: ResultPlan(type: .tuple([]), info: nil, location: .pieces([])), thrown: thrown,
      stack: unknownStack(declaration), isExact: false, of: declaration)
  }

  private static func unknownStack(_ declaration: Declaration) -> StackArguments {
    // What a local function captures comes last, and no name tells how much that is.
    let captured = declaration.localContext.isEmpty ? 0 : 128
    return StackArguments(bytes: 8 * min(declaration.mostStackWords + captured, StackArguments.mostWords), isKnown: false)
  }

  /// Nothing is known but that the function exists.
  static func opaque(_ declaration: Declaration, reason: String, thrown: Thrown? = nil) -> CallPlan {
    let function = declaration.functionType
    return CallPlan(
      arguments: function.parameters.map {
        ArgumentPlan(label: $0.label, type: $0.type, info: nil, location: .unknown(reason), isInout: $0.isInout)
      },
      selfPlan: .unknown(reason),
      result: ResultPlan(type: function.result, info: nil, location: .unknown(reason)),
      thrown: thrown ?? function.thrown,
      stack: unknownStack(declaration), isExact: false, opaqueBecause: reason, of: declaration)
  }
}

extension Declaration {
  /// More words on the stack than it can take: a value that goes by itself has at most four, and each element of a tuple goes by
  /// itself; the rest is for self, an error and metadata.
  var mostStackWords: Int {
    16 + 4 * functionType.parameters.reduce(0) { $0 + $1.type.elementCount } + 4 * genericParameterCounts.reduce(0, +)
  }

  /// The declaration as a function: accessors take a setter's new value, then the index parameters.
  package var functionType: FunctionType {
    switch kind {
    case .getter, .read, .read2, .modify, .modify2, .willSet, .didSet, .setter:
      var function = FunctionType()
      function.isAsync = isAsyncAccessor
      var element = type ?? .tuple([])
      if case .function(let subscripting)? = type, name == "subscript" {
        function.parameters = subscripting.parameters
        element = subscripting.result
      }
      switch kind {
      case .getter: function.result = element
      case .setter, .willSet, .didSet:
        function.parameters.insert(Parameter(label: kind == .didSet ? "oldValue" : "newValue", type: element), at: 0)
      default: function.result = element
      }
      return function
    case .deinit, .deallocatingDeinit, .isolatedDeinit: return FunctionType()
    default:
      if case .function(let function)? = type { return function }
      return FunctionType()
    }
  }

  /// It may be declared `consuming`, or `consuming get`, which its name does not tell.
  var mayConsumeSelf: Bool { hasInstance && (kind == .function || kind == .getter) }

  /// Its calls are async, as `functionType` has it, which is dear to make.
  package var isAsync: Bool {
    switch kind {
    case .getter, .read, .read2, .modify, .modify2, .willSet, .didSet, .setter: return isAsyncAccessor
    case .deinit, .deallocatingDeinit, .isolatedDeinit: return false
    default:
      if case .function(let function)? = type { return function.isAsync }
      return false
    }
  }

  /// The enclosing type is private, or a function encloses the declaration: its convention may be changed like a private one's.
  package var isEffectivelyPrivate: Bool {
    isPrivate || !localContext.isEmpty || (context?.steps.contains { $0.privateDiscriminator != nil } ?? false)
  }
}

extension EntityKind {
  package var isDeinit: Bool {
    switch self {
    case .`deinit`, .deallocatingDeinit, .isolatedDeinit: true
    default: false
    }
  }
}

extension TypeSyntax {
  /// How many values a tuple is passed as; 1 of all else.
  fileprivate var elementCount: Int {
    if case .tuple(let elements) = self { elements.reduce(0) { $0 + $1.type.elementCount } } else { 1 }
  }
}

extension TypeSyntax {
  /// `Self`, or an Optional of it.
  fileprivate var isDynamicSelf: Bool {
    switch self {
    case .dynamicSelf: true
    case .nominal(let name, .enumeration, let arguments) where name.isOptional && arguments.count == 1: arguments[0].isDynamicSelf
    default: false
    }
  }
}
