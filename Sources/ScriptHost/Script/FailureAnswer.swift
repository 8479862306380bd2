// FailureAnswer — what a call answers when its handler failed or could not run: `on_failure = "throw"`, `on_failure = { value = v }`.
//
// Both are made when the hook is installed, so that no script has to run for them.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

/// As the script says it; a value is kept until the hook is installed.
enum FailureWish {
  /// The original runs in the handler's place, or its result stands.
  case original
  case error
  case value(SHLRef)

  var isOriginal: Bool { if case .original = self { true } else { false } }
}

/// Of one function. Never changed after it is made; the value in it is copied for each call.
enum FailureAnswer {
  case original
  case error
  case value(OwnedValue)

  var isOriginal: Bool { if case .original = self { true } else { false } }

  /// `on_busy = "throw"`.
  static func checkBusyThrow(_ family: Family, _ image: ImageCatalog) throws(StatementProblem) {
    func problem(_ reason: String) -> StatementProblem {
      StatementProblem(text: "on_busy = \"throw\" of '\(family.selector)': \(reason); \"wait\" and \"original\" can be had")
    }
    guard let body = family.bodies.first else { throw problem("nothing is left of the function") }
    let plan = image.plan(of: body, in: family)
    if plan.isAsync { throw problem("it is async, and its errors are not made here") }
    if plan.throwsTyped { throw problem("it throws errors of a type of its own, which a text cannot make") }
    if !plan.mayThrow { throw problem("it cannot throw") }
  }

  /// - Throws: why this function cannot answer so.
  init(_ wish: FailureWish, _ family: Family, _ image: ImageCatalog, _ patch: Environment, _ callback: LuaCallback) throws(StatementProblem) {
    func problem(_ reason: String) -> StatementProblem { StatementProblem(text: "on_failure of '\(family.selector)': \(reason)") }
    if wish.isOriginal {
      self = .original
      return
    }
    guard let body = family.bodies.first else { throw problem("nothing is left of the function") }
    let plan = image.plan(of: body, in: family)
    if plan.isAsync { throw problem("it is async; catch errors in the handler with pcall") }
    switch wish {
    case .original: self = .original
    case .error:
      guard plan.mayThrow, !plan.throwsTyped else {
        throw problem(plan.throwsTyped ? "it throws errors of a type of its own, which a text cannot make" : "it cannot throw; give { value = v }")
      }
      self = .error
    case .value(let kept):
      if plan.result.type.isVoid { throw problem("it has no result; leave on_failure out") }
      guard let info = plan.result.info, plan.result.isReplaceable else { throw problem("the type of its result is not known beforehand") }
      let made = OwnedValue(uninitialized: info)
      let bridge = ValueBridge(classes: patch.classes, serial: 0, scope: callback.scope)
      do throws(BridgeError) { try bridge.store(shl_kept(callback.scope, kept), as: info, at: made.memory) } catch {
        made.forget()
        throw problem("its result: \(error.description)")
      }
      self = .value(made)
    }
  }

  /// What happens in the handler's place, for messages; nil: what always does.
  var sentence: String? {
    switch self {
    case .original: nil
    case .error: "the call throws"
    case .value: "the call answers its on_failure value"
    }
  }

  func end() { if case .value(let made) = self { made.destroy() } }
}

/// The answers for the functions of one statement, by the keys of their families.
final class FailureAnswers: @unchecked Sendable {
  // Set in init, never written again; the values are copied only.
  private let byKey: [String: FailureAnswer]

  init(_ byKey: [String: FailureAnswer] = [:]) { self.byKey = byKey }
  deinit { for answer in byKey.values { answer.end() } }

  subscript(key: String) -> FailureAnswer { byKey[key] ?? .original }
}

extension LuaHook {
  /// Answers in the place of a handler that failed; nil: the original does.
  /// - Parameter text: what went wrong and where, for the error that is thrown.
  func answer(_ way: FailureAnswer, _ script: UnsafeMutablePointer<ScriptCall>, _ text: String) -> HKTOutcome? {
    if case .original = way { return nil }
    guard position == .around, !script.pointee.didTrap else { return nil }
    CallValues.abandon(script)
    switch way {
    case .original: return nil
    case .error:
      let box = ErrorBox(ScriptError(text)).word
      defer { ProgramCall.release(box) }
      guard CallValues.whyErrorIsLost(script) == nil else { return nil }
      do throws(BridgeError) {
        try CallValues.finish(throwing: box, script)
        return HKT_HANDLED
      } catch { return nil }
    case .value(let value):
      script.pointee.changes.stageResult(value.copy())
      guard CallValues.whyResultIsLost(script) == nil else { return nil }
      do throws(HandlerProblem) {
        try CallValues.finish(script, returned: true)
        return HKT_HANDLED
      } catch { return nil }
    }
  }
}
