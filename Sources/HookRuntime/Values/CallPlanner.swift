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
  /// - Parameters:
  ///   - conflict: why calls that enter the body may carry other values.
  ///   - evidence: what the body's code shows where its name is silent; without it private functions are opaque, and all
  ///     others are believed to be passed even what they do not read.
  package func plan(_ declaration: Declaration, sharing conflict: String? = nil, evidence: (any BodyEvidence)? = nil) -> CallPlan {
    let isEnterOnly = declaration.isCoroutine
    if let reason = conflict ?? Self.distrust(declaration, evidence: evidence) {
      return .opaque(declaration, reason: reason, isEnterOnly: isEnterOnly)
    }
    let lowering = SILTypeLowering(types: types)
    var signature = SILSignature(declaration, lowering: lowering)
    for step in declaration.specialization { signature.apply(step, of: declaration, lowering: lowering) }
    let plan = CallAssembly(declaration, signature, lowering, evidence).plan(isEnterOnly: isEnterOnly)
    return evidence.map { PlanCheck(plan, declaration, $0).checked() } ?? plan
  }

  /// Why the body's convention may differ from its mangled type, whatever the type.
  static func distrust(_ declaration: Declaration, evidence: (any BodyEvidence)? = nil) -> String? {
    if declaration.isMerged { return "merged body: it takes extra arguments" }
    switch declaration.kind {
    case .function, .allocatingInit, .`init`, .`deinit`, .deallocatingDeinit, .getter, .setter, .read, .modify, .read2, .modify2,
      .willSet, .didSet, .explicitClosure, .implicitClosure:
      break
    default: return "compiler-made function"
    }
    if declaration.kind.isClosure { return "closure: the optimiser may have changed its convention" }
    if declaration.isEffectivelyPrivate, evidence == nil { return "private: the optimiser may have changed its convention" }
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
