/// The mangling of a type without substitutions, as `swift_getTypeByMangledNameInContext` accepts it.
///
/// Ask for a type inside a generic declaration only after its parameters were replaced.
/// - Returns: nil when the type holds generic parameters, names something inside a function or a
///   constrained extension, has parts the model does not know, or is one the runtime cannot make here.
package func mangled(_ type: TypeSyntax) -> [UInt8]? {
  var mangler = TypeMangler()
  mangler.append(type)
  return mangler.isComplete ? mangler.bytes : nil
}

private struct TypeMangler {
  var bytes: [UInt8] = []
  /// Turns false at the first part that cannot be spelled.
  var isComplete = true

  private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

  mutating func append(_ type: TypeSyntax) {
    guard isComplete else { return }
    switch type {
    case .nominal(let name, _, let arguments): appendNominal(name, arguments)
    case .tuple(let elements): appendTuple(elements)
    case .function(let function): appendFunction(function)
    case .existential(let protocols, let superclass, let isClassBound):
      appendProtocols(protocols.filter { !TypeMangler.isMarker($0) })
      if let superclass {
        append(superclass)
        append("Xc")
      } else {
        append(isClassBound ? "Xl" : "p")
      }
    case .metatype(let instance):
      append(instance)
      append("m")
    case .existentialMetatype(let instance):
      append(instance)
      append("Xp")
    case .builtin(let name): appendBuiltin(name)
    case .weak(let inner): wrap(inner, "Xw")
    case .unowned(let inner): wrap(inner, "Xo")
    case .unmanaged(let inner): wrap(inner, "Xu")
    case .pack(let elements):
      appendList(elements.count) { $0.append(elements[$1]) }
      append("QP")
    case .integer(let value): append("$" + (value < 0 ? "n" : "") + index(Int(value.magnitude)))
    case .constrainedExistential(let base, let requirements): appendConstrained(base, requirements)
    case .genericParameter, .dependentMember, .dynamicSelf, .opaqueResult, .packExpansion, .known, .constrainedSelf, .unknown:
      isComplete = false
    }
  }

  /// The base, each requirement `Self.Name == Type` with `_` behind the first, and `XP`.
  private mutating func appendConstrained(_ base: TypeSyntax, _ requirements: [GenericRequirement]) {
    append(base)
    for (position, requirement) in requirements.enumerated() {
      guard case .sameType(let type) = requirement.kind,
        case .dependentMember(.constrainedSelf, let name, let owner?) = requirement.subject
      else { return isComplete = false }
      append(type)
      appendIdentifier(name)
      appendPath(owner, count: owner.steps.count)
      append("Rts")
      if position == 0 { append("_") }
    }
    append("XP")
  }

  private mutating func wrap(_ inner: TypeSyntax, _ operation: String) {
    append(inner)
    append(operation)
  }

  private func index(_ value: Int) -> String { value == 0 ? "_" : "\(value - 1)_" }

  /// A list with `_` after its first element; `y` when it is empty.
  private mutating func appendList(_ count: Int, _ element: (inout TypeMangler, Int) -> Void) {
    if count == 0 { append("y") }
    for position in 0..<count {
      element(&self, position)
      if position == 0 { append("_") }
    }
  }

  // MARK: nominal types

  private mutating func appendNominal(_ name: NominalName, _ arguments: [TypeSyntax]) {
    appendPath(name, count: name.steps.count)
    guard !arguments.isEmpty else { return }
    guard name.steps.reduce(0, { $0 + $1.argumentCount }) == arguments.count else {
      isComplete = false
      return
    }
    // One list per step from the outermost generic one on; `_` stands between the lists.
    var used = 0
    append("y")
    for (position, step) in name.steps.enumerated() {
      if position > 0 { append("_") }
      for argument in arguments[used..<used + step.argumentCount] { append(argument) }
      used += step.argumentCount
    }
    append("G")
  }

  /// The module and the first `count` steps, each with the letter of its kind.
  private mutating func appendPath(_ name: NominalName, count: Int) {
    guard count > 0 else { return appendModule(name.module) }
    let step = name.steps[count - 1]
    if count == 1, name.module == "Swift", let letters = StandardType.letters(step.name) {
      return append("S" + letters)
    }
    appendContext(of: step, name, count: count)
    appendName(step)
    switch step.kind {
    case .structure: append("V")
    case .enumeration: append("O")
    case .classType: append("C")
    case .protocolType: append("P")
    case .other: isComplete = false
    }
  }

  private mutating func appendContext(of step: NominalName.Step, _ name: NominalName, count: Int) {
    if step.isInConstrainedExtension { isComplete = false }
    appendPath(name, count: count - 1)
    if let module = step.extensionModule {
      appendModule(module)
      append("E")
    }
  }

  private mutating func appendModule(_ module: String) {
    switch module {
    case "Swift": append("s")
    case NominalName.referenceModule, "Builtin": isComplete = false
    case "__C": append("So")
    case "__C_Synthesized": append("SC")
    default: appendIdentifier(module)
    }
  }

  private mutating func appendName(_ step: NominalName.Step) {
    appendIdentifier(step.name)
    if let discriminator = step.privateDiscriminator {
      // The address of a context in some process, not the name of a file.
      if discriminator.hasPrefix("$") { isComplete = false }
      appendIdentifier(discriminator)
      append("LL")
    }
  }

  private mutating func appendIdentifier(_ text: String) {
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
      guard !text.isEmpty else { return isComplete = false }
      append("\(text.utf8.count)" + text)
    } else {
      let encoded = Punycode.encode(text)
      let needsSeparator = encoded.first.map { Letter($0).isDigit || Letter($0) == "_" } ?? false
      append("00\(encoded.count)" + (needsSeparator ? "_" : ""))
      bytes.append(contentsOf: encoded)
    }
  }

  // MARK: other types

  private mutating func appendProtocols(_ protocols: [NominalName]) {
    appendList(protocols.count) { mangler, position in
      let name = protocols[position]
      guard let step = name.steps.last else { return mangler.isComplete = false }
      if name.steps.count == 1, name.module == "Swift", let letters = StandardType.letters(step.name) {
        return mangler.append("S" + letters)
      }
      // In a list a protocol stands without its kind letter.
      mangler.appendContext(of: step, name, count: name.steps.count)
      mangler.appendName(step)
    }
  }

  /// Marker protocols exist for the compiler only; to the runtime `any Sendable` is `Any`.
  private static func isMarker(_ name: NominalName) -> Bool {
    guard name.module == "Swift", name.steps.count == 1 else { return false }
    switch name.shortName {
    case "Sendable", "SendableMetatype", "Copyable", "Escapable", "BitwiseCopyable": return true
    default: return false
    }
  }

  private mutating func appendTuple(_ elements: [TupleElement]) {
    appendList(elements.count) { mangler, position in
      let element = elements[position]
      mangler.append(element.type)
      if let label = element.label { mangler.appendIdentifier(label) }
      if element.isVariadic { mangler.append("d") }
    }
    append("t")
  }

  private mutating func appendFunction(_ function: FunctionType) {
    if function.result == .tuple([]) { append("y") } else { append(function.result) }
    appendParameters(function.parameters)
    if function.isAsync { append("Ya") }
    if function.isSendable { append("Yb") }
    switch function.thrown {
    case .never: break
    case .any: append("K")
    case .typed(let error): wrap(error, "YK")
    }
    if function.isDifferentiable { isComplete = false }
    switch function.isolation {
    case .unspecified: break
    case .globalActor(let actor): wrap(actor, "Yc")
    case .erased: append("YA")
    case .caller: append("YC")
    }
    if function.hasSendingResult { append("YT") }
    switch function.convention {
    case .swift: append("c")
    case .noescape: append("XE")
    case .thin: append("Xf")
    case .c: append("XC")
    // Without Objective-C there is no metadata for blocks: the runtime crashes on an optional of one.
    case .block, .escapingBlock: isComplete = false
    case .escapingAutoclosure: append("XA")
    case .noescapeAutoclosure: append("XK")
    case .other: isComplete = false
    }
  }

  private mutating func appendParameters(_ parameters: [Parameter]) {
    if parameters.isEmpty { return append("y") }
    // One parameter stands alone, unless it would read as a list.
    if parameters.count == 1, !parameters[0].isVariadic {
      if case .tuple = parameters[0].type {} else { return appendParameter(parameters[0]) }
    }
    appendList(parameters.count) { $0.appendParameter(parameters[$1]) }
    append("t")
  }

  private mutating func appendParameter(_ parameter: Parameter) {
    append(parameter.type)
    if parameter.isInout { append("z") }
    switch parameter.ownership {
    case .default: break
    case .borrowed: append("h")
    case .owned: append("n")
    }
    if parameter.isIsolated { append("Yi") }
    if parameter.isSending { append("Yu") }
    if parameter.isVariadic { append("d") }
  }

  private mutating func appendBuiltin(_ name: String) {
    guard name.hasPrefix("Builtin.") else { return isComplete = false }
    var name = name.dropFirst("Builtin.".count)
    var vector = ""
    if name.hasPrefix("Vec"), let separator = name.firstIndex(of: "x") {
      vector = "Bv" + name[name.index(name.startIndex, offsetBy: 3)..<separator] + "_"
      name = name[name.index(after: separator)...]
    }
    switch name {
    case "ImplicitActor": append("BA")
    case "BridgeObject": append("Bb")
    case "UnsafeValueBuffer": append("BB")
    case "RawUnsafeContinuation": append("Bc")
    case "DefaultActorStorage": append("BD")
    case "NonDefaultDistributedActorStorage": append("Bd")
    case "Executor": append("Be")
    case "IntLiteral": append("BI")
    case "Job": append("Bj")
    case "PackIndex": append("BP")
    case "UnknownObject": append("BO")
    case "NativeObject": append("Bo")
    case "RawPointer": append("Bp")
    case "SILToken": append("Bt")
    case "Word": append("Bw")
    default:
      if name.hasPrefix("Int"), let size = Int(name.dropFirst(3)) {
        append("Bi\(size)_")
      } else if name.hasPrefix("FPIEEE"), let size = Int(name.dropFirst(6)) {
        append("Bf\(size)_")
      } else {
        isComplete = false
      }
    }
    append(vector)
  }
}
