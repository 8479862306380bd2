// SILSpecialization+Generic — what knowing the generic arguments makes of a signature.
//
// Source of the rules: ReabstractionInfo in Generics.cpp of the optimiser.
internal import SwiftMangling

extension SILSignature {
  mutating func apply(_ step: GenericSpecialization, of declaration: Declaration, _ lowering: SILTypeLowering) {
    guard !step.isPartial, substitutions.isEmpty else { return giveUp("specialised in part") }
    guard let keys = lowering.parameters(of: declaration) else { return giveUp("its generic parameters are not known") }
    guard keys.count == step.types.count else {
      return giveUp("its name has \(step.types.count) generic arguments where the declaration has \(keys.count) parameters")
    }
    var table: [GenericParameterKey: TypeSyntax] = [:]
    for (key, type) in zip(keys, step.types) { table[key] = type }
    for (key, type) in lowering.fixedParameters(of: declaration) { table[key] = lowering.filled(type, table) }
    substitutions = table
    for index in parameters.indices { parameters[index].type.substitute(table, step, lowering) }
    for index in gone.indices { gone[index].type.substitute(table, step, lowering) }
    for index in results.indices { results[index].type.substitute(table, step, lowering) }
    if step.isInResilienceDomain, mayLoadMore(lowering) { return giveUp("made where its library loads what others pass by address") }
    drop(step)
    decideResults(step, of: declaration, lowering)
    learnSelf()
  }

  /// A struct or enum among its values goes by address elsewhere, perhaps only because its library may change it.
  private func mayLoadMore(_ lowering: SILTypeLowering) -> Bool {
    (parameters.map(\.type) + results.map(\.type)).contains { type in
      guard case .nominal = type.type, case .success(nil) = lowering.scalars(of: SILType(type.type)) else { return false }
      return true
    }
  }

  private mutating func giveUp(_ reason: String) {
    isMethod = false
    breakOff(at: 0, "generic specialisation: " + reason)
    // What went by address for being generic, or for its library's sake, may be returned directly.
    loseResults("generic specialisation: " + reason)
  }

  /// Where nothing is returned directly, the first result that was written through an address for being generic alone is,
  /// unless it is empty or has more parts than the optimiser takes apart.
  private mutating func decideResults(_ step: GenericSpecialization, of declaration: Declaration, _ lowering: SILTypeLowering) {
    guard step.isReabstracted, results.allSatisfy(\.isIndirect) else { return }
    for index in results.indices {
      let scalars = lowering.scalars(of: results[index].type)
      if case .failure(let problem) = scalars {
        loseResults(problem.description)
        return breakOff(at: 0, problem.description)
      }
      guard case .success(.some) = scalars, !results[index].type.type.isVoid,
        let info = lowering.info(results[index].type.type), info.partCount <= Self.mostParts
      else { continue }
      switch info.hasDeinit {
      case false?: break
      // A struct with a `deinit` stays where a caller of the generic function has it.
      case true?: continue
      case nil:
        let reason = "whether '\(info.name)' has a deinit is not known, which decides where a specialised function returns it"
        loseResults(reason)
        if declaration.functionType.isAsync { breakOff(at: 0, reason) }
        return
      }
      results[index].isIndirect = false
      results[index].type.isAbstract = false
      let path = results[index].path
      if let address = parameters.firstIndex(where: { $0.role == .result && $0.path == path }) { remove(address) }
      return
    }
  }

  /// Types with more parts are never exploded, nor returned directly for being known.
  private static let mostParts = 6

  private mutating func drop(_ step: GenericSpecialization) {
    var dropped = Set(step.droppedParameters)
    if step.dropsMetatypes {
      for (index, parameter) in parameters.enumerated() { if case .metatype = parameter.type.pattern { dropped.insert(index) } }
    }
    for index in dropped.sorted(by: >) where parameters.indices.contains(index) {
      if parameters[index].role == .selfValue { isMethod = false }
      gone.append(parameters[index])
      remove(index)
    }
  }

  private mutating func remove(_ index: Int) {
    parameters.remove(at: index)
    if let (reason, from) = broken, from > index { broken = (reason, from - 1) }
  }

  /// Members of protocols do not tell whether they are mutating either.
  private mutating func learnSelf() {
    guard let own = parameters.first(where: { $0.role == .selfValue }), own.type.pattern.isOpaquePattern else { return }
    selfIsUndecided = true
  }
}

extension SILType {
  fileprivate mutating func substitute(
    _ table: [GenericParameterKey: TypeSyntax], _ step: GenericSpecialization, _ lowering: SILTypeLowering
  ) {
    type = lowering.filled(type, table)
    guard isAbstract, step.isReabstracted else { return }
    // What can be loaded once it is known goes in registers. Of what is not known this is not known either.
    if case .success(.none) = lowering.scalars(of: self) { return }
    isAbstract = false
  }
}
