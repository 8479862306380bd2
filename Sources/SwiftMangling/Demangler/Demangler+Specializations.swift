/// The numbers of `FunctionSignatureSpecializationParamKind` nodes.
enum SpecializedParameter {
  static let constantFunction: UInt64 = 0
  static let constantGlobal: UInt64 = 1
  static let constantInteger: UInt64 = 2
  static let constantFloat: UInt64 = 3
  static let constantString: UInt64 = 4
  static let closure: UInt64 = 5
  static let boxToValue: UInt64 = 6
  static let boxToStack: UInt64 = 7
  static let inOutToOut: UInt64 = 8
  static let constantKeyPath: UInt64 = 9
  static let constantStruct: UInt64 = 10
  static let sameClosure: UInt64 = 11

  static let dead: UInt64 = 1 << 6
  static let ownedToGuaranteed: UInt64 = 1 << 7
  static let exploded: UInt64 = 1 << 8
  static let guaranteedToOwned: UInt64 = 1 << 9
  static let existentialToGeneric: UInt64 = 1 << 10
}

extension Demangler {
  /// The letters every specialisation begins with: flags and the number of the compiler's pass.
  private mutating func readSpecialization(_ kind: NodeKind) -> NodeIndex {
    let metatypesRemoved = skip("m")
    let isSerialized = skip("q")
    let asyncRemoved = skip("a")
    let representationChanged = skip("r")
    let pass = next()
    guard pass.isDigit else { return 0 }
    let result = arena.make(kind)
    if metatypesRemoved { arena.append(arena.make(.metatypeParamsRemoved), to: result) }
    if isSerialized { arena.append(arena.make(.isSerialized), to: result) }
    if asyncRemoved { arena.append(arena.make(.asyncRemoved), to: result) }
    if representationChanged { arena.append(arena.make(.representationChanged), to: result) }
    arena.append(arena.make(.specializationPassID, number: UInt64(pass.byte - 0x30)), to: result)
    return result
  }

  // MARK: generic

  mutating func readGenericSpecialization(_ kind: NodeKind, dropped: [UInt64] = []) -> NodeIndex {
    let result = readSpecialization(kind)
    guard result != 0 else { return 0 }
    for number in dropped { arena.append(arena.make(.droppedArgument, number: number), to: result) }
    let types = popTypeList()
    guard types != 0 else { return 0 }
    for position in 0..<arena.childCount(types) {
      arena.append(make(.genericSpecializationParam, arena.child(types, position)), to: result)
    }
    return result
  }

  mutating func readSpecializationWithDroppedArguments() -> NodeIndex {
    back()
    var dropped: [UInt64] = []
    while skip("t") { dropped.append(readNatural().map { UInt64($0) + 1 } ?? 0) }
    switch next() {
    case "g": return readGenericSpecialization(.genericSpecialization, dropped: dropped)
    case "G": return readGenericSpecialization(.genericSpecializationNotReAbstracted, dropped: dropped)
    case "B": return readGenericSpecialization(.genericSpecializationInResilienceDomain, dropped: dropped)
    default: return 0
    }
  }

  mutating func readPartialSpecialization(_ kind: NodeKind) -> NodeIndex {
    let result = readSpecialization(kind)
    return adding(make(.genericSpecializationParam, pop(.type)), to: result)
  }

  // MARK: signature

  /// `Tf…`: one kind per parameter, `_`, and the result's kind.
  mutating func readSignatureSpecialization() -> NodeIndex {
    let result = readSpecialization(.functionSignatureSpecialization)
    guard result != 0 else { return 0 }
    while !skip("_") {
      guard adding(readParameterKind(.functionSignatureSpecializationParam), to: result) != 0 else { return 0 }
    }
    if !skip("n") {
      guard adding(readParameterKind(.functionSignatureSpecializationReturn), to: result) != 0 else { return 0 }
    }
    // What the kinds need was pushed before the operator, the last parameter's on top.
    for position in stride(from: arena.childCount(result) - 1, through: 0, by: -1) {
      let parameter = arena.child(result, position)
      guard arena.kind(parameter) == .functionSignatureSpecializationParam,
        arena.childCount(parameter) > 0
      else { continue }
      guard popOperands(of: parameter) else { return 0 }
    }
    return result
  }

  private mutating func readParameterKind(_ kind: NodeKind) -> NodeIndex {
    let parameter = arena.make(kind)
    switch next() {
    case "n": break
    case "c", "E": addKind(SpecializedParameter.closure, to: parameter)
    case "C":
      addKind(SpecializedParameter.sameClosure, to: parameter)
      guard let index = readNatural() else { return 0 }
      arena.append(
        arena.make(.functionSignatureSpecializationParamPayload, number: UInt64(index)), to: parameter)
    case "p": return readConstant(into: parameter)
    case "e":
      var flags = SpecializedParameter.existentialToGeneric
      if skip("D") { flags |= SpecializedParameter.dead }
      addKind(readFlags(flags), to: parameter)
    case "d": addKind(readFlags(SpecializedParameter.dead), to: parameter)
    case "g":
      addKind(SpecializedParameter.ownedToGuaranteed | readExploded(), to: parameter)
    case "o":
      addKind(SpecializedParameter.guaranteedToOwned | readExploded(), to: parameter)
    case "x": addKind(SpecializedParameter.exploded, to: parameter)
    case "i": addKind(SpecializedParameter.boxToValue, to: parameter)
    case "s": addKind(SpecializedParameter.boxToStack, to: parameter)
    case "r": addKind(SpecializedParameter.inOutToOut, to: parameter)
    default: return 0
    }
    return parameter
  }

  private mutating func readFlags(_ flags: UInt64) -> UInt64 {
    var flags = flags
    if skip("G") { flags |= SpecializedParameter.ownedToGuaranteed }
    if skip("O") { flags |= SpecializedParameter.guaranteedToOwned }
    return flags | readExploded()
  }

  private mutating func readExploded() -> UInt64 { skip("X") ? SpecializedParameter.exploded : 0 }

  /// `p…`: the value a parameter always has; a struct holds the constants of its fields.
  private mutating func readConstant(into parameter: NodeIndex) -> NodeIndex {
    depth += 1
    defer { depth -= 1 }
    guard depth < Demangler.limitDepth else { return 0 }
    switch next() {
    case "f": addKind(SpecializedParameter.constantFunction, to: parameter)
    case "g": addKind(SpecializedParameter.constantGlobal, to: parameter)
    case "i": return readConstantNumber(SpecializedParameter.constantInteger, into: parameter)
    case "d": return readConstantNumber(SpecializedParameter.constantFloat, into: parameter)
    case "s":
      addKind(SpecializedParameter.constantString, to: parameter)
      switch next() {
      case "b": addPayload("u8", to: parameter)
      case "w": addPayload("u16", to: parameter)
      case "c": addPayload("objc", to: parameter)
      default: return 0
      }
    case "k": addKind(SpecializedParameter.constantKeyPath, to: parameter)
    case "S":
      addKind(SpecializedParameter.constantStruct, to: parameter)
      while Demangler.startsConstant(peeked) {
        guard readConstant(into: parameter) != 0 else { return 0 }
      }
    default: return 0
    }
    return parameter
  }

  private static func startsConstant(_ letter: Letter) -> Bool {
    switch letter {
    case "f", "g", "i", "d", "s", "k", "S": true
    default: false
    }
  }

  private mutating func readConstantNumber(_ kind: UInt64, into parameter: NodeIndex) -> NodeIndex {
    addKind(kind, to: parameter)
    let start = position
    while peeked.isDigit { position += 1 }
    guard position > start else { return 0 }
    let digits = UnsafeBufferPointer(rebasing: text[start..<position])
    arena.append(arena.make(.functionSignatureSpecializationParamPayload, text: digits), to: parameter)
    return parameter
  }

  private mutating func addKind(_ kind: UInt64, to parameter: NodeIndex) {
    arena.append(arena.make(.functionSignatureSpecializationParamKind, number: kind), to: parameter)
  }

  private mutating func addPayload(_ text: StaticString, to parameter: NodeIndex) {
    arena.append(arena.make(.functionSignatureSpecializationParamPayload, text: text), to: parameter)
  }

  /// Takes the identifiers and types a parameter's kinds name.
  private mutating func popOperands(of parameter: NodeIndex) -> Bool {
    let fixed = arena.childCount(parameter)
    for position in stride(from: fixed - 1, through: 0, by: -1) {
      let node = arena.child(parameter, position)
      guard arena.kind(node) == .functionSignatureSpecializationParamKind, let kind = arena.number(node)
      else { continue }
      switch kind {
      case SpecializedParameter.constantFunction, SpecializedParameter.constantGlobal,
        SpecializedParameter.constantString:
        let name = pop(.identifier)
        guard name != 0 else { return false }
        arena.append(name, to: parameter)
      case SpecializedParameter.constantStruct:
        let type = pop(.type)
        guard type != 0 else { return false }
        arena.append(type, to: parameter)
      case SpecializedParameter.constantKeyPath, SpecializedParameter.closure:
        while case let type = pop(.type), type != 0 { arena.append(type, to: parameter) }
        let name = pop(.identifier)
        guard name != 0 else { return false }
        arena.append(name, to: parameter)
      default: break
      }
    }
    arena.reverseChildren(parameter, from: fixed)
    return true
  }
}
