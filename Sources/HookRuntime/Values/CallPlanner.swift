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
  ///   - evidence: what the body's code shows; without it private functions are opaque, and all others are believed to be passed
  ///     even what they do not read.
  package func plan(_ declaration: Declaration, sharing conflict: String? = nil, evidence: (any BodyEvidence)? = nil) -> CallPlan {
    // Callers of another function, or those of a private one, may not look for an error.
    let thrown = evidence?.error == .reported && conflict == nil ? declaration.functionType.thrown : .never
    if conflict == nil, declaration.kind.isClosure, declaration.functionType.hasNothingToDecode {
      return .ofNothing(declaration, thrown: thrown)
    }
    if let reason = conflict ?? Self.distrust(declaration, evidence: evidence) {
      return .opaque(declaration, reason: reason, thrown: thrown)
    }
    let planned = planned(declaration, evidence)
    // Metadata that nobody reads, callers that know the body need not pass.
    let sources = planned.sources.filter { source in evidence?.arePassed(source.value.place) ?? true }
    if sources.isEmpty || planned.plan.opaqueBecause != nil { return planned.plan }
    return planned.plan.changed(generics: GenericCall(sources, fixed: planned.environment?.fixed ?? [:], replan: planned.replan))
  }

  /// The plan of a generic declaration's body, for calls made here; nil for one that is not generic.
  /// - Throws: why its generic signature is not known for certain.
  func generic(_ declaration: Declaration, evidence: (any BodyEvidence)?) throws(TypeProblem) -> GenericPlan? {
    guard declaration.mayBeGeneric else { return nil }
    let environment = try GenericEnvironment(declaration, types: types)
    if environment.isEmpty { return nil }
    // A call made here passes what the signature says, also what the body does not read.
    let planned = planned(declaration, evidence, isChecked: false)
    return GenericPlan(environment: environment, plan: planned.plan, hiddenAreKnown: planned.hiddenAreKnown, replan: planned.replan)
  }

  /// Whether the name of a specialisation counts its caller's actor among what the function is passed; nil where it does not tell.
  func countsCallersActor(_ specialised: Declaration) -> Bool? {
    guard case .signature(let values, _, _)? = specialised.specialization.first, !specialised.mayBeGeneric else { return nil }
    var declared = specialised
    declared.specialization = []
    let signature = SILSignature(declared, lowering: SILTypeLowering(types: types))
    guard signature.broken == nil else { return nil }
    let count = signature.parameters.count
    return values.count == count ? false : values.count == count + 1 ? true : nil
  }

  private struct Planned {
    var plan: CallPlan
    var environment: GenericEnvironment?
    var sources: [GenericParameterKey: GenericSource]
    var hiddenAreKnown: Bool
    /// With the types of one call. What its values are does not change where they are, or which of them are missing.
    var replan: @Sendable ([GenericParameterKey: TypeSyntax]) -> CallPlan
  }

  private func planned(
    _ declaration: Declaration, _ evidence: (any BodyEvidence)?, isChecked: Bool = true
  ) -> Planned {
    var lowering = SILTypeLowering(types: types)
    var problem: TypeProblem?
    if declaration.mayBeGeneric {
      do throws(TypeProblem) { lowering.environment = try GenericEnvironment(declaration, types: types) } catch { problem = error }
    }
    var declaration = declaration
    if let environment = lowering.environment { declaration.type = declaration.type?.mappingMembers { environment.naming($0) } }
    var signature = SILSignature(declaration, lowering: lowering)
    for step in declaration.specialization { signature.apply(step, of: declaration, lowering: lowering) }
    let assembly = CallAssembly(declaration, signature, lowering, evidence, genericProblem: problem)
    let made = assembly.plan()
    let checked = isChecked ? evidence.map { PlanCheck(made, declaration, $0, places: assembly.allPlaces).checked() } : nil
    let plan = Self.withoutEmptyMemory(checked ?? made, declaration)
    return Planned(
      plan: plan, environment: lowering.environment, sources: assembly.sources, hiddenAreKnown: assembly.hiddenAreKnown
    ) { [declaration, lowering, signature, assembly, plan, made] actual in
      var known = lowering
      known.actual = actual
      return CallAssembly(declaration, signature, known, placing: assembly).plan().located(like: plan, not: made)
    }
  }

  /// Functions of the standard library return lists whose elements their callers are still to make: nothing is there that could be read.
  private static func withoutEmptyMemory(_ plan: CallPlan, _ declaration: Declaration) -> CallPlan {
    guard declaration.module == "Swift",
      declaration.name == "_adoptStorage" || declaration.name.contains("ninitialized")
        || declaration.labels.contains(where: { $0?.contains("ninitialized") == true })
    else { return plan }
    var result = plan.result
    result.location = .unknown("its elements are not made yet")
    return plan.changed(result: result)
  }

  /// Why the body's convention may differ from its mangled type.
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

extension FunctionType {
  /// Neither arguments nor a result: what a closure captured is never decoded.
  fileprivate var hasNothingToDecode: Bool { parameters.isEmpty && result.isVoid }
}

extension Declaration {
  /// It, or a type around it, has generic parameters; whether types do, only their descriptors tell.
  fileprivate var mayBeGeneric: Bool { isGeneric || !genericParameterCounts.isEmpty || context != nil }

  /// Coroutine accessors of the newer form, whose callers bring a frame as large as a record says (`…Twc`): tables have that record's
  /// address, not the code's.
  package var hasCoroutineRecord: Bool { kind == .modify2 || kind == .read2 }

  /// `modify` and `read` yield in the middle: the entry returns who goes on, and what they yield.
  package var isCoroutine: Bool {
    switch kind {
    case .modify, .read, .modify2, .read2: true
    default: false
    }
  }
}
