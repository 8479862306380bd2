extension Demangler {
  /// `T…`: thunks, variants of functions, specialisations.
  mutating func readThunk() -> NodeIndex {
    switch next() {
    case "o": return arena.make(.objCAttribute)
    case "O": return arena.make(.nonObjCAttribute)
    case "D": return arena.make(.dynamicAttribute)
    case "d": return arena.make(.directMethodReferenceAttribute)
    case "E": return arena.make(.distributedThunk)
    case "F": return arena.make(.distributedAccessor)
    case "a": return arena.make(.partialApplyObjCForwarder)
    case "A": return arena.make(.partialApplyForwarder)
    case "m": return arena.make(.mergedFunction)
    case "X": return arena.make(.dynamicallyReplaceableFunctionVar)
    case "x": return arena.make(.dynamicallyReplaceableFunctionKey)
    case "I": return arena.make(.dynamicallyReplaceableFunctionImpl)
    case "u": return arena.make(.asyncFunctionPointer)
    case "Q": return make(.asyncAwaitResumePartialFunction, readIndexNode())
    case "Y": return make(.asyncSuspendResumePartialFunction, readIndexNode())
    case "c": return make(.curryThunk, popEntity())
    case "T": return skip("I") ? make(.silThunkIdentity, popEntity()) : 0
    case "j": return make(.dispatchThunk, popEntity())
    case "q": return make(.methodDescriptor, popEntity())
    case "C": return make(.coroutineContinuationPrototype, pop(.type))
    case "z": return readCompletionHandler(.objCAsyncCompletionHandlerImpl)
    case "Z": return readCompletionHandler(.checkedObjCAsyncCompletionHandlerImpl)
    case "V":
      let base = popEntity()
      return make(.vTableThunk, popEntity(), base)
    case "W":
      let entity = popEntity()
      return make(.protocolWitness, popProtocolConformance(), entity)
    case "S": return make(.protocolSelfConformanceWitness, popEntity())
    case "R": return readReabstraction(.reabstractionThunkHelper)
    case "r": return readReabstraction(.reabstractionThunk)
    case "y": return readReabstraction(.reabstractionThunkHelperWithSelf)
    case "U":
      let actor = pop(.type)
      return make(.reabstractionThunkHelperWithGlobalActor, pop(), actor)
    case "g": return readGenericSpecialization(.genericSpecialization)
    case "G": return readGenericSpecialization(.genericSpecializationNotReAbstracted)
    case "B": return readGenericSpecialization(.genericSpecializationInResilienceDomain)
    case "s": return readGenericSpecialization(.genericSpecializationPrespecialized)
    case "i": return readGenericSpecialization(.inlinedGenericFunction)
    case "t": return readSpecializationWithDroppedArguments()
    case "p": return readPartialSpecialization(.genericPartialSpecialization)
    case "P": return readPartialSpecialization(.genericPartialSpecializationNotReAbstracted)
    case "f": return readSignatureSpecialization()
    case "K": return readKeyPathAccessor(isGetter: true)
    case "k": return readKeyPathAccessor(isGetter: false)
    case "H": return readKeyPathComparison(.keyPathEqualsThunkHelper)
    case "h": return readKeyPathComparison(.keyPathHashThunkHelper)
    case "l": return make(.associatedTypeDescriptor, popAssociatedTypeName())
    case "L": return make(.protocolRequirementsBaseDescriptor, popProtocol())
    case "M": return make(.defaultAssociatedTypeMetadataAccessor, popAssociatedTypeName())
    case "n": return readAssociatedConformance(.associatedConformanceDescriptor)
    case "N": return readAssociatedConformance(.defaultAssociatedConformanceAccessor)
    case "b":
      let requirement = popProtocol()
      return make(.baseConformanceDescriptor, pop(.type), requirement)
    case "v":
      guard let index = readIndex() else { return 0 }
      return arena.make(skip("r") ? .outlinedReadOnlyObject : .outlinedVariable, number: UInt64(index))
    case "e": return readBridgedMethod()
    case "J": return readAutoDiff()
    case "w":
      switch next() {
      case "b": return arena.make(.backDeploymentThunk)
      case "B": return arena.make(.backDeploymentFallback)
      case "c": return arena.make(.coroFunctionPointer)
      case "d": return arena.make(.defaultOverride)
      case "S": return arena.make(.hasSymbolQuery)
      default: return 0
      }
    default: return 0
    }
  }

  private mutating func readReabstraction(_ kind: NodeKind) -> NodeIndex {
    let thunk = arena.make(kind)
    addIfPresent(pop(.dependentGenericSignature), to: thunk)
    // Written from-type first; the node holds what is on top first.
    for _ in 0..<(kind == .reabstractionThunkHelperWithSelf ? 3 : 2) {
      guard adding(pop(.type), to: thunk) != 0 else { return 0 }
    }
    return thunk
  }

  private mutating func readCompletionHandler(_ kind: NodeKind) -> NodeIndex {
    let index = readIndexNode()
    let signature = pop(.dependentGenericSignature)
    let result = pop(.type)
    let block = pop(.type)
    let node = make(kind, block, result)
    addIfPresent(index, to: node)
    addIfPresent(signature, to: node)
    return node
  }

  private mutating func readAssociatedConformance(_ kind: NodeKind) -> NodeIndex {
    let requirement = popProtocol()
    let subject = popConformingSubject()
    return make(kind, pop(.type), subject, requirement)
  }

  private mutating func readBridgedMethod() -> NodeIndex {
    let start = position
    switch next() {
    case "m", "a", "p": break
    default: return 0
    }
    while peeked == "n" || peeked == "b" { position += 1 }
    let end = position
    guard skip("_") else { return 0 }
    return arena.make(.outlinedBridgedMethod, text: UnsafeBufferPointer(rebasing: text[start..<end]))
  }

  // MARK: key paths

  private mutating func readKeyPathAccessor(isGetter: Bool) -> NodeIndex {
    var kind: NodeKind = isGetter ? .keyPathGetterThunkHelper : .keyPathSetterThunkHelper
    if !isGetter, skip("m") {
      guard skip("u") else { return 0 }
      kind = .keyPathUnappliedMethodThunkHelper
    } else if !isGetter, skip("M") {
      guard skip("A") else { return 0 }
      kind = .keyPathAppliedMethodThunkHelper
    }
    let isSerialized = skip("q")
    let types = arena.make(.typeList)
    while case let type = pop(.type), type != 0 { arena.append(type, to: types) }
    guard arena.childCount(types) > 0 else { return 0 }
    var result: NodeIndex
    let node = pop()
    guard node != 0 else { return 0 }
    if arena.kind(node) == .dependentGenericSignature {
      result = make(kind, pop(), node)
    } else {
      result = make(kind, node)
    }
    result = addReversed(types, to: result)
    if isSerialized { addIfPresent(arena.make(.isSerialized), to: result) }
    return result
  }

  private mutating func readKeyPathComparison(_ kind: NodeKind) -> NodeIndex {
    let isSerialized = skip("q")
    let signature = pop(.dependentGenericSignature)
    let types = arena.make(.typeList)
    while case let type = pop(.type), type != 0 { arena.append(type, to: types) }
    guard stackCount == 0, arena.childCount(types) + (signature == 0 ? 0 : 1) > 0 else { return 0 }
    let result = addReversed(types, to: arena.make(kind))
    addIfPresent(signature, to: result)
    if isSerialized { addIfPresent(arena.make(.isSerialized), to: result) }
    return result
  }

  private mutating func addReversed(_ list: NodeIndex, to parent: NodeIndex) -> NodeIndex {
    guard parent != 0 else { return 0 }
    for position in stride(from: arena.childCount(list) - 1, through: 0, by: -1) {
      arena.append(arena.child(list, position), to: parent)
    }
    return parent
  }

  // MARK: differentiation

  private mutating func readAutoDiff() -> NodeIndex {
    switch peeked {
    case "O":
      _ = next()
      let result = arena.make(.autoDiffSelfReorderingReabstractionThunk)
      addIfPresent(pop(.dependentGenericSignature), to: result)
      let second = pop(.type)
      guard adding(pop(.type), to: result) != 0, adding(second, to: result) != 0 else { return 0 }
      return adding(readAutoDiffKind(), to: result)
    case "S":
      _ = next()
      let result = arena.make(.autoDiffSubsetParametersThunk)
      popEverything(into: result)
      guard adding(readAutoDiffKind(), to: result) != 0 else { return 0 }
      return addIndexSubsets(["p", "r", "P"], to: result)
    case "V":
      _ = next()
      return readAutoDiffFunction(.autoDiffDerivativeVTableThunk)
    default: return readAutoDiffFunction(.autoDiffFunction)
    }
  }

  private mutating func readAutoDiffFunction(_ kind: NodeKind) -> NodeIndex {
    let result = arena.make(kind)
    popEverything(into: result)
    guard adding(readAutoDiffKind(), to: result) != 0 else { return 0 }
    return addIndexSubsets(["p", "r"], to: result)
  }

  private mutating func readAutoDiffKind() -> NodeIndex {
    let kind = next()
    switch kind {
    case "f", "r", "d", "p": return arena.make(.autoDiffFunctionKind, number: UInt64(kind.byte))
    default: return 0
    }
  }
}
