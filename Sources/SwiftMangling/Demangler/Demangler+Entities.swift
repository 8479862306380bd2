extension Demangler {
  /// `F`: a function.
  mutating func readFunction() -> NodeIndex {
    let signature = pop(.dependentGenericSignature)
    var type = popFunctionType(.functionType)
    let labels = popLabels(for: type)
    if signature != 0 { type = makeType(make(.dependentGenericType, signature, type)) }
    let name = popDeclarationName()
    let function = make(.function, popContext(), name)
    guard function != 0 else { return 0 }
    addIfPresent(labels, to: function)
    return noteOpaqueResult(in: adding(type, to: function))
  }

  /// A named entity with a type: context, name, labels, type.
  mutating func popEntityWithType(_ kind: NodeKind) -> NodeIndex {
    let type = pop(.type)
    let labels = popLabels(for: type)
    let name = popDeclarationName()
    let entity = make(kind, popContext(), name)
    guard entity != 0 else { return 0 }
    addIfPresent(labels, to: entity)
    return noteOpaqueResult(in: adding(type, to: entity), suffix: "p")
  }

  /// `i…`: a subscript's accessor.
  mutating func readSubscript() -> NodeIndex {
    let privateName = pop(.privateDeclName)
    let type = pop(.type)
    let labels = popLabels(for: type)
    let entity = make(.subscript, popContext())
    guard entity != 0 else { return 0 }
    addIfPresent(labels, to: entity)
    guard adding(type, to: entity) != 0 else { return 0 }
    addIfPresent(privateName, to: entity)
    return readAccessor(of: noteOpaqueResult(in: entity, suffix: "p"))
  }

  /// The letter of an accessor, `p` for the storage itself.
  mutating func readAccessor(of storage: NodeIndex) -> NodeIndex {
    let kind: NodeKind
    switch next() {
    case "m": kind = .materializeForSet
    case "s": kind = .setter
    case "g": kind = .getter
    case "G": kind = .globalGetter
    case "w": kind = .willSet
    case "W": kind = .didSet
    case "r": kind = .readAccessor
    case "y": kind = .read2Accessor
    case "M": kind = .modifyAccessor
    case "x": kind = .modify2Accessor
    case "i": kind = .initAccessor
    case "b": kind = .borrowAccessor
    case "z": kind = .mutateAccessor
    case "a":
      switch next() {
      case "O": kind = .owningMutableAddressor
      case "o": kind = .nativeOwningMutableAddressor
      case "p": kind = .nativePinningMutableAddressor
      case "u": kind = .unsafeMutableAddressor
      default: return 0
      }
    case "l":
      switch next() {
      case "O": kind = .owningAddressor
      case "o": kind = .nativeOwningAddressor
      case "p": kind = .nativePinningAddressor
      case "u": kind = .unsafeAddressor
      default: return 0
      }
    case "p": return storage
    default: return 0
    }
    return make(kind, storage)
  }

  /// `f…`: initialisers, deinitialisers, closures, default arguments, macros.
  mutating func readFunctionEntity() -> NodeIndex {
    switch next() {
    case "D": return make(.deallocator, popContext())
    case "d": return make(.destructor, popContext())
    case "Z": return make(.isolatedDeallocator, popContext())
    case "E": return make(.iVarDestroyer, popContext())
    case "e": return make(.iVarInitializer, popContext())
    case "i": return make(.initializer, popContext())
    case "C": return readInitializer(.allocator)
    case "c": return readInitializer(.constructor)
    case "U": return readClosure(.explicitClosure)
    case "u": return readClosure(.implicitClosure)
    case "A":
      let index = readIndexNode()
      return make(.defaultArgumentInitializer, popContext(), index)
    case "m": return popEntityWithType(.macro)
    case "M": return readMacroExpansion()
    case "p": return popEntityWithType(.genericTypeParamDecl)
    case "P": return make(.propertyWrapperBackingInitializer, popContext())
    case "W": return make(.propertyWrapperInitFromProjectedValue, popContext())
    case "F": return make(.propertyWrappedFieldInitAccessor, popContext())
    default: return 0
    }
  }

  private mutating func readInitializer(_ kind: NodeKind) -> NodeIndex {
    let privateName = pop(.privateDeclName)
    let type = pop(.type)
    let labels = popLabels(for: type)
    let entity = make(kind, popContext())
    guard entity != 0 else { return 0 }
    addIfPresent(labels, to: entity)
    guard adding(type, to: entity) != 0 else { return 0 }
    addIfPresent(privateName, to: entity)
    return entity
  }

  private mutating func readClosure(_ kind: NodeKind) -> NodeIndex {
    let index = readIndexNode()
    let type = pop(.type)
    return make(kind, popContext(), index, type)
  }

  private mutating func readMacroExpansion() -> NodeIndex {
    let kind: NodeKind
    var isAttached = true
    switch next() {
    case "a": kind = .accessorAttachedMacroExpansion
    case "r": kind = .memberAttributeAttachedMacroExpansion
    case "m": kind = .memberAttachedMacroExpansion
    case "p": kind = .peerAttachedMacroExpansion
    case "c": kind = .conformanceAttachedMacroExpansion
    case "e": kind = .extensionAttachedMacroExpansion
    case "q": kind = .preambleAttachedMacroExpansion
    case "b": kind = .bodyAttachedMacroExpansion
    case "f":
      kind = .freestandingMacroExpansion
      isAttached = false
    case "u":
      kind = .macroExpansionUniqueName
      isAttached = false
    case "X": return readMacroExpansionPlace()
    default: return 0
    }
    let macroName = popDeclarationName()
    let privateName = isAttached ? 0 : pop(.privateDeclName)
    let attachedName = isAttached ? popDeclarationName() : 0
    let context = topKind?.isMacroExpansion == true ? pop() : popContext()
    let discriminator = readIndexNode()
    var result = make(kind, context)
    if isAttached { result = adding(attachedName, to: result) }
    result = adding(discriminator, to: adding(macroName, to: result))
    addIfPresent(privateName, to: result)
    return result
  }

  private mutating func readMacroExpansionPlace() -> NodeIndex {
    let line = readIndexNode(.index)
    let column = readIndexNode(.index)
    let buffer = pop(.identifier)
    let module = pop(.identifier)
    return adding(column, to: make(.macroExpansionLoc, module, buffer, line))
  }

  // MARK: opaque results

  /// Tells the `some P` results of an entity whose they are: the spelling of the entity's mangled name.
  ///
  /// Only an entity at the bottom of the stack begins where the name begins, so only there the spelling
  /// is known without mangling the entity anew; others stay unnamed.
  /// - Parameter suffix: What ends the spelling, when the cursor stands before it.
  private mutating func noteOpaqueResult(in entity: NodeIndex, suffix: StaticString = "") -> NodeIndex {
    guard hasOpenOpaqueResult, entity != 0 else { return entity }
    hasOpenOpaqueResult = false
    guard stackCount == 0 else { return entity }
    let spelling = String(decoding: text[bodyStart..<position], as: UTF8.self) + "\(suffix)"
    let parent = makeBuilt(.opaqueReturnTypeParent, spelling)
    guard parent != 0 else { return 0 }
    for position in 0..<arena.childCount(entity) where arena.kind(arena.child(entity, position)) == .type {
      nameOpaqueResults(below: arena.child(entity, position), parent: parent)
    }
    return entity
  }

  private mutating func nameOpaqueResults(below root: NodeIndex, parent: NodeIndex) {
    var pending = [root]
    var steps = 0
    while let node = pending.popLast(), steps < 10_000 {
      steps += 1
      let count = arena.childCount(node)
      if arena.kind(node) == .opaqueReturnType {
        let hasParent = count > 0 && arena.kind(arena.child(node, count - 1)) == .opaqueReturnTypeParent
        if !hasParent { arena.append(parent, to: node) }
      } else {
        for position in 0..<count { pending.append(arena.child(node, position)) }
      }
    }
  }
}
