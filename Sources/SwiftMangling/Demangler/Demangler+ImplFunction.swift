extension Demangler {
  /// `I…_`: a function type as the compiler lowers it. Conventions are letters, the types were pushed before.
  mutating func readImplFunction() -> NodeIndex {
    let function = arena.make(.implFunctionType)
    // Substitutions stand topmost, so their operands are taken before the function's own.
    if skip("s") {
      guard addSubstitutions(.implPatternSubstitutions, to: function) else { return 0 }
    }
    if skip("I") {
      guard addSubstitutions(.implInvocationSubstitutions, to: function) else { return 0 }
    }
    var signature = pop(.dependentGenericSignature)
    if signature != 0, skip("P") { signature = arena.copy(signature, as: .dependentPseudogenericSignature) }
    if skip("e") { arena.append(arena.make(.implEscaping), to: function) }
    if skip("A") { arena.append(arena.make(.implErasedIsolation), to: function) }
    switch peeked {
    case "d", "l", "f", "r":
      arena.append(arena.make(.implDifferentiabilityKind, number: UInt64(next().byte)), to: function)
    default: break
    }
    guard addCalleeConvention(to: function), addRepresentation(to: function) else { return 0 }
    addFlags(to: function)
    addIfPresent(signature, to: function)

    let firstTyped = arena.childCount(function)
    while case let parameter = readImplParameter(), parameter != 0 { arena.append(parameter, to: function) }
    while case let result = readImplResult(.implResult), result != 0 { arena.append(result, to: function) }
    while skip("Y") {
      let convention = implParameterConvention()
      let yield = make(.implYield, convention)
      guard yield != 0 else { return 0 }
      arena.append(yield, to: function)
    }
    if skip("z") {
      let result = make(.implErrorResult, implResultConvention())
      guard result != 0 else { return 0 }
      arena.append(result, to: function)
    }
    guard skip("_") else { return 0 }
    for position in stride(from: arena.childCount(function) - 1, through: firstTyped, by: -1) {
      let type = pop(.type)
      guard type != 0 else { return 0 }
      arena.append(type, to: arena.child(function, position))
    }
    return makeType(function)
  }

  private mutating func addSubstitutions(_ kind: NodeKind, to function: NodeIndex) -> Bool {
    let conformances = popRetroactiveConformances()
    let lists = popArgumentLists()
    guard lists != 0, arena.childCount(lists) == 1 else { return false }
    let result = arena.make(kind)
    if kind == .implPatternSubstitutions {
      guard adding(pop(.dependentGenericSignature), to: result) != 0 else { return false }
    }
    arena.append(arena.first(lists), to: result)
    addIfPresent(conformances, to: result)
    arena.append(result, to: function)
    return true
  }

  private mutating func addCalleeConvention(to function: NodeIndex) -> Bool {
    let name: StaticString
    switch next() {
    case "y": name = "@callee_unowned"
    case "g": name = "@callee_guaranteed"
    case "x": name = "@callee_owned"
    case "t": name = "@convention(thin)"
    default: return false
    }
    arena.append(arena.make(.implConvention, text: name), to: function)
    return true
  }

  private mutating func addRepresentation(to function: NodeIndex) -> Bool {
    let name: StaticString
    var hasClangType = false
    switch peeked {
    case "B": name = "block"
    case "C": name = "c"
    case "z":
      // Only a representation with its own C type follows; an error result's `z` cannot stand here.
      guard position + 1 < text.count else { return true }
      switch Letter(text[position + 1]) {
      case "B": name = "block"
      case "C": name = "c"
      default: return true
      }
      hasClangType = true
      position += 1
    case "M": name = "method"
    case "J": name = "objc_method"
    case "K": name = "closure"
    case "W": name = "witness_method"
    default: return true
    }
    position += 1
    let convention = make(.implFunctionConvention, arena.make(.implFunctionConventionName, text: name))
    if hasClangType {
      guard adding(readClangType(), to: convention) != 0 else { return false }
    }
    arena.append(convention, to: function)
    return true
  }

  private mutating func addFlags(to function: NodeIndex) {
    switch peeked {
    case "A": arena.append(arena.make(.implCoroutineKind, text: "yield_once"), to: function)
    case "I": arena.append(arena.make(.implCoroutineKind, text: "yield_once_2"), to: function)
    case "G": arena.append(arena.make(.implCoroutineKind, text: "yield_many"), to: function)
    default: position -= 1
    }
    position += 1
    if skip("h") { arena.append(arena.make(.implFunctionAttribute, text: "@Sendable"), to: function) }
    if skip("H") { arena.append(arena.make(.implFunctionAttribute, text: "@async"), to: function) }
    if skip("T") { arena.append(arena.make(.implSendingResult), to: function) }
  }

  // MARK: parameters and results

  private mutating func readImplParameter() -> NodeIndex {
    let parameter = make(.implParameter, implParameterConvention())
    guard parameter != 0 else { return 0 }
    addDifferentiability(to: parameter)
    if skip("T") { arena.append(arena.make(.implParameterSending, text: "sending"), to: parameter) }
    if skip("I") { arena.append(arena.make(.implParameterIsolated, text: "isolated"), to: parameter) }
    if skip("L") {
      arena.append(arena.make(.implParameterImplicitLeading, text: "sil_implicit_leading_param"), to: parameter)
    }
    return parameter
  }

  private mutating func readImplResult(_ kind: NodeKind) -> NodeIndex {
    let result = make(kind, implResultConvention())
    guard result != 0 else { return 0 }
    addDifferentiability(to: result)
    return result
  }

  private mutating func addDifferentiability(to node: NodeIndex) {
    let text: StaticString = skip("w") ? "@noDerivative" : ""
    arena.append(arena.make(.implParameterResultDifferentiability, text: text), to: node)
  }

  /// 0, and nothing consumed, when the next letter is no parameter convention.
  private mutating func implParameterConvention() -> NodeIndex {
    let name: StaticString
    switch peeked {
    case "i": name = "@in"
    case "c": name = "@in_constant"
    case "l": name = "@inout"
    case "b": name = "@inout_aliasable"
    case "n": name = "@in_guaranteed"
    case "X": name = "@in_cxx"
    case "x": name = "@owned"
    case "g": name = "@guaranteed"
    case "e": name = "@deallocating"
    case "y": name = "@unowned"
    case "v": name = "@pack_owned"
    case "p": name = "@pack_guaranteed"
    case "m": name = "@pack_inout"
    default: return 0
    }
    position += 1
    return arena.make(.implConvention, text: name)
  }

  private mutating func implResultConvention() -> NodeIndex {
    let name: StaticString
    switch peeked {
    case "r": name = "@out"
    case "o": name = "@owned"
    case "d": name = "@unowned"
    case "u": name = "@unowned_inner_pointer"
    case "a": name = "@autoreleased"
    case "k": name = "@pack_out"
    case "l": name = "@guaranteed_address"
    case "g": name = "@guaranteed"
    case "m": name = "@inout"
    default: return 0
    }
    position += 1
    return arena.make(.implConvention, text: name)
  }
}
