extension Demangler {
  /// Reads one operator with everything it takes from the stack.
  /// - Returns: The node to push, 0 on failure.
  mutating func readOperator() -> NodeIndex {
    let letter = next()
    if letter.byte < 0x20 { return readSymbolicReference(letter.byte) }
    switch letter {
    case "A": return readSubstitutions()
    case "B": return readBuiltin()
    case "C": return readNominal(.class)
    case "D": return readTypeMangling()
    case "E": return readExtension()
    case "F": return readFunction()
    case "G": return readBoundGeneric()
    case "H": return readConformanceOperator()
    case "I": return readImplFunction()
    case "K": return arena.make(.throwsAnnotation)
    case "L": return readLocalName()
    case "M": return readMetadata()
    case "N": return make(.typeMetadata, pop(.type))
    case "O": return readNominal(.enum)
    case "P": return readNominal(.protocol)
    case "Q": return readArchetype()
    case "R": return readRequirement()
    case "S": return readStandardSubstitution()
    case "T": return readThunk()
    case "V": return readNominal(.structure)
    case "W": return readWitness()
    case "X": return readSpecialType()
    case "Y": return readTypeAnnotation()
    case "Z": return make(.static, popEntity())
    case "a": return readNominal(.typeAlias)
    case "c": return popFunctionType(.functionType)
    case "d": return arena.make(.variadicMarker)
    case "f": return readFunctionEntity()
    case "g": return readRetroactiveConformance()
    case "h": return wrapTop(.shared)
    case "i": return readSubscript()
    case "l": return readGenericSignature(hasCounts: false)
    case "m": return makeType(make(.metatype, pop(.type)))
    case "n": return wrapTop(.owned)
    case "o": return readOperatorName()
    case "p": return makeType(popProtocolList())
    case "q": return makeType(readGenericParameter())
    case "r": return readGenericSignature(hasCounts: true)
    case "s": return arena.make(.module, text: "Swift")
    case "t": return popTuple()
    case "u": return readGenericType()
    case "v": return readAccessor(of: popEntityWithType(.variable))
    case "w": return readValueWitness()
    case "x": return makeType(genericParameter(depth: 0, index: 0))
    case "y": return arena.make(.emptyList)
    case "z": return wrapTop(.inOut)
    case "_": return arena.make(.firstElementMarker)
    case "$": return readInteger()
    case ".":
      // Everything from the dot on was added after mangling (`.resume.0`, `.cold`, `.123`).
      let suffix = arena.make(.suffix, text: UnsafeBufferPointer(rebasing: text[(position - 1)...]))
      position = text.count
      return suffix
    default:
      guard letter.isDigit else { return 0 }
      back()
      return readIdentifier()
    }
  }
}
