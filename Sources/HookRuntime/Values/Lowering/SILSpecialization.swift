// SILSpecialization — what one specialisation step makes of a signature.
//
// Source of the rules: FunctionSignatureOpts, ClosureSpecializer, ConstantCapturePropagation and Generics.cpp of the
// optimiser; checked against `swiftc -O -emit-irgen`, which has every clone before LLVM changes it.
internal import SwiftMangling

extension SILSignature {
  /// Steps are applied in the order the optimiser took them: from the declaration outwards.
  mutating func apply(_ step: Specialization, of declaration: Declaration, lowering: SILTypeLowering) {
    switch step {
    case .signature(let changes, let result, _): apply(changes, result)
    case .generic(let step): apply(step, of: declaration, lowering)
    case .merged: breakOff(at: 0, "merged body: it takes extra arguments")
    }
  }

  private mutating func apply(_ changes: [SpecializedValue], _ result: SpecializedValue) {
    if result != .unchanged { changeResult(result) }
    guard changes.count == parameters.count else {
      isMethod = false
      let problem = "its name speaks of \(changes.count) values where the declaration has \(parameters.count)"
      // One of them may be the address of a result.
      if !substitutions.isEmpty { loseResults(problem) }
      return breakOff(at: 0, problem)
    }
    var kept: [SILParameter] = []
    var captures: [SILParameter] = []
    let old = (parameters, broken)
    broken = nil
    for (index, (var parameter, change)) in zip(old.0, changes).enumerated() {
      if let (reason, from) = old.1, from == index { breakOff(at: kept.count, reason) }
      if parameter.role == .selfValue, change != .unchanged {
        isMethod = false
        // Only a value is owned or taken apart, never the caller's variable.
        if change != .dead { selfIsUndecided = false }
      }
      switch change {
      case .unchanged: kept.append(parameter)
      case .ownedToGuaranteed:
        parameter.convention = .borrowed
        kept.append(parameter)
      case .guaranteedToOwned:
        parameter.convention = .owned
        kept.append(parameter)
      case .dead, .constant, .sameClosureAsParameter: gone.append(parameter)
      case .closure(_, let types):
        gone.append(parameter)
        captures += types.map { SILParameter(role: .hidden, type: SILType($0)) }
      default:
        breakOff(at: kept.count, "taken apart by a specialisation")
        kept.append(parameter)
      }
    }
    if let (reason, from) = old.1, from >= old.0.count { breakOff(at: kept.count, reason) }
    // What closures captured comes last, and their clone is no method.
    if !captures.isEmpty || changes.contains(where: \.isClosureOrConstant) { isMethod = false }
    parameters = kept + captures
  }

  private mutating func changeResult(_ change: SpecializedValue) {
    for index in results.indices where !results[index].isIndirect {
      // Without a reference of its own: the caller holds the value otherwise. Any other change means it is not returned.
      if change == .ownedToGuaranteed { results[index].isOwned = false } else { results[index].isGone = true }
    }
  }
}

extension SpecializedValue {
  fileprivate var isClosureOrConstant: Bool {
    switch self {
    case .closure, .constant, .sameClosureAsParameter: true
    default: false
    }
  }
}
