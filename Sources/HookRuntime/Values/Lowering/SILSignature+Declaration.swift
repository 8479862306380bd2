// SILSignature+Declaration — the signature of a declaration's own body.
package import SwiftMangling

extension SILSignature {
  /// - Parameter lowering: tells which results are written through an address.
  init(_ declaration: Declaration, lowering: SILTypeLowering) {
    let function = declaration.functionType
    // What a coroutine accessor yields is no result.
    if !declaration.isCoroutine { addResults(function.result, path: [], lowering) }
    if let problem = unknownResult(function, lowering) { breakOff(at: parameters.count, problem) }
    if case .typed(let error) = function.thrown { addErrorAddress(error, lowering) }
    // An async function that runs where its caller does takes that actor before its arguments.
    if declaration.takesCallersActor { addHidden(words: 2) }
    if declaration.callersActorIsUndecided { breakOff(at: parameters.count, Declaration.callersActorIsUnknown) }
    for (index, parameter) in function.parameters.enumerated() { add(parameter, at: index, of: declaration) }
    addSelf(declaration, lowering)
  }

  private mutating func addHidden(words: Int) {
    let fields = (0..<words).map { _ in TupleElement(type: SILTypeLowering.rawPointer) }
    parameters.append(SILParameter(role: .hidden, type: SILType(.tuple(fields))))
  }

  // MARK: Results

  private mutating func addResults(_ type: TypeSyntax, path: [Int], _ lowering: SILTypeLowering) {
    if case .tuple(let elements) = type {
      for (index, element) in elements.enumerated() { addResults(element.type, path: path + [index], lowering) }
      return
    }
    var result = SILResult(path: path, type: SILType(type))
    if case .dynamicSelf = type {  // a reference
    } else if case .success(nil) = lowering.scalars(of: result.type) {
      result.isIndirect = true
    }
    if type.isGenericValue, lowering.environment == nil { result.isIndirect = true }
    results.append(result)
    if result.isIndirect { parameters.append(SILParameter(role: .result, path: path, type: result.type, convention: .address)) }
  }

  /// Why it is not known which results take an address: those come first, so places of arguments depend on it. (A lone
  /// result does not matter: its address has a register of its own, but for async functions.)
  private func unknownResult(_ function: FunctionType, _ lowering: SILTypeLowering) -> String? {
    guard results.count > 1 || function.isAsync else { return nil }
    for result in results {
      if case .failure(let problem) = lowering.scalars(of: result.type) {
        return function.isAsync ? "async result of unknown type" : "tuple result: \(problem.description)"
      }
    }
    return nil
  }

  private mutating func addErrorAddress(_ error: TypeSyntax, _ lowering: SILTypeLowering) {
    let type = SILType(error)
    var isAddress = type.isAbstract
    if case .success(nil) = lowering.scalars(of: type) { isAddress = true }
    if isAddress { parameters.append(SILParameter(role: .error, type: type, convention: .address)) }
  }

  // MARK: Arguments

  private mutating func add(_ parameter: Parameter, at index: Int, of declaration: Declaration) {
    if parameter.isInout {
      parameters.append(SILParameter(role: .argument(index), type: SILType(parameter.type), convention: .address))
      return
    }
    if declaration.kind == .didSet {
      parameters.append(SILParameter(role: .argument(index), type: SILType(parameter.type)))
      return breakOff(at: parameters.count - 1, "whether the observer takes the old value is not in its name")
    }
    let owned = parameter.ownership == .owned || (declaration.ownsArguments || parameter.isSending) && parameter.ownership != .borrowed
    add(parameter.valueType, role: .argument(index), path: [], owned ? .owned : .borrowed)
  }

  /// A tuple parameter is one parameter for each element, nested ones too.
  private mutating func add(_ type: TypeSyntax, role: SILRole, path: [Int], _ convention: SILConvention) {
    guard case .tuple(let elements) = type else {
      parameters.append(SILParameter(role: role, path: path, type: SILType(type), convention: convention))
      return
    }
    for (index, element) in elements.enumerated() { add(element.type, role: role, path: path + [index], convention) }
  }

  // MARK: Self

  private mutating func addSelf(_ declaration: Declaration, _ lowering: SILTypeLowering) {
    guard let type = lowering.selfType(of: declaration) else { return }
    isMethod = true
    guard declaration.hasInstance else {
      parameters.append(SILParameter(role: .selfValue, type: SILType(.metatype(type))))
      return
    }
    var parameter = SILParameter(role: .selfValue, type: SILType(type))
    switch declaration.kind {
    case .`init`, .deallocatingDeinit: parameter.convention = .owned
    default: break
    }
    selfIsUndecided = declaration.contextKind != .classType
    parameters.append(parameter)
  }
}

extension Parameter {
  /// What the body sees: an array of a variadic parameter's values.
  package var valueType: TypeSyntax {
    guard isVariadic else { return type }
    let array = NominalName(module: "Swift", steps: [.init(name: "Array", kind: .structure)])
    return .nominal(array, kind: .structure, arguments: [type])
  }
}

extension Declaration {
  /// Initialisers and setters own their arguments, a subscript's indices too.
  fileprivate var ownsArguments: Bool {
    switch kind {
    case .allocatingInit, .`init`, .setter: true
    default: false
    }
  }

  /// `self` is a value, not a metatype.
  package var hasInstance: Bool { kind != .allocatingInit && !isStatic }
}
