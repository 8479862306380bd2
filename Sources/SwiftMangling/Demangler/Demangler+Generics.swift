extension Demangler {
  mutating func genericParameter(depth: Int, index: Int) -> NodeIndex {
    let depthNode = arena.make(.index, number: UInt64(depth))
    let indexNode = arena.make(.index, number: UInt64(index))
    return make(.dependentGenericParamType, depthNode, indexNode)
  }

  /// `z`, `s`, an index, or `d` and two indices.
  mutating func readGenericParameter() -> NodeIndex {
    if skip("d") {
      guard let depth = readIndex(), let index = readIndex() else { return 0 }
      return genericParameter(depth: depth + 1, index: index)
    }
    if skip("z") { return genericParameter(depth: 0, index: 0) }
    if skip("s") { return arena.make(.constrainedExistentialSelf) }
    guard let index = readIndex() else { return 0 }
    return genericParameter(depth: 0, index: index + 1)
  }

  /// `l`, `r…l`: requirements and the number of parameters per depth.
  mutating func readGenericSignature(hasCounts: Bool) -> NodeIndex {
    let signature = arena.make(.dependentGenericSignature)
    if hasCounts {
      while !skip("l") {
        var count = 0
        if !skip("z") {
          guard let index = readIndex() else { return 0 }
          count = index + 1
        }
        arena.append(arena.make(.dependentGenericParamCount, number: UInt64(count)), to: signature)
      }
    } else {
      arena.append(arena.make(.dependentGenericParamCount, number: 1), to: signature)
    }
    let counts = arena.childCount(signature)
    while case let requirement = popRequirement(), requirement != 0 {
      arena.append(requirement, to: signature)
    }
    arena.reverseChildren(signature, from: counts)
    return signature
  }

  /// `u`
  mutating func readGenericType() -> NodeIndex {
    let signature = pop(.dependentGenericSignature)
    return makeType(make(.dependentGenericType, signature, pop(.type)))
  }

  // MARK: requirements

  private enum Subject { case parameter, member, path, substitution }
  private enum Constraint { case conformance, base, sameType, sameShape, layout, inverse, pack, value }

  /// `R…`
  mutating func readRequirement() -> NodeIndex {
    let subject: Subject
    let constraint: Constraint
    switch next() {
    case "V": (subject, constraint) = (.parameter, .value)
    case "v": (subject, constraint) = (.parameter, .pack)
    case "c": (subject, constraint) = (.member, .base)
    case "C": (subject, constraint) = (.path, .base)
    case "b": (subject, constraint) = (.parameter, .base)
    case "B": (subject, constraint) = (.substitution, .base)
    case "t": (subject, constraint) = (.member, .sameType)
    case "T": (subject, constraint) = (.path, .sameType)
    case "s": (subject, constraint) = (.parameter, .sameType)
    case "S": (subject, constraint) = (.substitution, .sameType)
    case "m": (subject, constraint) = (.member, .layout)
    case "M": (subject, constraint) = (.path, .layout)
    case "l": (subject, constraint) = (.parameter, .layout)
    case "L": (subject, constraint) = (.substitution, .layout)
    case "p": (subject, constraint) = (.member, .conformance)
    case "P": (subject, constraint) = (.path, .conformance)
    case "Q": (subject, constraint) = (.substitution, .conformance)
    case "h": (subject, constraint) = (.parameter, .sameShape)
    case "i": (subject, constraint) = (.parameter, .inverse)
    case "I": (subject, constraint) = (.substitution, .inverse)
    case "j": (subject, constraint) = (.member, .inverse)
    case "J": (subject, constraint) = (.path, .inverse)
    case let letter:
      guard letter.byte != 0 else { return 0 }
      back()
      (subject, constraint) = (.parameter, .conformance)
    }
    let inverse = constraint == .inverse ? readIndexNode() : 0
    let constrained = readSubject(subject)
    switch constraint {
    case .pack: return make(.dependentGenericParamPackMarker, constrained)
    case .value: return make(.dependentGenericParamValueMarker, constrained, pop(.type))
    case .conformance: return make(.dependentGenericConformanceRequirement, constrained, popProtocol())
    case .base: return make(.dependentGenericConformanceRequirement, constrained, pop(.type))
    case .sameType: return make(.dependentGenericSameTypeRequirement, constrained, pop(.type))
    case .sameShape: return make(.dependentGenericSameShapeRequirement, constrained, pop(.type))
    case .inverse: return make(.dependentGenericInverseConformanceRequirement, constrained, inverse)
    case .layout: return readLayout(constrained)
    }
  }

  private mutating func readSubject(_ subject: Subject) -> NodeIndex {
    switch subject {
    case .parameter: return makeType(readGenericParameter())
    case .substitution: return pop(.type)
    case .member:
      let type = popMember(of: readGenericParameter())
      addSubstitution(type)
      return type
    case .path:
      let type = popMemberPath(of: readGenericParameter())
      addSubstitution(type)
      return type
    }
  }

  private mutating func readLayout(_ constrained: NodeIndex) -> NodeIndex {
    let name: StaticString
    var sizes = 0
    switch next() {
    case "U": name = "U"
    case "R": name = "R"
    case "N": name = "N"
    case "C": name = "C"
    case "D": name = "D"
    case "T": name = "T"
    case "B": name = "B"
    case "S": name = "S"
    case "E": (name, sizes) = ("E", 2)
    case "e": (name, sizes) = ("e", 1)
    case "M": (name, sizes) = ("M", 2)
    case "m": (name, sizes) = ("m", 1)
    default: return 0
    }
    var result = make(
      .dependentGenericLayoutRequirement, constrained, arena.make(.identifier, text: name))
    for _ in 0..<sizes { result = adding(readIndexNode(), to: result) }
    return result
  }

  // MARK: associated types

  mutating func popAssociatedTypeName() -> NodeIndex {
    let proto = pop(.type)
    if proto != 0, arena.kind(arena.first(proto)) != .protocol { return 0 }
    let result = make(.dependentAssociatedTypeRef, pop(.identifier))
    addIfPresent(proto, to: result)
    return result
  }

  /// `base.Name` with the name from the stack; a base of 0 comes from the stack too.
  mutating func popMember(of base: NodeIndex?) -> NodeIndex {
    let name = popAssociatedTypeName()
    let type = base.map { makeType($0) } ?? pop(.type)
    return makeType(make(.dependentMemberType, type, name))
  }

  /// `base.A.B.C` with the names from the stack.
  mutating func popMemberPath(of base: NodeIndex?) -> NodeIndex {
    let path = arena.make(.assocTypePath)
    guard popPath(into: path) != 0 else { return 0 }
    var type = base.map { makeType($0) } ?? pop(.type)
    for position in 0..<arena.childCount(path) {
      type = makeType(make(.dependentMemberType, type, arena.child(path, position)))
    }
    return type
  }

  mutating func popAssociatedTypePath() -> NodeIndex { popPath(into: arena.make(.assocTypePath)) }

  private mutating func popPath(into path: NodeIndex) -> NodeIndex {
    while true {
      let isFirst = pop(.firstElementMarker) != 0
      let name = popAssociatedTypeName()
      guard name != 0 else { return 0 }
      arena.append(name, to: path)
      if isFirst { break }
    }
    arena.reverseChildren(path)
    return path
  }

  // MARK: archetypes, packs, opaque types

  /// `Q…`
  mutating func readArchetype() -> NodeIndex {
    switch next() {
    case "a":
      let name = pop(.identifier)
      return substitutable(makeType(make(.associatedTypeRef, popTypeChild(), name)))
    case "O": return make(.opaqueReturnTypeOf, popContext())
    case "o": return readOpaqueType()
    case "r":
      hasOpenOpaqueResult = true
      return makeType(arena.make(.opaqueReturnType))
    case "R":
      guard let index = readIndex() else { return 0 }
      hasOpenOpaqueResult = true
      return makeType(make(.opaqueReturnType, arena.make(.opaqueReturnTypeIndex, number: UInt64(index))))
    case "x": return substitutable(popMember(of: nil))
    case "X": return substitutable(popMemberPath(of: nil))
    case "y": return substitutable(popMember(of: readGenericParameter()))
    case "Y": return substitutable(popMemberPath(of: readGenericParameter()))
    case "z": return substitutable(popMember(of: genericParameter(depth: 0, index: 0)))
    case "Z": return substitutable(popMemberPath(of: genericParameter(depth: 0, index: 0)))
    case "p":
      let count = popTypeChild()
      return makeType(make(.packExpansion, popTypeChild(), count))
    case "e":
      let pack = popTypeChild()
      let level = readIndexNode(.packElementLevel)
      return makeType(make(.packElement, pack, level))
    case "P": return makeType(popPack(.pack))
    case "S":
      switch next() {
      case "d": return makeType(popPack(.silPackDirect))
      case "i": return makeType(popPack(.silPackIndirect))
      default: return 0
      }
    default: return 0
    }
  }

  private mutating func substitutable(_ type: NodeIndex) -> NodeIndex {
    addSubstitution(type)
    return type
  }

  private mutating func popPack(_ kind: NodeKind) -> NodeIndex {
    popList(into: arena.make(kind)) { $0.pop(.type) }
  }

  /// `Qo`: the declaration, its arguments per level and which of its opaque types.
  private mutating func readOpaqueType() -> NodeIndex {
    let index = readIndexNode(.index)
    let conformances = popRetroactiveConformances()
    let lists = popArgumentLists()
    guard lists != 0 else { return 0 }
    let declaration = pop()
    arena.reverseChildren(lists)
    let opaque = make(.opaqueType, declaration, index, lists)
    addIfPresent(conformances, to: opaque)
    return substitutable(makeType(opaque))
  }

  // MARK: conformances

  mutating func popProtocolConformance() -> NodeIndex {
    let signature = pop(.dependentGenericSignature)
    let module = popModule()
    let proto = popProtocol()
    var type = pop(.type)
    var identifier: NodeIndex = 0
    if type == 0 {
      // The conformance of a property behaviour.
      identifier = pop(.identifier)
      type = pop(.type)
    }
    if signature != 0 { type = makeType(make(.dependentGenericType, signature, type)) }
    let conformance = make(.protocolConformance, type, proto, module)
    addIfPresent(identifier, to: conformance)
    return conformance
  }

  /// `g`
  mutating func readRetroactiveConformance() -> NodeIndex {
    let index = readIndexNode()
    return make(.retroactiveConformance, index, popAnyConformance())
  }

  /// `H…`
  mutating func readConformanceOperator() -> NodeIndex {
    switch next() {
    case "A":
      let index = readConformanceIndex()
      let proto = popProtocol()
      let associated = make(.dependentAssociatedConformance, pop(.type), proto)
      return make(.dependentProtocolConformanceAssociated, popDependentConformance(), associated, index)
    case "C":
      let conditions = popConformanceList()
      var reference = pop(.protocolConformanceRefInTypeModule)
      if reference == 0 { reference = pop(.protocolConformanceRefInProtocolModule) }
      if reference == 0 {
        let module = popModule()
        reference = make(.protocolConformanceRefInOtherModule, popProtocol(), module)
      }
      return make(.concreteProtocolConformance, pop(.type), reference, conditions)
    case "D":
      let index = readConformanceIndex()
      let proto = popProtocol()
      return make(.dependentProtocolConformanceRoot, pop(.type), proto, index)
    case "I":
      let index = readConformanceIndex()
      let proto = popProtocol()
      return make(.dependentProtocolConformanceInherited, popDependentConformance(), proto, index)
    case "O":
      let type = pop(.type)
      return make(.dependentProtocolConformanceOpaque, popDependentConformance(), type)
    case "P": return make(.protocolConformanceRefInTypeModule, popProtocol())
    case "p": return make(.protocolConformanceRefInProtocolModule, popProtocol())
    case "X": return make(.packProtocolConformance, popConformanceList())
    case "c": return make(.protocolConformanceDescriptorRecord, popProtocolConformance())
    case "n": return make(.nominalTypeDescriptorRecord, pop(.type))
    case "o": return make(.opaqueTypeDescriptorRecord, pop())
    case "r": return make(.protocolDescriptorRecord, popProtocol())
    case "F": return arena.make(.accessibleFunctionRecord)
    default: return 0
    }
  }

  /// 1 means unknown, all others are shifted by two.
  private mutating func readConformanceIndex() -> NodeIndex {
    guard let index = readIndex(), index > 0 else { return 0 }
    return index == 1 ? arena.make(.unknownIndex) : arena.make(.index, number: UInt64(index - 2))
  }

  private mutating func popDependentConformance() -> NodeIndex {
    switch topKind {
    case .dependentProtocolConformanceRoot?, .dependentProtocolConformanceInherited?,
      .dependentProtocolConformanceAssociated?, .dependentProtocolConformanceOpaque?:
      pop()
    default: 0
    }
  }

  private mutating func popAnyConformance() -> NodeIndex {
    switch topKind {
    case .concreteProtocolConformance?, .packProtocolConformance?: pop()
    default: popDependentConformance()
    }
  }

  private mutating func popConformanceList() -> NodeIndex {
    popList(into: arena.make(.anyProtocolConformanceList)) { $0.popAnyConformance() }
  }
}
