// CallPlanner — from a declaration and the way its body was specialised to the places of its values.
//
// Three steps, each a noun of its own in Lowering: the declaration's SIL signature, what each specialisation made of it,
// and the registers and stack slots of what is left. Source of the rules: IRGen's GenCall.cpp (order of results,
// arguments, metadata) and the x86-64 swiftcc register lists; each rule is checked against `swiftc -emit-irgen`.
package import SwiftMangling

package struct CallPlanner {
  private let types: TypeResolver
  package init(types: TypeResolver = .shared) { self.types = types }

  /// The plan for the body that `declaration` (of a base or a clone) names.
  /// - Parameter conflict: why calls that enter the body may carry other values.
  /// - Parameter evidence: what the machine code says where the name is silent.
  package func plan(_ declaration: Declaration, sharing conflict: String? = nil, evidence: BodyEvidence = BodyEvidence()) -> CallPlan {
    let isEnterOnly = declaration.isCoroutine
    if let reason = conflict ?? Self.distrust(declaration, evidence) {
      return .opaque(declaration, reason: reason, isEnterOnly: isEnterOnly)
    }
    let lowering = SILTypeLowering(types: types)
    var signature = SILSignature(declaration, evidence: evidence, lowering: lowering)
    for step in declaration.specialization { signature.apply(step, lowering: lowering) }
    return CallAssembly(declaration, signature, lowering).plan(isEnterOnly: isEnterOnly)
  }

  /// Why the body's convention may differ from its mangled type.
  static func distrust(_ declaration: Declaration, _ evidence: BodyEvidence = BodyEvidence()) -> String? {
    if declaration.isMerged { return "merged body: it takes extra arguments" }
    switch declaration.kind {
    case .function, .allocatingInit, .`init`, .`deinit`, .deallocatingDeinit, .getter, .setter, .read, .modify, .read2, .modify2,
      .willSet, .didSet, .explicitClosure, .implicitClosure:
      break
    default: return "compiler-made function"
    }
    if evidence.isVerified == false {
      return "its code does not agree with its type" + (evidence.contradiction.map { ": \($0)" } ?? "")
    }
    if declaration.kind.isClosure { return "closure: the optimiser may have changed its convention" }
    if declaration.isEffectivelyPrivate, evidence.isVerified == nil { return "private: the optimiser may have changed its convention" }
    for step in declaration.specialization {
      if case .generic = step { return "generic specialisation" }
    }
    return nil
  }
}

extension Declaration {
  /// `modify` and `read` yield in the middle: what the entry returns is not their result.
  package var isCoroutine: Bool {
    switch kind {
    case .modify, .read, .modify2, .read2: true
    default: false
    }
  }
}
