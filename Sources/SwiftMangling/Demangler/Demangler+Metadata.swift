extension Demangler {
  /// `M…`: records about types.
  mutating func readMetadata() -> NodeIndex {
    switch next() {
    case "a": return make(.typeMetadataAccessFunction, pop(.type))
    case "A": return make(.reflectionMetadataAssocTypeDescriptor, popProtocolConformance())
    case "b": return make(.canonicalSpecializedGenericTypeMetadataAccessFunction, pop(.type))
    case "B": return make(.reflectionMetadataBuiltinDescriptor, pop(.type))
    case "c": return make(.protocolConformanceDescriptor, popProtocolConformance())
    case "C": return make(.reflectionMetadataSuperclassDescriptor, popNominal())
    case "D": return make(.typeMetadataDemanglingCache, pop(.type))
    case "f": return make(.fullTypeMetadata, pop(.type))
    case "F": return make(.reflectionMetadataFieldDescriptor, pop(.type))
    case "g": return make(.opaqueTypeDescriptorAccessor, pop())
    case "h": return make(.opaqueTypeDescriptorAccessorImpl, pop())
    case "i": return make(.typeMetadataInstantiationFunction, pop(.type))
    case "I": return make(.typeMetadataInstantiationCache, pop(.type))
    case "j": return make(.opaqueTypeDescriptorAccessorKey, pop())
    case "J": return make(.noncanonicalSpecializedGenericTypeMetadataCache, pop())
    case "k": return make(.opaqueTypeDescriptorAccessorVar, pop())
    case "K": return make(.metadataInstantiationCache, pop())
    case "l": return make(.typeMetadataSingletonInitializationCache, pop(.type))
    case "L": return make(.typeMetadataLazyCache, pop(.type))
    case "m": return make(.metaclass, pop(.type))
    case "M": return make(.canonicalSpecializedGenericMetaclass, pop(.type))
    case "n": return make(.nominalTypeDescriptor, pop(.type))
    case "N": return make(.noncanonicalSpecializedGenericTypeMetadata, pop(.type))
    case "o": return make(.classMetadataBaseOffset, pop(.type))
    case "p": return make(.protocolDescriptor, popProtocol())
    case "P": return make(.genericTypeMetadataPattern, pop(.type))
    case "q": return make(.uniquable, pop())
    case "Q": return make(.opaqueTypeDescriptor, pop())
    case "r": return make(.typeMetadataCompletionFunction, pop(.type))
    case "s": return make(.objCResilientClassStub, pop(.type))
    case "S": return make(.protocolSelfConformanceDescriptor, popProtocol())
    case "t": return make(.fullObjCResilientClassStub, pop(.type))
    case "u": return make(.methodLookupFunction, pop(.type))
    case "U": return make(.objCMetadataUpdateFunction, pop(.type))
    case "V": return make(.propertyDescriptor, popEntity())
    case "X": return readContextDescriptor()
    case "z": return make(.canonicalPrespecializedGenericTypeCachingOnceToken, pop(.type))
    default: return 0
    }
  }

  private mutating func readContextDescriptor() -> NodeIndex {
    switch next() {
    case "A":
      let path = popAssociatedTypePath()
      return make(.associatedTypeGenericParamRef, pop(.type), path)
    case "E": return make(.extensionDescriptor, popContext())
    case "M": return make(.moduleDescriptor, popModule())
    case "X": return make(.anonymousDescriptor, popContext())
    case "Y":
      let discriminator = pop()
      return make(.anonymousDescriptor, popContext(), discriminator)
    default: return 0
    }
  }

  /// `w…`: a value witness, named by two letters.
  mutating func readValueWitness() -> NodeIndex {
    let first = next()
    let second = next()
    guard second.byte != 0 else { return 0 }
    let code = String(decoding: [first.byte, second.byte], as: UTF8.self)
    guard let index = Demangler.valueWitnesses.firstIndex(of: code) else { return 0 }
    return make(.valueWitness, arena.make(.index, number: UInt64(index)), pop(.type))
  }

  /// The codes in the order of their numbers.
  private static let valueWitnesses = [
    "al", "ca", "ta", "de", "xx", "XX", "Xx", "CP", "Cp", "cp", "Tk", "tk", "pr", "TK",
    "Cc", "Tt", "tT", "xs", "xg", "ug", "up", "ui", "et", "st",
  ]

  /// `W…`: witness tables, accessors of them, outlined copies.
  mutating func readWitness() -> NodeIndex {
    switch next() {
    case "C": return make(.enumCase, popEntity())
    case "V": return make(.valueWitnessTable, pop(.type))
    case "v":
      let directness: UInt64
      switch next() {
      case "d": directness = 0
      case "i": directness = 1
      default: return 0
      }
      return make(.fieldOffset, arena.make(.directness, number: directness), popEntity())
    case "S": return make(.protocolSelfConformanceWitnessTable, popProtocol())
    case "P": return make(.protocolWitnessTable, popProtocolConformance())
    case "p": return make(.protocolWitnessTablePattern, popProtocolConformance())
    case "G": return make(.genericProtocolWitnessTable, popProtocolConformance())
    case "I": return make(.genericProtocolWitnessTableInstantiationFunction, popProtocolConformance())
    case "r": return make(.resilientProtocolWitnessTable, popProtocolConformance())
    case "l": return readLazyWitness(.lazyProtocolWitnessTableAccessor)
    case "L": return readLazyWitness(.lazyProtocolWitnessTableCacheVariable)
    case "a": return make(.protocolWitnessTableAccessor, popProtocolConformance())
    case "t":
      let name = popDeclarationName()
      return make(.associatedTypeMetadataAccessor, popProtocolConformance(), name)
    case "T":
      let proto = pop(.type)
      let path = popConformingSubject()
      return make(.associatedTypeWitnessTableAccessor, popProtocolConformance(), path, proto)
    case "b":
      let proto = pop(.type)
      return make(.baseWitnessTableAccessor, popProtocolConformance(), proto)
    case "O": return readOutlined()
    case "Z": return readGlobalOnce(.globalVariableOnceFunction)
    case "z": return readGlobalOnce(.globalVariableOnceToken)
    case "J": return readDifferentiabilityWitness()
    default: return 0
    }
  }

  private mutating func readLazyWitness(_ kind: NodeKind) -> NodeIndex {
    let conformance = popProtocolConformance()
    return make(kind, pop(.type), conformance)
  }

  /// The subject of an associated conformance: a path of names, or a type when it is a generic parameter.
  mutating func popConformingSubject() -> NodeIndex {
    if topKind == .type {
      let type = pop(.type)
      let kind = arena.kind(arena.first(type))
      if kind != .protocol { return type }
      guard push(type) else { return 0 }
    }
    return popAssociatedTypePath()
  }

  /// `WO…`: an operation on a value that several places share.
  private mutating func readOutlined() -> NodeIndex {
    let kind: NodeKind
    var hasIndex = false
    switch next() {
    case "B": kind = .outlinedInitializeWithTakeNoValueWitness
    case "C": kind = .outlinedInitializeWithCopyNoValueWitness
    case "D": kind = .outlinedAssignWithTakeNoValueWitness
    case "F": kind = .outlinedAssignWithCopyNoValueWitness
    case "H": kind = .outlinedDestroyNoValueWitness
    case "y": kind = .outlinedCopy
    case "e": kind = .outlinedConsume
    case "r": kind = .outlinedRetain
    case "s": kind = .outlinedRelease
    case "b": kind = .outlinedInitializeWithTake
    case "c": kind = .outlinedInitializeWithCopy
    case "d": kind = .outlinedAssignWithTake
    case "f": kind = .outlinedAssignWithCopy
    case "h": kind = .outlinedDestroy
    case "g": kind = .outlinedEnumGetTag
    case "i": (kind, hasIndex) = (.outlinedEnumTagStore, true)
    case "j": (kind, hasIndex) = (.outlinedEnumProjectDataForLoad, true)
    default: return 0
    }
    let index = hasIndex ? readIndexNode() : 0
    let signature = pop(.dependentGenericSignature)
    let result = make(kind, pop(.type))
    addIfPresent(signature, to: result)
    return hasIndex ? adding(index, to: result) : result
  }

  private mutating func readGlobalOnce(_ kind: NodeKind) -> NodeIndex {
    let names = arena.make(.globalVariableOnceDeclList)
    while pop(.firstElementMarker) != 0 {
      let name = popDeclarationName()
      guard name != 0 else { return 0 }
      arena.append(name, to: names)
    }
    arena.reverseChildren(names)
    return make(kind, popContext(), names)
  }

  private mutating func readDifferentiabilityWitness() -> NodeIndex {
    let signature = pop(.dependentGenericSignature)
    let result = arena.make(.differentiabilityWitness)
    popEverything(into: result)
    let kind = next()
    switch kind {
    case "f", "r", "d", "l": break
    default: return 0
    }
    arena.append(arena.make(.index, number: UInt64(kind.byte)), to: result)
    guard addIndexSubsets(["p", "r"], to: result) != 0 else { return 0 }
    addIfPresent(signature, to: result)
    return result
  }

  mutating func popEverything(into parent: NodeIndex) {
    while case let node = pop(), node != 0 { arena.append(node, to: parent) }
    arena.reverseChildren(parent)
  }

  /// Bit vectors spelled with `S` and `U`, each followed by a letter.
  mutating func addIndexSubsets(_ terminators: [Letter], to parent: NodeIndex) -> NodeIndex {
    for terminator in terminators {
      let start = position
      while peeked == "S" || peeked == "U" { position += 1 }
      guard position > start else { return 0 }
      arena.append(
        arena.make(.indexSubset, text: UnsafeBufferPointer(rebasing: text[start..<position])), to: parent)
      guard skip(terminator) else { return 0 }
    }
    return parent
  }
}
