// DeclarationReader — turns the tree of a symbol into a `Declaration`.
//
// A symbol's global node holds function attributes (specialisations, thunks), then the entity. The
// reader finds the entity, reads name, context and type from it, and then lets each attribute, from
// the entity outwards, either add a specialisation or turn the symbol into a compiler-made one.

struct DeclarationReader {
  private var types = TypeReader()

  /// - Returns: nil when the symbol names no function, variable, type record or thunk.
  mutating func declaration(
    ofGlobal global: NodeIndex, familyEnd: Int, name: UnsafeBufferPointer<UInt8>, in arena: borrowing NodeArena
  ) -> Declaration? {
    var attributes: [NodeIndex] = []
    var entity: NodeIndex = 0
    var suffix: NodeIndex = 0
    // A partial-apply forwarder holds the rest of the symbol as its own children.
    var container = global
    var position = 0
    while position < arena.childCount(container) {
      let child = arena.child(container, position)
      position += 1
      if arena.kind(child) == .suffix {
        suffix = child
      } else if arena.kind(child).isFunctionAttribute {
        attributes.append(child)
        let kind = arena.kind(child)
        if kind == .partialApplyForwarder || kind == .partialApplyObjCForwarder {
          if suffix == 0, position < arena.childCount(container) {
            let last = arena.child(container, arena.childCount(container) - 1)
            if arena.kind(last) == .suffix { suffix = last }
          }
          container = child
          position = 0
        }
      } else if entity == 0 {
        entity = child
      } else {
        return nil
      }
    }
    var result: Declaration
    if entity == 0 {
      guard let outermost = attributes.first else { return nil }
      result = Declaration(kind: .compilerMade(arena.kind(outermost).words), module: "", name: "")
    } else {
      guard let read = declaration(ofEntity: entity, in: arena) else { return nil }
      result = read
    }
    for attribute in attributes.reversed() { apply(attribute, to: &result, in: arena) }
    if suffix != 0 { applySuffix(arena.string(suffix), to: &result) }
    // The entity may be wrapped (a thunk's operand): then the whole name is the family.
    let end = familyEnd > 0 ? familyEnd : name.count
    result.familyLength = end
    result.familyName = DeclarationReader.familyName(of: name, end: end, kind: result.kind)
    return result
  }

  /// The prefix with both forms of an initialiser and a deinitialiser spelled alike.
  private static func familyName(
    of name: UnsafeBufferPointer<UInt8>, end: Int, kind: EntityKind
  ) -> String {
    let prefix = String(decoding: name[..<end], as: UTF8.self)
    switch kind {
    case .`init` where prefix.hasSuffix("fc"), .deallocatingDeinit where prefix.hasSuffix("fD"),
      .isolatedDeinit where prefix.hasSuffix("fZ"):
      return prefix.dropLast() + (kind == .`init` ? "C" : "d")
    default: return prefix
    }
  }

  // MARK: entities

  /// The declaration an entity node stands for; thunks and records read as compiler-made ones.
  mutating func declaration(ofEntity entity: NodeIndex, in arena: borrowing NodeArena) -> Declaration? {
    let kind = arena.kind(entity)
    let first = arena.first(entity)
    switch kind {
    case .static:
      guard var inner = declaration(ofEntity: first, in: arena) else { return nil }
      inner.isStatic = true
      return inner
    case .function:
      return function(entity, in: arena)
    case .allocator: return initializer(entity, .allocatingInit, in: arena)
    case .constructor: return initializer(entity, .`init`, in: arena)
    case .destructor: return member(entity, .`deinit`, "deinit", in: arena)
    case .deallocator: return member(entity, .deallocatingDeinit, "deinit", in: arena)
    case .isolatedDeallocator: return member(entity, .isolatedDeinit, "deinit", in: arena)
    case .variable: return variable(entity, .variable, in: arena)
    case .subscript: return subscriptDeclaration(entity, .subscriptDeclaration, in: arena)
    case .explicitClosure, .implicitClosure: return closure(entity, in: arena)
    case .defaultArgumentInitializer:
      let index = Int(arena.number(arena.child(entity, 1)) ?? 0)
      guard var result = nested(entity, .defaultArgument(index: index), in: arena) else { return nil }
      result.name = "default argument \(index)"
      result.type = nil
      return result
    case .initializer:
      guard var result = declaration(ofEntity: first, in: arena) else { return nil }
      result.kind = .variableInitializer
      return result
    case .macro:
      guard var result = function(entity, in: arena) else { return nil }
      result.kind = .macro
      return result
    default:
      if let accessor = DeclarationReader.accessorKind(kind) { return self.accessor(first, accessor, in: arena) }
      if kind.isAnyGeneric || kind == .type {
        guard case .nominal(let name, let nominalKind, _) = types.type(entity, in: arena) else { return nil }
        return typeDeclaration(name, nominalKind, .type)
      }
      if kind == .identifier || kind == .module || kind == .typeMangling || kind.isRequirement { return nil }
      return compilerMade(entity, in: arena)
    }
  }

  private mutating func function(_ entity: NodeIndex, in arena: borrowing NodeArena) -> Declaration? {
    let name = DeclarationName(arena.child(entity, 1), in: arena)
    var result = Declaration(kind: .function, module: "", name: name.text)
    result.privateDiscriminator = name.privateDiscriminator
    result.localIndex = name.localIndex
    readContext(arena.first(entity), into: &result, in: arena)
    readType(of: entity, into: &result, in: arena)
    return result
  }

  private mutating func initializer(
    _ entity: NodeIndex, _ kind: EntityKind, in arena: borrowing NodeArena
  ) -> Declaration? {
    var result = Declaration(kind: kind, module: "", name: "init")
    readContext(arena.first(entity), into: &result, in: arena)
    readType(of: entity, into: &result, in: arena)
    return result
  }

  private mutating func member(
    _ entity: NodeIndex, _ kind: EntityKind, _ name: String, in arena: borrowing NodeArena
  ) -> Declaration? {
    var result = Declaration(kind: kind, module: "", name: name)
    readContext(arena.first(entity), into: &result, in: arena)
    return result
  }

  private mutating func variable(
    _ entity: NodeIndex, _ kind: EntityKind, in arena: borrowing NodeArena
  ) -> Declaration? {
    let name = DeclarationName(arena.child(entity, 1), in: arena)
    var result = Declaration(kind: kind, module: "", name: name.text)
    result.privateDiscriminator = name.privateDiscriminator
    result.localIndex = name.localIndex
    readContext(arena.first(entity), into: &result, in: arena)
    readType(of: entity, into: &result, in: arena)
    result.labels = []
    return result
  }

  private mutating func subscriptDeclaration(
    _ entity: NodeIndex, _ kind: EntityKind, in arena: borrowing NodeArena
  ) -> Declaration? {
    var result = Declaration(kind: kind, module: "", name: "subscript")
    result.isSubscript = true
    readContext(arena.first(entity), into: &result, in: arena)
    readType(of: entity, into: &result, in: arena)
    return result
  }

  private mutating func accessor(
    _ storage: NodeIndex, _ kind: EntityKind, in arena: borrowing NodeArena
  ) -> Declaration? {
    switch arena.kind(storage) {
    case .variable: return variable(storage, kind, in: arena)
    case .subscript: return subscriptDeclaration(storage, kind, in: arena)
    default: return nil
    }
  }

  private mutating func closure(_ entity: NodeIndex, in arena: borrowing NodeArena) -> Declaration? {
    let index = Int(arena.number(arena.child(entity, 1)) ?? 0)
    let isExplicit = arena.kind(entity) == .explicitClosure
    let kind: EntityKind = isExplicit ? .explicitClosure(index: index) : .implicitClosure(index: index)
    guard var result = nested(entity, kind, in: arena) else { return nil }
    result.name = DeclarationReader.localName(of: entity, in: arena) ?? "closure"
    readType(of: entity, into: &result, in: arena)
    return result
  }

  /// Something inside a function (or initial value): its context is the function's.
  private mutating func nested(
    _ entity: NodeIndex, _ kind: EntityKind, in arena: borrowing NodeArena
  ) -> Declaration? {
    var result = Declaration(kind: kind, module: "", name: "")
    readContext(arena.first(entity), into: &result, in: arena)
    return result
  }

  private func typeDeclaration(_ name: NominalName, _ nominalKind: NominalKind, _ kind: EntityKind) -> Declaration {
    var result = Declaration(kind: kind, module: name.module, name: name.shortName)
    result.context = name
    result.contextKind = nominalKind
    for step in name.steps { if let other = step.extensionModule { result.module = other } }
    return result
  }

  /// Thunks, records, witnesses: what is known of the entity or type inside goes along.
  private mutating func compilerMade(_ node: NodeIndex, in arena: borrowing NodeArena) -> Declaration? {
    let kind = EntityKind.compilerMade(arena.kind(node).words)
    // A witness or vtable thunk holds a conformance or a second entity besides the entity it calls.
    for position in stride(from: arena.childCount(node) - 1, through: 0, by: -1) {
      let child = arena.child(node, position)
      let childKind = arena.kind(child)
      guard childKind.isContext, childKind != .module, childKind != .extension, !childKind.isAnyGeneric,
        var inner = declaration(ofEntity: child, in: arena)
      else { continue }
      inner.becomeCompilerMade(arena.kind(node).words)
      if arena.kind(node) == .protocolWitness { inner.conformer = types.type(arena.first(arena.first(node)), in: arena) }
      return inner
    }
    for position in 0..<arena.childCount(node) {
      var child = arena.child(node, position)
      // A cache belongs to another record, a record to a conformance, a conformance to a type.
      for _ in 0..<3 where arena.kind(child) != .type && !arena.kind(child).isAnyGeneric { child = arena.first(child) }
      guard arena.kind(child) == .type || arena.kind(child).isAnyGeneric else { continue }
      if case .nominal(let name, let nominalKind, _) = types.type(child, in: arena) {
        return typeDeclaration(name, nominalKind, kind)
      }
    }
    return Declaration(kind: kind, module: "", name: "")
  }

  // MARK: parts

  private mutating func readType(
    of entity: NodeIndex, into result: inout Declaration, in arena: borrowing NodeArena
  ) {
    var labels: [String?]?
    for position in 1..<max(arena.childCount(entity), 1) {
      let child = arena.child(entity, position)
      switch arena.kind(child) {
      case .labelList:
        var list: [String?] = []
        for label in 0..<arena.childCount(child) {
          let node = arena.child(child, label)
          list.append(arena.kind(node) == .identifier ? arena.string(node) : nil)
        }
        labels = list
      case .privateDeclName:
        if result.privateDiscriminator == nil {
          result.privateDiscriminator = arena.string(arena.first(child))
        }
      case .type:
        let inner = arena.first(child)
        if arena.kind(inner) == .dependentGenericType { readSignature(arena.first(inner), into: &result, in: arena) }
        result.type = types.type(child, in: arena)
      default: break
      }
    }
    if let type = result.type, type.mentionsGenericParameter { result.isGeneric = true }
    guard case .function(var function)? = result.type else { return }
    var list = labels ?? []
    for index in function.parameters.indices {
      if index >= list.count { list.append(function.parameters[index].label) }
      function.parameters[index].label = list[index]
    }
    result.labels = Array(list.prefix(function.parameters.count))
    result.type = .function(function)
  }

  private mutating func readSignature(
    _ signature: NodeIndex, into result: inout Declaration, isExtension: Bool = false, in arena: borrowing NodeArena
  ) {
    result.isGeneric = true
    for position in 0..<min(arena.childCount(signature), 256) {
      let child = arena.child(signature, position)
      if arena.kind(child) == .dependentGenericParamCount {
        // An extension spells the parameters of the type it extends.
        if !isExtension { result.genericParameterCounts.append(Int(clamping: arena.number(child) ?? 0)) }
      } else {
        result.requirements.append(types.requirement(child, in: arena))
      }
    }
  }

  /// Walks from a declaration's context node outwards.
  private mutating func readContext(
    _ node: NodeIndex, into result: inout Declaration, in arena: borrowing NodeArena
  ) {
    var node = node
    var local: [String] = []
    var foundModule = false
    for _ in 0..<TypeReader.limitDepth where node != 0 {
      let kind = arena.kind(node)
      switch kind {
      case .module:
        if !foundModule { result.module = arena.string(node) }
        node = 0
      case .type, .static, .boundGenericFunction: node = arena.first(node)
      case .extension:
        if !foundModule {
          result.module = arena.string(arena.first(node))
          result.extensionModule = result.module
          foundModule = true
        }
        if arena.childCount(node) > 2 { readSignature(arena.child(node, 2), into: &result, isExtension: true, in: arena) }
        node = arena.child(node, 1)
      case .anonymousContext: node = arena.child(node, 1)
      default:
        if kind.isAnyGeneric || DeclarationReader.isBoundNominal(kind) {
          let name = types.name(node, in: arena)
          result.context = name
          result.contextKind = name.steps.last?.kind ?? .other
          if !foundModule { result.module = name.steps.last { $0.extensionModule != nil }?.extensionModule ?? name.module }
          node = 0
        } else {
          guard kind.isContext, arena.childCount(node) > 0 else {
            node = 0
            break
          }
          if let name = DeclarationReader.localName(of: node, in: arena) { local.append(name) }
          node = DeclarationReader.enclosing(node, in: arena)
        }
      }
    }
    result.localContext = local.reversed()
  }

  private static func isBoundNominal(_ kind: NodeKind) -> Bool {
    switch kind {
    case .boundGenericStructure, .boundGenericClass, .boundGenericEnum, .boundGenericProtocol,
      .boundGenericOtherNominalType, .boundGenericTypeAlias:
      true
    default: false
    }
  }

  // MARK: functions as contexts

  /// The context of a function-like context node.
  static func enclosing(_ node: NodeIndex, in arena: borrowing NodeArena) -> NodeIndex {
    let first = arena.first(node)
    // An accessor's context is that of its variable or subscript.
    if accessorKind(arena.kind(node)) != nil || arena.kind(node) == .initializer { return arena.first(first) }
    return first
  }

  /// How a function-like context reads as a step of a name; nil when it adds nothing.
  static func localName(of node: NodeIndex, in arena: borrowing NodeArena) -> String? {
    switch arena.kind(node) {
    case .function: return DeclarationName(arena.child(node, 1), in: arena).text + labels(of: node, in: arena)
    case .allocator, .constructor: return "init" + labels(of: node, in: arena)
    case .destructor, .deallocator, .isolatedDeallocator: return "deinit"
    case .variable: return DeclarationName(arena.child(node, 1), in: arena).text
    case .subscript: return "subscript" + labels(of: node, in: arena)
    case .explicitClosure: return "closure #\((arena.number(arena.child(node, 1)) ?? 0) + 1)"
    case .implicitClosure: return "implicit closure #\((arena.number(arena.child(node, 1)) ?? 0) + 1)"
    case .defaultArgumentInitializer: return "default argument \(arena.number(arena.child(node, 1)) ?? 0)"
    case .initializer: return localName(of: arena.first(node), in: arena)
    case let kind:
      guard let accessor = accessorKind(kind), let storage = localName(of: arena.first(node), in: arena) else {
        return nil
      }
      return storage + "." + accessor.accessorWord
    }
  }

  private static func labels(of node: NodeIndex, in arena: borrowing NodeArena) -> String {
    var labels = ""
    var isListed = false
    var parameterCount = 0
    for position in 1..<max(arena.childCount(node), 1) {
      let child = arena.child(node, position)
      if arena.kind(child) == .labelList {
        isListed = arena.childCount(child) > 0
        for index in 0..<arena.childCount(child) {
          let label = arena.child(child, index)
          labels += (arena.kind(label) == .identifier ? arena.string(label) : "_") + ":"
        }
      } else if arena.kind(child) == .type {
        parameterCount = self.parameterCount(child, in: arena)
      }
    }
    return "(" + (isListed ? labels : String(repeating: "_:", count: parameterCount)) + ")"
  }

  private static func parameterCount(_ type: NodeIndex, in arena: borrowing NodeArena) -> Int {
    var function = arena.first(type)
    if arena.kind(function) == .dependentGenericType { function = arena.first(arena.child(function, 1)) }
    for position in 0..<arena.childCount(function) {
      let child = arena.child(function, position)
      guard arena.kind(child) == .argumentTuple else { continue }
      let inner = arena.first(arena.first(child))
      return arena.kind(inner) == .tuple ? min(arena.childCount(inner), 256) : 1
    }
    return 0
  }

  static func accessorKind(_ kind: NodeKind) -> EntityKind? {
    switch kind {
    case .getter: .getter
    case .setter: .setter
    case .modifyAccessor: .modify
    case .readAccessor: .read
    case .modify2Accessor: .modify2
    case .read2Accessor: .read2
    case .willSet: .willSet
    case .didSet: .didSet
    case .initAccessor: .initAccessor
    case .globalGetter: .globalGetter
    case .materializeForSet: .materializeForSet
    case .unsafeAddressor: .unsafeAddressor
    case .unsafeMutableAddressor: .unsafeMutableAddressor
    case .owningAddressor: .owningAddressor
    case .owningMutableAddressor: .owningMutableAddressor
    case .nativeOwningAddressor: .nativeOwningAddressor
    case .nativeOwningMutableAddressor: .nativeOwningMutableAddressor
    case .nativePinningAddressor: .nativePinningAddressor
    case .nativePinningMutableAddressor: .nativePinningMutableAddressor
    case .borrowAccessor: .borrowAccessor
    case .mutateAccessor: .mutateAccessor
    default: nil
    }
  }

  // MARK: attributes

  private mutating func apply(
    _ attribute: NodeIndex, to result: inout Declaration, in arena: borrowing NodeArena
  ) {
    switch arena.kind(attribute) {
    case .functionSignatureSpecialization: result.specialization.append(signature(attribute, in: arena))
    case .genericSpecialization, .genericSpecializationNotReAbstracted,
      .genericSpecializationInResilienceDomain, .genericSpecializationPrespecialized, .inlinedGenericFunction,
      .genericPartialSpecialization, .genericPartialSpecializationNotReAbstracted:
      result.specialization.append(.generic(generic(attribute, in: arena)))
    case .mergedFunction: result.specialization.append(.merged)
    // The body itself, reached through a variable or as the fallback of a thunk.
    case .dynamicallyReplaceableFunctionImpl, .backDeploymentFallback: break
    case let kind: result.becomeCompilerMade(kind.words)
    }
  }

  private func applySuffix(_ suffix: String, to result: inout Declaration) {
    if suffix.hasPrefix(".resume") {
      result.becomeCompilerMade("coroutine resume function")
    } else if suffix.hasPrefix(".cold") {
      result.becomeCompilerMade("cold part")
    }
  }

  private mutating func generic(_ node: NodeIndex, in arena: borrowing NodeArena) -> GenericSpecialization {
    var result = GenericSpecialization(types: [])
    switch arena.kind(node) {
    case .genericPartialSpecialization: result.isPartial = true
    case .genericPartialSpecializationNotReAbstracted: (result.isPartial, result.isReabstracted) = (true, false)
    case .genericSpecializationNotReAbstracted: result.isReabstracted = false
    case .genericSpecializationInResilienceDomain: result.isInResilienceDomain = true
    default: break
    }
    for position in 0..<arena.childCount(node) {
      let child = arena.child(node, position)
      switch arena.kind(child) {
      case .genericSpecializationParam: result.types.append(types.type(arena.first(child), in: arena))
      case .metatypeParamsRemoved: result.dropsMetatypes = true
      case .droppedArgument: result.droppedParameters.append(Int(clamping: arena.number(child) ?? 0))
      default: break
      }
    }
    return result
  }

  private mutating func signature(_ node: NodeIndex, in arena: borrowing NodeArena) -> Specialization {
    var parameters: [SpecializedValue] = []
    var result = SpecializedValue.unchanged
    var pass = 0
    for position in 0..<arena.childCount(node) {
      let child = arena.child(node, position)
      switch arena.kind(child) {
      case .specializationPassID: pass = Int(clamping: arena.number(child) ?? 0)
      case .functionSignatureSpecializationParam: parameters.append(value(child, in: arena))
      case .functionSignatureSpecializationReturn: result = value(child, in: arena)
      default: break
      }
    }
    return .signature(parameters: parameters, result: result, pass: pass)
  }

  private mutating func value(_ node: NodeIndex, in arena: borrowing NodeArena) -> SpecializedValue {
    let first = arena.first(node)
    guard arena.kind(first) == .functionSignatureSpecializationParamKind, let kind = arena.number(first) else {
      return .unchanged
    }
    var texts: [String] = []
    var captured: [TypeSyntax] = []
    for position in 1..<max(arena.childCount(node), 1) {
      let child = arena.child(node, position)
      if arena.kind(child) == .type {
        captured.append(types.type(child, in: arena))
      } else if arena.text(child) != nil {
        texts.append(arena.string(child))
      } else if arena.kind(child) == .functionSignatureSpecializationParamPayload, let number = arena.number(child) {
        texts.append("\(number)")
      }
    }
    let text = texts.joined(separator: " ")
    switch kind {
    case SpecializedParameter.closure: return .closure(function: text, captures: captured)
    case SpecializedParameter.sameClosure: return .sameClosureAsParameter(Int(text) ?? 0)
    case SpecializedParameter.boxToValue: return .boxToValue
    case SpecializedParameter.boxToStack: return .boxToStack
    case SpecializedParameter.inOutToOut: return .inOutToOut
    case SpecializedParameter.constantFunction...SpecializedParameter.constantString,
      SpecializedParameter.constantKeyPath, SpecializedParameter.constantStruct:
      return .constant(text)
    default:
      var parts: [SpecializedValue] = []
      if kind & SpecializedParameter.existentialToGeneric != 0 { parts.append(.existentialToGeneric) }
      if kind & SpecializedParameter.dead != 0 { parts.append(.dead) }
      if kind & SpecializedParameter.ownedToGuaranteed != 0 { parts.append(.ownedToGuaranteed) }
      if kind & SpecializedParameter.guaranteedToOwned != 0 { parts.append(.guaranteedToOwned) }
      if kind & SpecializedParameter.exploded != 0 { parts.append(.exploded) }
      return parts.count == 1 ? parts[0] : parts.isEmpty ? .other("\(kind)") : .combined(parts)
    }
  }
}

extension EntityKind {
  /// The word that stands for the accessor in selector names.
  var accessorWord: String {
    switch self {
    case .getter: "get"
    case .setter: "set"
    case .modify: "modify"
    case .read: "read"
    case .modify2: "modify2"
    case .read2: "read2"
    case .willSet: "willSet"
    case .didSet: "didSet"
    case .initAccessor: "init"
    case .globalGetter: "globalGet"
    case .materializeForSet: "materializeForSet"
    case .unsafeAddressor: "unsafeAddress"
    case .unsafeMutableAddressor: "unsafeMutableAddress"
    case .owningAddressor: "owningAddress"
    case .owningMutableAddressor: "owningMutableAddress"
    case .nativeOwningAddressor: "nativeOwningAddress"
    case .nativeOwningMutableAddressor: "nativeOwningMutableAddress"
    case .nativePinningAddressor: "nativePinningAddress"
    case .nativePinningMutableAddressor: "nativePinningMutableAddress"
    case .borrowAccessor: "borrow"
    case .mutateAccessor: "mutate"
    default: ""
    }
  }
}
