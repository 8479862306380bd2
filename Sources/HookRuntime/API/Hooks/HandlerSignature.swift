// HandlerSignature — what a closure takes and returns, held against the function it is to handle before anything is changed.
private import SwiftMangling

struct HandlerSignature: Sendable {
  let position: HookPosition
  /// Types of the arguments it takes: the first ones of the function.
  let arguments: [Any.Type]
  /// What it returns (`around`) or takes as the result (`after`); nil for nothing, and Void.
  let result: Any.Type?

  init(_ position: HookPosition, _ arguments: [Any.Type], result: Any.Type? = nil) {
    self.position = position
    self.arguments = arguments
    self.result = result == Void.self ? nil : result
  }

  /// It has to know where the values of a call are.
  var readsValues: Bool { !arguments.isEmpty || position != .before }

  /// Throws when a call could come that the handler cannot be given.
  /// - Parameters:
  ///   - plans: of all bodies that calls enter.
  ///   - waits: the closure is async.
  func check(_ family: Family, _ plans: [CallPlan], waits: Bool = false) throws(HookError) {
    let declared = family.declaration.functionType
    if position == .around, waits != declared.isAsync { throw .wrongEffect(selector: family.selector, isAsync: declared.isAsync) }
    if waits, let plan = plans.first(where: { !$0.stack.isKnown }) {
      throw .refused(
        selector: family.selector, code: "cannot-wait",
        reason: "not all of its arguments are known (\(plan.obstacle ?? "their size on the stack is not")); use 'before' and 'after'")
    }
    guard arguments.count <= declared.parameters.count else {
      throw .tooManyArguments(selector: family.selector, takes: declared.parameters.count, asked: arguments.count)
    }
    for plan in plans {
      for (index, type) in arguments.enumerated() { try check(plan, index, Metadata(type), family.selector) }
      try checkResult(plan, family)
    }
  }

  private func check(_ plan: CallPlan, _ index: Int, _ wanted: Metadata, _ selector: String) throws(HookError) {
    guard plan.arguments.indices.contains(index) else {
      throw .argumentNotReadable(selector: selector, position: index, label: nil, reason: plan.opaqueBecause ?? "it is not known")
    }
    let argument = plan.arguments[index]
    func notReadable(_ reason: String) -> HookError {
      .argumentNotReadable(selector: selector, position: index, label: argument.label, reason: reason)
    }
    let isGeneric = argument.info == nil && plan.learnsTypesFromCalls && argument.type.deepestParameter >= 0
    if let reason = ArgumentReason.unreadable(argument), !isGeneric { throw notReadable(reason) }
    if position == .after, argument.isConsumed {
      throw notReadable("the original consumes it, so that it is gone afterwards; take it in 'before' or 'around'")
    }
    guard let info = argument.info else {
      if wanted == Metadata(Any.self) { return }
      throw .wrongArgument(
        selector: selector, position: index, label: argument.label, expected: "Any, as its type is generic", found: wanted.name)
    }
    guard TypedValue.canRead(wanted, info) else {
      throw .wrongArgument(selector: selector, position: index, label: argument.label, expected: info.name, found: wanted.name)
    }
  }

  private func checkResult(_ plan: CallPlan, _ family: Family) throws(HookError) {
    guard var wanted = result.map(Metadata.init) else { return }
    let outcome = result as? any Outcome.Type
    if let outcome {
      wanted = Metadata(outcome.success)
    } else if position == .after, plan.mayThrow || plan.throwsTyped {
      throw .resultMayBeMissing(selector: family.selector, advice: "Result<\(wanted.name), any Error>")
    }
    let declared = plan.result
    if declared.type.isVoid {
      guard wanted == Metadata(Void.self) else { throw .wrongResult(selector: family.selector, expected: "nothing", found: wanted.name) }
      return
    }
    guard let info = declared.info, declared.location.isWhole else {
      let isGeneric = declared.info == nil && plan.learnsTypesFromCalls && declared.type.deepestParameter >= 0
      if isGeneric, wanted == Metadata(Any.self) { return }
      throw .resultNotReadable(selector: family.selector, reason: ArgumentReason.unreadable(declared))
    }
    let fits =
      position == .around ? TypedValue.canRead(wanted, info) && TypedValue.canStore(wanted, info) : TypedValue.canRead(wanted, info)
    guard fits else { throw .wrongResult(selector: family.selector, expected: info.name, found: wanted.name) }
    if position == .around, !declared.isReplaceable {
      throw .resultNotReplaceable(selector: family.selector, reason: ArgumentReason.unreplaceable(declared))
    }
  }
}

/// A type that is an Outcome.
@usableFromInline
struct OutcomeType: Sendable {
  let type: any Outcome.Type

  /// nil: it is none. To be asked once, for a conformance is looked up.
  @usableFromInline
  init?<T>(_ type: T.Type) {
    guard let type = type as? any Outcome.Type else { return nil }
    self.type = type
  }
}

/// `Result<Success, any Error>`: how a call ended, as an `after` handler may take it.
protocol Outcome: SendableMetatype {
  static var success: Any.Type { get }
  init(of call: inout HandlerCall) throws(HandlerError)
}

extension Result: Outcome where Failure == any Error {
  static var success: Any.Type { Success.self }
  init(of call: inout HandlerCall) throws(HandlerError) {
    if let error = call.error { self = .failure(error) } else { self = .success(try call.output()) }
  }
}
