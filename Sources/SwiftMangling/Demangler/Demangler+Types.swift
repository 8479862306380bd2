extension Demangler {
  // MARK: nominal types

  /// `C V O P a`: context and name.
  mutating func readNominal(_ kind: NodeKind) -> NodeIndex {
    let name = popDeclarationName()
    let context = popContext()
    let type = makeType(make(kind, context, name))
    addSubstitution(type)
    return type
  }

  /// The nominal node inside the type on top, 0 when it is no nominal type.
  mutating func popNominal() -> NodeIndex {
    let nominal = popTypeChild()
    return arena.kind(nominal).isAnyGeneric && nominal != 0 ? nominal : 0
  }

  /// The node inside the type on top.
  mutating func popTypeChild() -> NodeIndex {
    let type = pop(.type)
    return type == 0 ? 0 : arena.first(type)
  }

  /// Wraps the type on top: `inout T`, `__owned T`.
  mutating func wrapTop(_ kind: NodeKind) -> NodeIndex { makeType(make(kind, popTypeChild())) }

  /// `S…`: names everybody uses.
  mutating func readStandardSubstitution() -> NodeIndex {
    switch peeked {
    case "o":
      _ = next()
      return arena.make(.module, text: "__C")
    case "C":
      _ = next()
      return arena.make(.module, text: "__C_Synthesized")
    case "g":
      _ = next()
      return readOptional()
    default:
      let repeats = readNatural()
      guard (repeats ?? 0) <= Demangler.limitRepeat else { return 0 }
      let isConcurrency = skip("c")
      guard let standard = StandardType.named(next(), isConcurrency: isConcurrency) else { return 0 }
      return pushCopies(of: standardType(standard.kind, standard.name), repeats: repeats)
    }
  }

  private mutating func standardType(_ kind: NodeKind, _ name: StaticString) -> NodeIndex {
    let module = arena.make(.module, text: "Swift")
    return makeType(make(kind, module, arena.make(.identifier, text: name)))
  }

  private mutating func readOptional() -> NodeIndex {
    let wrapped = pop(.type)
    let list = make(.typeList, wrapped)
    guard list != 0 else { return 0 }
    let type = makeType(make(.boundGenericEnum, standardType(.enum, "Optional"), list))
    addSubstitution(type)
    return type
  }

  // MARK: bound generics

  /// `G`: `y`, one type list per level of the nominal type, `_` between levels.
  mutating func readBoundGeneric() -> NodeIndex {
    let conformances = popRetroactiveConformances()
    let lists = popArgumentLists()
    guard lists != 0 else { return 0 }
    let nominal = popNominal()
    guard nominal != 0 else { return 0 }
    let bound = bind(nominal, lists, level: 0)
    guard bound != 0 else { return 0 }
    addIfPresent(conformances, to: bound)
    let type = makeType(bound)
    addSubstitution(type)
    return type
  }

  /// The argument lists, innermost level first, as children of one node.
  mutating func popArgumentLists() -> NodeIndex {
    let lists = arena.make(.typeList)
    while true {
      let list = arena.make(.typeList)
      while case let type = pop(.type), type != 0 { arena.append(type, to: list) }
      arena.reverseChildren(list)
      arena.append(list, to: lists)
      if pop(.emptyList) != 0 { return lists }
      if pop(.firstElementMarker) == 0 { return 0 }
    }
  }

  mutating func popRetroactiveConformances() -> NodeIndex {
    var list: NodeIndex = 0
    while case let conformance = pop(.retroactiveConformance), conformance != 0 {
      if list == 0 { list = arena.make(.typeList) }
      arena.append(conformance, to: list)
    }
    if list != 0 { arena.reverseChildren(list) }
    return list
  }

  /// Gives a nominal node and its parents their arguments; `level` counts from the innermost list.
  private mutating func bind(_ nominal: NodeIndex, _ lists: NodeIndex, level: Int) -> NodeIndex {
    let count = arena.childCount(lists)
    guard nominal != 0, level < count, arena.childCount(nominal) > 0 else { return 0 }
    depth += 1
    defer { depth -= 1 }
    guard depth < Demangler.limitDepth else { return 0 }

    let takesArguments = Demangler.takesGenericArguments(arena.kind(nominal))
    let arguments = arena.child(lists, level)
    let nextLevel = takesArguments ? level + 1 : level
    var nominal = nominal
    if nextLevel < count {
      let context = arena.first(nominal)
      let parent: NodeIndex
      if arena.kind(context) == .extension {
        parent = make(.extension, arena.first(context), bind(arena.child(context, 1), lists, level: nextLevel))
        addIfPresent(arena.child(context, 2), to: parent)
      } else {
        parent = bind(context, lists, level: nextLevel)
      }
      guard parent != 0 else { return 0 }
      let rebuilt = make(arena.kind(nominal), parent)
      for position in 1..<max(arena.childCount(nominal), 1) {
        arena.append(arena.child(nominal, position), to: rebuilt)
      }
      nominal = rebuilt
    }
    guard takesArguments, arena.childCount(arguments) > 0 else { return nominal }
    let kind: NodeKind
    switch arena.kind(nominal) {
    case .class: kind = .boundGenericClass
    case .structure: kind = .boundGenericStructure
    case .enum: kind = .boundGenericEnum
    case .protocol: kind = .boundGenericProtocol
    case .otherNominalType: kind = .boundGenericOtherNominalType
    case .typeAlias: kind = .boundGenericTypeAlias
    case .function, .constructor: return make(.boundGenericFunction, nominal, arguments)
    default: return 0
    }
    return make(kind, makeType(nominal), arguments)
  }

  /// Variables and closures have no generic parameters of their own; the list belongs to their context.
  private static func takesGenericArguments(_ kind: NodeKind) -> Bool {
    switch kind {
    case .variable, .subscript, .implicitClosure, .explicitClosure, .defaultArgumentInitializer,
      .initializer, .propertyWrapperBackingInitializer, .propertyWrapperInitFromProjectedValue,
      .propertyWrappedFieldInitAccessor, .static:
      false
    default: true
    }
  }

  // MARK: functions and tuples

  /// A function type from what stands before its operator: result, parameters, annotations.
  mutating func popFunctionType(_ kind: NodeKind, clangType: NodeIndex = 0) -> NodeIndex {
    let function = arena.make(kind)
    addIfPresent(clangType, to: function)
    addIfPresent(pop(.sendingResultFunctionType), to: function)
    switch topKind {
    case .globalActorFunctionType?, .isolatedAnyFunctionType?, .nonIsolatedCallerFunctionType?:
      arena.append(pop(), to: function)
    default: break
    }
    addIfPresent(pop(.differentiableFunctionType), to: function)
    switch topKind {
    case .throwsAnnotation?, .typedThrowsAnnotation?: arena.append(pop(), to: function)
    default: break
    }
    addIfPresent(pop(.concurrentFunctionType), to: function)
    addIfPresent(pop(.asyncAnnotation), to: function)
    let parameters = popFunctionPart(.argumentTuple)
    let result = popFunctionPart(.returnType)
    return makeType(adding(result, to: adding(parameters, to: function)))
  }

  private mutating func popFunctionPart(_ kind: NodeKind) -> NodeIndex {
    if pop(.emptyList) != 0 { return make(kind, makeType(arena.make(.tuple))) }
    return make(kind, pop(.type))
  }

  /// The labels written before a function's type.
  /// - Returns: 0 when the type has no parameters or the labels were left out.
  mutating func popLabels(for type: NodeIndex) -> NodeIndex {
    if pop(.emptyList) != 0 { return arena.make(.labelList) }
    guard type != 0, arena.kind(type) == .type else { return 0 }
    var function = arena.first(type)
    if arena.kind(function) == .dependentGenericType { function = arena.first(arena.child(function, 1)) }
    guard arena.kind(function) == .functionType || arena.kind(function) == .noEscapeFunctionType else { return 0 }
    var position = 0
    while position < arena.childCount(function), arena.kind(arena.child(function, position)) != .argumentTuple {
      position += 1
    }
    let parameters = arena.first(arena.first(arena.child(function, position)))
    guard parameters != 0 else { return 0 }
    let count = arena.kind(parameters) == .tuple ? arena.childCount(parameters) : 1
    guard count > 0 else { return 0 }
    let labels = arena.make(.labelList)
    var isLabelled = false
    for _ in 0..<count {
      let label = pop()
      guard label != 0 else { return 0 }
      switch arena.kind(label) {
      case .identifier: isLabelled = true
      case .firstElementMarker: break
      default: return 0
      }
      arena.append(label, to: labels)
    }
    guard isLabelled else { return arena.make(.labelList) }
    arena.reverseChildren(labels)
    return labels
  }

  /// `t`
  mutating func popTuple() -> NodeIndex {
    makeType(
      popList(into: arena.make(.tuple)) { machine in
        let element = machine.arena.make(.tupleElement)
        machine.addIfPresent(machine.pop(.variadicMarker), to: element)
        let label = machine.pop(.identifier)
        if label != 0 { machine.arena.append(machine.arena.copy(label, as: .tupleElementName), to: element) }
        return machine.adding(machine.pop(.type), to: element)
      })
  }

  // MARK: existentials

  mutating func popProtocol() -> NodeIndex {
    let type = pop(.type)
    if type != 0 {
      return arena.kind(arena.first(type)) == .protocol ? type : 0
    }
    let name = popDeclarationName()
    let context = popContext()
    return makeType(make(.protocol, context, name))
  }

  /// `ProtocolList` around a `TypeList`.
  mutating func popProtocolList() -> NodeIndex {
    make(.protocolList, popList(into: arena.make(.typeList)) { $0.popProtocol() })
  }

  // MARK: special types

  /// `X…`
  mutating func readSpecialType() -> NodeIndex {
    switch next() {
    case "E": return popFunctionType(.noEscapeFunctionType)
    case "A": return popFunctionType(.escapingAutoClosureType)
    case "f": return popFunctionType(.thinFunctionType)
    case "K": return popFunctionType(.autoClosureType)
    case "U": return popFunctionType(.uncurriedFunctionType)
    case "L": return popFunctionType(.escapingObjCBlock)
    case "B": return popFunctionType(.objCBlock)
    case "C": return popFunctionType(.cFunctionPointer)
    case "z":
      switch next() {
      case "B":
        let type = readClangType()
        return type == 0 ? 0 : popFunctionType(.objCBlock, clangType: type)
      case "C":
        let type = readClangType()
        return type == 0 ? 0 : popFunctionType(.cFunctionPointer, clangType: type)
      default: return 0
      }
    case "g": return make(.extendedExistentialTypeShape, pop(.type))
    case "G":
      let type = pop(.type)
      let shape = arena.make(.extendedExistentialTypeShape)
      addIfPresent(pop(.dependentGenericSignature), to: shape)
      return adding(type, to: shape)
    case "o": return makeType(make(.unowned, pop(.type)))
    case "u": return makeType(make(.unmanaged, pop(.type)))
    case "w": return makeType(make(.weak, pop(.type)))
    case "b": return makeType(make(.silBoxType, pop(.type)))
    case "D": return makeType(make(.dynamicSelf, pop(.type)))
    case "M":
      let representation = readMetatypeRepresentation()
      return makeType(make(.metatype, representation, pop(.type)))
    case "m":
      let representation = readMetatypeRepresentation()
      return makeType(make(.existentialMetatype, representation, pop(.type)))
    case "p": return makeType(make(.existentialMetatype, pop(.type)))
    case "P":
      let requirements = arena.make(.constrainedExistentialRequirementList)
      guard popList(into: requirements, { $0.popRequirement() }) != 0 else { return 0 }
      return makeType(make(.constrainedExistential, pop(.type), requirements))
    case "c":
      let superclass = pop(.type)
      return makeType(make(.protocolListWithClass, popProtocolList(), superclass))
    case "l": return makeType(make(.protocolListWithAnyObject, popProtocolList()))
    case "x": return readBox(isGeneric: false)
    case "X": return readBox(isGeneric: true)
    case "Y": return readNominal(.otherNominalType)
    case "Z":
      let types = popTypeList()
      let name = pop(.identifier)
      return make(.anonymousContext, name, popContext(), types)
    case "e": return makeType(arena.make(.errorType))
    case "S": return readSugaredType()
    default: return 0
    }
  }

  private mutating func readSugaredType() -> NodeIndex {
    switch next() {
    case "q": return makeType(make(.sugaredOptional, pop(.type)))
    case "a": return makeType(make(.sugaredArray, pop(.type)))
    case "p": return makeType(make(.sugaredParen, pop(.type)))
    case "D":
      let value = pop(.type)
      return makeType(make(.sugaredDictionary, pop(.type), value))
    case "A":
      let element = pop(.type)
      return makeType(make(.sugaredInlineArray, pop(.type), element))
    default: return 0
    }
  }

  private mutating func readMetatypeRepresentation() -> NodeIndex {
    switch next() {
    case "t": arena.make(.metatypeRepresentation, text: "@thin")
    case "T": arena.make(.metatypeRepresentation, text: "@thick")
    case "o": arena.make(.metatypeRepresentation, text: "@objc_metatype")
    default: 0
    }
  }

  mutating func readClangType() -> NodeIndex {
    guard let count = readNatural(), count > 0, count <= text.count - position else { return 0 }
    position += count
    return arena.make(.clangType, text: UnsafeBufferPointer(rebasing: text[position - count..<position]))
  }

  /// `Xx`, `XX`: the memory a closure captures by reference.
  private mutating func readBox(isGeneric: Bool) -> NodeIndex {
    var signature: NodeIndex = 0
    var arguments: NodeIndex = 0
    if isGeneric {
      signature = pop(.dependentGenericSignature)
      arguments = popTypeList()
      guard signature != 0, arguments != 0 else { return 0 }
    }
    let fields = popTypeList()
    guard fields != 0 else { return 0 }
    let layout = arena.make(.silBoxLayout)
    for position in 0..<arena.childCount(fields) {
      let field = arena.child(fields, position)
      let inner = arena.first(field)
      let node =
        arena.kind(inner) == .inOut
        ? make(.silBoxMutableField, makeType(arena.first(inner))) : make(.silBoxImmutableField, field)
      guard node != 0 else { return 0 }
      arena.append(node, to: layout)
    }
    let box = make(.silBoxTypeWithLayout, layout)
    addIfPresent(signature, to: box)
    addIfPresent(arguments, to: box)
    return makeType(box)
  }

  /// `Y…`: annotations of function types and parameters.
  mutating func readTypeAnnotation() -> NodeIndex {
    switch next() {
    case "a": return arena.make(.asyncAnnotation)
    case "A": return arena.make(.isolatedAnyFunctionType)
    case "b": return arena.make(.concurrentFunctionType)
    case "c": return make(.globalActorFunctionType, popTypeChild())
    case "C": return arena.make(.nonIsolatedCallerFunctionType)
    case "g": return wrapTop(.constValue)
    case "i": return wrapTop(.isolated)
    case "j":
      let kind = next()
      switch kind {
      case "f", "r", "d", "l": return arena.make(.differentiableFunctionType, number: UInt64(kind.byte))
      default: return 0
      }
    case "k": return wrapTop(.noDerivative)
    case "K": return make(.typedThrowsAnnotation, popTypeChild())
    case "t": return wrapTop(.compileTimeLiteral)
    case "T": return arena.make(.sendingResultFunctionType)
    case "u": return wrapTop(.sending)
    default: return 0
    }
  }

  /// `D`: a type written for the debugger, with the labels of a function type.
  mutating func readTypeMangling() -> NodeIndex {
    let type = pop(.type)
    guard type != 0 else { return 0 }
    let labels = popLabels(for: type)
    let result = arena.make(.typeMangling)
    addIfPresent(labels, to: result)
    return adding(type, to: result)
  }

  /// `$`: the argument of a value generic.
  mutating func readInteger() -> NodeIndex {
    let isNegative = skip("n")
    guard let index = readIndex() else { return 0 }
    if isNegative {
      return makeType(arena.make(.negativeInteger, number: UInt64(bitPattern: -Int64(index))))
    }
    return makeType(arena.make(.integer, number: UInt64(index)))
  }

  // MARK: builtins

  /// `B…`
  mutating func readBuiltin() -> NodeIndex {
    let name: StaticString
    switch next() {
    case "A": name = "Builtin.ImplicitActor"
    case "b": name = "Builtin.BridgeObject"
    case "B": name = "Builtin.UnsafeValueBuffer"
    case "c": name = "Builtin.RawUnsafeContinuation"
    case "D": name = "Builtin.DefaultActorStorage"
    case "d": name = "Builtin.NonDefaultDistributedActorStorage"
    case "e": name = "Builtin.Executor"
    case "I": name = "Builtin.IntLiteral"
    case "j": name = "Builtin.Job"
    case "P": name = "Builtin.PackIndex"
    case "O": name = "Builtin.UnknownObject"
    case "o": name = "Builtin.NativeObject"
    case "p": name = "Builtin.RawPointer"
    case "t": name = "Builtin.SILToken"
    case "w": name = "Builtin.Word"
    case "f": return readSizedBuiltin("Builtin.FPIEEE")
    case "i": return readSizedBuiltin("Builtin.Int")
    case "v": return readVector()
    case "T": return makeType(arena.make(.builtinTupleType))
    case "V":
      let element = pop(.type)
      return makeType(make(.builtinFixedArray, pop(.type), element))
    default: return 0
    }
    return makeType(arena.make(.builtinTypeName, text: name))
  }

  private mutating func readSizedBuiltin(_ prefix: String) -> NodeIndex {
    guard let index = readIndex(), index > 1, index <= 4097 else { return 0 }
    return makeType(makeBuilt(.builtinTypeName, prefix + "\(index - 1)"))
  }

  private mutating func readVector() -> NodeIndex {
    guard let index = readIndex(), index > 1, index <= 4097 else { return 0 }
    let element = popTypeChild()
    guard element != 0, arena.kind(element) == .builtinTypeName else { return 0 }
    let name = arena.string(element).dropFirst("Builtin.".count)
    return makeType(makeBuilt(.builtinTypeName, "Builtin.Vec\(index - 1)x" + name))
  }

  /// A control byte and a relative address, in metadata: a type or protocol by its descriptor.
  mutating func readSymbolicReference(_ control: UInt8) -> NodeIndex {
    guard let resolveReference, control != 0, position + 4 <= text.count, let base = text.baseAddress else { return 0 }
    let field = UnsafeRawPointer(base + position)
    position += 4
    guard let path = resolveReference(control, field + Int(field.loadUnaligned(as: Int32.self))), !path.isEmpty else { return 0 }
    var context = arena.make(.module, text: "@")
    for (kind, address) in path {
      let nodeKind: NodeKind
      switch kind {
      case .structure: nodeKind = .structure
      case .enumeration: nodeKind = .enum
      case .classType: nodeKind = .class
      case .protocolType: nodeKind = .protocol
      case .other: return 0
      }
      context = make(nodeKind, context, makeBuilt(.identifier, String(address, radix: 16)))
    }
    let type = makeType(context)
    addSubstitution(type)
    return type
  }

  /// A node with a text made here.
  mutating func makeBuilt(_ kind: NodeKind, _ built: String) -> NodeIndex {
    builtTextSize += built.utf8.count
    guard builtTextSize <= Demangler.limitText else { return 0 }
    let memory = arena.reserveText(built.utf8.count)
    for (offset, byte) in built.utf8.enumerated() { memory[offset] = byte }
    arena.commitText(built.utf8.count)
    return arena.make(kind, text: UnsafeBufferPointer(start: memory, count: built.utf8.count))
  }
}
