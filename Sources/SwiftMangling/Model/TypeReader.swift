// TypeReader — turns type nodes into `TypeSyntax` and context nodes into names.
//
// Nodes form a graph whose parts may be shared many times over, so a small name can spell an
// enormous type. The reader counts what it builds and stops at `limit…`; what lies beyond reads
// as `.unknown("...")`.

struct TypeReader {
  private var remaining = TypeReader.limitNodes
  private var depth = 0

  static var limitNodes: Int { 20_000 }
  static var limitDepth: Int { 96 }

  /// The limits were hit: what was read is not the whole truth.
  private(set) var isTruncated = false

  // MARK: types

  mutating func type(_ node: NodeIndex, in arena: borrowing NodeArena) -> TypeSyntax {
    depth += 1
    remaining -= 1
    defer { depth -= 1 }
    guard depth <= TypeReader.limitDepth, remaining > 0 else {
      isTruncated = true
      return .unknown("...")
    }
    let first = arena.first(node)
    switch arena.kind(node) {
    case .type: return type(first, in: arena)
    case .dependentGenericType: return type(arena.child(node, 1), in: arena)
    case .structure, .class, .enum, .protocol, .otherNominalType, .typeAlias:
      return nominal(node, own: [], in: arena)
    case .boundGenericStructure, .boundGenericClass, .boundGenericEnum, .boundGenericProtocol,
      .boundGenericOtherNominalType, .boundGenericTypeAlias:
      return nominal(arena.first(first), own: list(arena.child(node, 1), in: arena), in: arena)
    case .tuple: return .tuple(tuple(node, in: arena))
    case .functionType, .noEscapeFunctionType, .thinFunctionType, .cFunctionPointer, .objCBlock,
      .escapingObjCBlock, .autoClosureType, .escapingAutoClosureType, .uncurriedFunctionType:
      return .function(function(node, in: arena))
    case .protocolList:
      return .existential(protocols: protocols(node, in: arena), superclass: nil, isClassBound: false)
    case .protocolListWithAnyObject:
      return .existential(protocols: protocols(first, in: arena), superclass: nil, isClassBound: true)
    case .protocolListWithClass:
      return .existential(
        protocols: protocols(first, in: arena), superclass: type(arena.child(node, 1), in: arena),
        isClassBound: true)
    case .constrainedExistential:
      let list = arena.child(node, 1)
      var requirements: [GenericRequirement] = []
      for position in 0..<arena.childCount(list) where remaining > 0 {
        requirements.append(requirement(arena.child(list, position), in: arena))
      }
      return .constrainedExistential(type(first, in: arena), requirements: requirements)
    case .metatype: return .metatype(type(arena.child(node, arena.childCount(node) - 1), in: arena))
    case .existentialMetatype:
      return .existentialMetatype(type(arena.child(node, arena.childCount(node) - 1), in: arena))
    case .dependentGenericParamType:
      return .genericParameter(
        depth: Int(arena.number(first) ?? 0), index: Int(arena.number(arena.child(node, 1)) ?? 0))
    case .dependentMemberType:
      let reference = arena.child(node, 1)
      var owner: NominalName?
      if arena.childCount(reference) > 1, case .nominal(let name, _, _) = type(arena.child(reference, 1), in: arena) { owner = name }
      return .dependentMember(base: type(first, in: arena), name: arena.string(arena.first(reference)), of: owner)
    case .associatedTypeRef:
      return .dependentMember(base: type(first, in: arena), name: arena.string(arena.child(node, 1)), of: nil)
    case .dynamicSelf: return .dynamicSelf(type(first, in: arena))
    case .builtinTypeName: return .builtin(arena.string(node))
    case .builtinFixedArray:
      let arguments = [type(first, in: arena), type(arena.child(node, 1), in: arena)]
      return .nominal(.fixedArray, kind: .structure, arguments: arguments)
    case .weak: return .weak(type(first, in: arena))
    case .unowned: return .unowned(type(first, in: arena))
    case .unmanaged: return .unmanaged(type(first, in: arena))
    case .opaqueReturnType: return .opaqueResult("")
    case .opaqueType:
      var reader = DeclarationReader()
      return .opaqueResult(reader.declaration(ofEntity: arena.first(first), in: arena)?.selectorName ?? "")
    case .pack, .silPackDirect, .silPackIndirect: return .pack(children(node, in: arena))
    case .packExpansion: return .packExpansion(type(first, in: arena))
    case .integer, .negativeInteger:
      return .integer(Int(truncatingIfNeeded: arena.number(node) ?? 0))
    case .constrainedExistentialSelf: return .constrainedSelf
    case .sugaredOptional: return standard("Optional", .enumeration, [type(first, in: arena)])
    case .sugaredArray: return standard("Array", .structure, [type(first, in: arena)])
    case .sugaredParen: return type(first, in: arena)
    case .sugaredDictionary:
      return standard(
        "Dictionary", .structure, [type(first, in: arena), type(arena.child(node, 1), in: arena)])
    // Ownership and isolation belong to a parameter; elsewhere the type itself is what matters.
    case .inOut, .shared, .owned, .isolated, .sending, .noDerivative, .compileTimeLiteral, .constValue:
      return type(first, in: arena)
    case let other: return .unknown(other.dumpName)
    }
  }

  private func standard(_ name: String, _ kind: NominalKind, _ arguments: [TypeSyntax]) -> TypeSyntax {
    var step = NominalName.Step(name: name, kind: kind)
    step.argumentCount = arguments.count
    return .nominal(NominalName(module: "Swift", steps: [step]), kind: kind, arguments: arguments)
  }

  private mutating func children(_ node: NodeIndex, in arena: borrowing NodeArena) -> [TypeSyntax] {
    var types: [TypeSyntax] = []
    for position in 0..<arena.childCount(node) where remaining > 0 {
      types.append(type(arena.child(node, position), in: arena))
    }
    return types
  }

  private mutating func list(_ node: NodeIndex, in arena: borrowing NodeArena) -> [TypeSyntax] {
    children(node, in: arena)
  }

  /// A nominal type with the arguments of its parents before its own.
  private mutating func nominal(
    _ node: NodeIndex, own: [TypeSyntax], in arena: borrowing NodeArena
  ) -> TypeSyntax {
    var arguments: [TypeSyntax] = []
    var name = self.name(node, arguments: &arguments, in: arena)
    arguments += own
    if !name.steps.isEmpty { name.steps[name.steps.count - 1].argumentCount = own.count }
    return .nominal(name, kind: name.steps.last?.kind ?? .other, arguments: arguments)
  }

  private mutating func protocols(_ node: NodeIndex, in arena: borrowing NodeArena) -> [NominalName] {
    let list = arena.first(node)
    var names: [NominalName] = []
    for position in 0..<arena.childCount(list) where remaining > 0 {
      if case .nominal(let name, _, _) = type(arena.child(list, position), in: arena) { names.append(name) }
    }
    return names
  }

  private mutating func tuple(_ node: NodeIndex, in arena: borrowing NodeArena) -> [TupleElement] {
    var elements: [TupleElement] = []
    for position in 0..<arena.childCount(node) where remaining > 0 {
      let element = arena.child(node, position)
      var result = TupleElement(type: .tuple([]))
      for part in 0..<arena.childCount(element) {
        let child = arena.child(element, part)
        switch arena.kind(child) {
        case .variadicMarker: result.isVariadic = true
        case .tupleElementName: result.label = arena.string(child)
        default: result.type = type(child, in: arena)
        }
      }
      elements.append(result)
    }
    return elements
  }

  // MARK: functions

  mutating func function(_ node: NodeIndex, in arena: borrowing NodeArena) -> FunctionType {
    var function = FunctionType()
    switch arena.kind(node) {
    case .noEscapeFunctionType: function.convention = .noescape
    case .thinFunctionType: function.convention = .thin
    case .cFunctionPointer: function.convention = .c
    case .objCBlock: function.convention = .block
    case .escapingObjCBlock: function.convention = .escapingBlock
    case .autoClosureType: function.convention = .noescapeAutoclosure
    case .escapingAutoClosureType: function.convention = .escapingAutoclosure
    case .functionType: break
    default: function.convention = .other
    }
    for position in 0..<arena.childCount(node) {
      let child = arena.child(node, position)
      switch arena.kind(child) {
      case .argumentTuple: function.parameters = parameters(arena.first(child), in: arena)
      case .returnType: function.result = type(arena.first(child), in: arena)
      case .asyncAnnotation: function.isAsync = true
      case .concurrentFunctionType: function.isSendable = true
      case .throwsAnnotation: function.thrown = .any
      case .typedThrowsAnnotation: function.thrown = .typed(type(arena.first(child), in: arena))
      case .differentiableFunctionType: function.isDifferentiable = true
      case .sendingResultFunctionType: function.hasSendingResult = true
      case .globalActorFunctionType: function.isolation = .globalActor(type(arena.first(child), in: arena))
      case .isolatedAnyFunctionType: function.isolation = .erased
      case .nonIsolatedCallerFunctionType: function.isolation = .caller
      default: break
      }
    }
    return function
  }

  private mutating func parameters(_ node: NodeIndex, in arena: borrowing NodeArena) -> [Parameter] {
    let inner = arena.kind(node) == .type ? arena.first(node) : node
    guard arena.kind(inner) == .tuple else { return [parameter(inner, in: arena)] }
    var parameters: [Parameter] = []
    for position in 0..<arena.childCount(inner) where remaining > 0 {
      let element = arena.child(inner, position)
      var result = Parameter(type: .tuple([]))
      var isVariadic = false
      var label: String?
      for part in 0..<arena.childCount(element) {
        let child = arena.child(element, part)
        switch arena.kind(child) {
        case .variadicMarker: isVariadic = true
        case .tupleElementName: label = arena.string(child)
        default: result = parameter(arena.first(child), in: arena)
        }
      }
      result.isVariadic = isVariadic
      result.label = label
      parameters.append(result)
    }
    return parameters
  }

  /// Takes the wrappers off a parameter's type.
  private mutating func parameter(_ node: NodeIndex, in arena: borrowing NodeArena) -> Parameter {
    var result = Parameter(type: .tuple([]))
    var node = node
    for _ in 0..<16 {
      switch arena.kind(node) {
      case .inOut: result.isInout = true
      case .shared: result.ownership = .borrowed
      case .owned: result.ownership = .owned
      case .isolated: result.isIsolated = true
      case .sending: result.isSending = true
      case .type, .noDerivative, .compileTimeLiteral, .constValue: break
      default:
        result.isAutoclosure =
          arena.kind(node) == .autoClosureType || arena.kind(node) == .escapingAutoClosureType
        result.type = type(node, in: arena)
        return result
      }
      node = arena.first(node)
    }
    return result
  }

  // MARK: names

  /// A nominal type's name, without its arguments.
  mutating func name(_ node: NodeIndex, in arena: borrowing NodeArena) -> NominalName {
    var arguments: [TypeSyntax] = []
    return name(node, arguments: &arguments, in: arena)
  }

  /// Walks from a nominal (or other context) node up to the module; arguments of bound parents are collected.
  private mutating func name(
    _ node: NodeIndex, arguments: inout [TypeSyntax], in arena: borrowing NodeArena
  ) -> NominalName {
    var steps: [NominalName.Step] = []
    var module = ""
    var levels: [[TypeSyntax]] = []
    var node = node
    // What the extension around the step just read means for that step.
    var boundCount = 0
    for _ in 0..<TypeReader.limitDepth * 2 {
      let kind = arena.kind(node)
      switch kind {
      case .module:
        module = arena.string(node)
        node = 0
      case .type, .static: node = arena.first(node)
      case .extension:
        if !steps.isEmpty {
          let extensionModule = arena.string(arena.first(node))
          steps[steps.count - 1].extensionModule = extensionModule
          steps[steps.count - 1].isInConstrainedExtension = arena.childCount(node) > 2
        }
        node = arena.child(node, 1)
      case .boundGenericStructure, .boundGenericClass, .boundGenericEnum, .boundGenericProtocol,
        .boundGenericOtherNominalType, .boundGenericTypeAlias, .boundGenericFunction:
        let own = list(arena.child(node, 1), in: arena)
        levels.append(own)
        boundCount = own.count
        node = arena.first(arena.first(node))
        if kind == .boundGenericFunction { boundCount = 0 }
      case .structure, .class, .enum, .protocol, .otherNominalType, .typeAlias:
        var step = DeclarationName(arena.child(node, 1), in: arena).step(nominalKind(kind))
        step.argumentCount = boundCount
        boundCount = 0
        steps.append(step)
        node = arena.first(node)
      case .anonymousContext:
        // The runtime writes this where a private type's file is not known to it.
        if !steps.isEmpty { steps[steps.count - 1].privateDiscriminator = arena.string(arena.first(node)) }
        node = arena.child(node, 1)
      default:
        guard kind.isContext, arena.childCount(node) > 0 else {
          node = 0
          break
        }
        if let name = DeclarationReader.localName(of: node, in: arena) {
          steps.append(NominalName.Step(name: name, kind: .other))
        }
        node = DeclarationReader.enclosing(node, in: arena)
      }
      if node == 0 { break }
    }
    steps.reverse()
    // An extension in the type's own module says nothing new.
    var definer = module
    for index in steps.indices {
      if let other = steps[index].extensionModule {
        if other == definer { steps[index].extensionModule = nil } else { definer = other }
      }
    }
    for level in levels.reversed() { arguments += level }
    return NominalName(module: module, steps: steps)
  }

  private func nominalKind(_ kind: NodeKind) -> NominalKind {
    switch kind {
    case .structure: .structure
    case .enum: .enumeration
    case .class: .classType
    case .protocol: .protocolType
    default: .other
    }
  }

  // MARK: requirements

  /// One generic requirement.
  mutating func requirement(_ node: NodeIndex, in arena: borrowing NodeArena) -> GenericRequirement {
    let subject = type(arena.first(node), in: arena)
    return GenericRequirement(subject: subject, kind: requirementKind(node, in: arena), description: requirementWords(node, in: arena))
  }

  private mutating func requirementKind(_ node: NodeIndex, in arena: borrowing NodeArena) -> GenericRequirement.Kind {
    let second = arena.child(node, 1)
    switch arena.kind(node) {
    case .dependentGenericConformanceRequirement:
      let base = type(second, in: arena)
      if case .nominal(let name, .protocolType, _) = base { return .conformance(name) }
      return .superclass(base)
    case .dependentGenericSameTypeRequirement: return .sameType(type(second, in: arena))
    case .dependentGenericSameShapeRequirement: return .sameShape(type(second, in: arena))
    case .dependentGenericInverseConformanceRequirement: return .inverse(Int(clamping: arena.number(second) ?? 0))
    case .dependentGenericLayoutRequirement:
      switch arena.string(second) {
      case "C", "D", "R", "N": return .classLayout
      case let name: return .layout(name)
      }
    case .dependentGenericParamPackMarker: return .pack
    case .dependentGenericParamValueMarker: return .value(type(second, in: arena))
    default: return .other
    }
  }

  private mutating func requirementWords(_ node: NodeIndex, in arena: borrowing NodeArena) -> String {
    let subject = type(arena.first(node), in: arena).description(qualified: true)
    let second = arena.child(node, 1)
    switch arena.kind(node) {
    case .dependentGenericConformanceRequirement:
      return subject + ": " + type(second, in: arena).description(qualified: true)
    case .dependentGenericSameTypeRequirement:
      return subject + " == " + type(second, in: arena).description(qualified: true)
    case .dependentGenericSameShapeRequirement:
      return "shape(\(subject)) == shape(\(type(second, in: arena).description(qualified: true)))"
    case .dependentGenericInverseConformanceRequirement:
      switch arena.number(second) {
      case 0: return subject + ": ~Copyable"
      case 1: return subject + ": ~Escapable"
      case let bit: return subject + ": ~\(bit ?? 0)"
      }
    case .dependentGenericLayoutRequirement:
      switch arena.string(second) {
      case "C": return subject + ": AnyObject"
      case "D": return subject + ": _NativeClass"
      case "T": return subject + ": _Trivial"
      case "U": return subject + ": _UnknownLayout"
      case "R": return subject + ": _RefCountedObject"
      case "N": return subject + ": _NativeRefCountedObject"
      case "B": return subject + ": _BridgeObject"
      case let name: return subject + ": layout " + name
      }
    case .dependentGenericParamPackMarker: return "each " + subject
    case .dependentGenericParamValueMarker:
      return "let " + subject + ": " + type(second, in: arena).description(qualified: true)
    default: return subject
    }
  }
}

/// A declaration's name node taken apart.
struct DeclarationName {
  var text = ""
  var privateDiscriminator: String?
  /// From 1, as the language's own messages count.
  var localIndex: Int?

  init(_ node: NodeIndex, in arena: borrowing NodeArena) {
    var node = node
    for _ in 0..<8 {
      switch arena.kind(node) {
      case .privateDeclName:
        privateDiscriminator = arena.string(arena.first(node))
        node = arena.child(node, 1)
      case .localDeclName:
        localIndex = Int(arena.number(arena.first(node)) ?? 0) + 1
        node = arena.child(node, 1)
      case .relatedEntityDeclName: node = arena.child(node, 1)
      default:
        text = arena.string(node)
        return
      }
      if node == 0 { return }
    }
  }

  func step(_ kind: NominalKind) -> NominalName.Step {
    NominalName.Step(name: text, kind: kind, privateDiscriminator: privateDiscriminator)
  }
}
