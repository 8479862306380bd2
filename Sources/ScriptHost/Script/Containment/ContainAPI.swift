// ContainAPI — method "…":contain { value = 0 }: what is answered when a trap below a function is contained.
internal import CLuaShim
internal import HookRuntime
private import Journal
internal import LuaBridge

/// What a script says of a containment.
struct ContainWishes {
  var options: HookOptions
  /// Traps in a minute after which nothing is contained any more; 0: as many as there are.
  var limit = ContainLayer.usualLimit
  /// The value answered, kept; 0: none was given.
  fileprivate var value: SHLRef = 0
  fileprivate var throwsError = false
  fileprivate var answers = false

  init(priority: Int) { options = HookOptions(priority: priority, waitsWhenBusy: true) }
}

enum ContainAPI {
  private struct Way {
    let key: String
    let chunk: String
  }
  /// Each makes the function that answers out of the table of the script. It goes on with what the table had when it was made.
  private static let value = Way(key: "value", chunk: "local given = ... local value = given.value return function() return value end")
  private static let error = Way(
    key: "throw", chunk: "local given = ... local value = given.throw return function(call) return call:throw(value) end")
  private static let answer = Way(key: "answer", chunk: "local given = ... return given.answer")

  /// Reads the table at `index`; answers what is wrong with it.
  static func read(_ index: Int, _ wishes: inout ContainWishes, _ callback: LuaCallback) -> String? {
    let table = callback[index]
    if table.tag == SHL_FUNCTION { return nil }
    guard table.tag == SHL_TABLE else {
      return "'contain' takes { value = v }, { throw = e } or a function that answers, found \(ValueBridge.spelled(table))"
    }
    var problem: String?
    var found = wishes
    callback.forEach(in: table) { key, value in
      switch key.text {
      case "value"?:
        found.value = shl_keep(callback.scope, value)
        if found.value == 0 { problem = "out of memory" }
      case "throw"?: found.throwsError = true
      case "answer"?:
        found.answers = true
        if value.tag != SHL_FUNCTION { problem = "'answer' is a function, found \(ValueBridge.spelled(value))" }
      case "limit"?:
        guard value.tag == SHL_INT, value.i >= 0 else {
          problem = "'limit' is how many traps in a minute are contained, 0 for all, found \(ValueBridge.spelled(value))"
          break
        }
        found.limit = Int(clamping: value.i)
      case let name?: problem = found.options.set(name, value, besides: ["value", "throw", "answer", "limit"])
      case nil: problem = "'contain' takes named fields, such as { value = 0 }"
      }
      return problem == nil
    }
    if problem == nil, !found.options.onFailure.isOriginal || found.options.throwsWhenBusy {
      problem = "'contain' says what a trap answers: on_failure and on_busy = \"throw\" are for 'around'"
    }
    wishes = found
    let given = (found.value != 0 ? 1 : 0) + (found.throwsError ? 1 : 0) + (found.answers ? 1 : 0)
    return problem ?? (given > 1 ? "'contain' takes one of value, throw and answer" : nil)
  }

  /// The function that answers; nil with the reason where it cannot be made.
  static func handler(
    _ index: Int, _ wishes: ContainWishes, _ patch: Environment, _ callback: LuaCallback
  ) -> Result<HandlerFunction, StatementProblem> {
    if callback[index].tag == SHL_FUNCTION {
      return HandlerFunction(callback, argument: index, of: patch).map(Result.success) ?? .failure(StatementProblem(text: "out of memory"))
    }
    let way = wishes.throwsError ? error : wishes.answers ? answer : value
    var chunk: SHLRef = 0
    // Compiling enters the state anew.
    let unlocked = shl_unlock_all(callback.scope)
    let compiled = way.chunk.withCString { shl_compile(patch.state, "contain", $0, way.chunk.utf8.count, nil, &chunk, nil) }
    guard shl_relock(callback.scope, unlocked) == SHL_OK, compiled == SHL_OK else {
      return .failure(StatementProblem(text: "'contain' cannot make its answer: \(String(cString: shl_status_text(compiled)))"))
    }
    defer { shl_forget(patch.state, chunk) }
    var argument = callback[index]
    var function = SHLValue()
    var count: Int32 = 0
    var info = SHLFunctionInfo()
    guard shl_call(callback.scope, shl_ref_value(chunk), &argument, 1, &function, 1, &count, nil) == SHL_OK, count == 1,
      shl_function_info(callback.scope, function, &info)
    else { return .failure(StatementProblem(text: "'contain' cannot make its answer")) }
    let ref = shl_keep(callback.scope, function)
    guard ref != 0 else { return .failure(StatementProblem(text: "out of memory")) }
    // Where the script says it.
    if !wishes.answers { info.line = Int32(clamping: callback.caller.line) }
    return .success(HandlerFunction(ref, info, of: patch))
  }

  /// Why a function cannot be contained, or not with this answer.
  static func refusal(
    _ family: Family, _ image: ImageCatalog, _ wishes: ContainWishes, isFunction: Bool, _ patch: Environment, _ callback: LuaCallback
  )
    -> String?
  {
    if let reason = image.whyNotContained(family) { return "it \(reason)" }
    guard !isFunction, !wishes.answers, let body = family.bodies.first else { return nil }
    let plan = image.plan(of: body, in: family)
    if wishes.throwsError { return plan.mayThrow || plan.throwsTyped ? nil : "it cannot throw; give a value" }
    guard !plan.result.type.isVoid, let info = plan.result.info else { return nil }
    let bridge = ValueBridge(classes: patch.classes, serial: 0, scope: callback.scope)
    let made = OwnedValue(uninitialized: info)
    do throws(BridgeError) {
      try bridge.store(wishes.value == 0 ? shl_nil() : shl_kept(callback.scope, wishes.value), as: info, at: made.memory)
      made.destroy()
      return nil
    } catch {
      made.forget()
      return "its result: \(error.description)"
    }
  }

  /// What of a selector can be contained: of a pattern those that can, of a name all or an error.
  static func containable(
    _ selector: ResolvedSelector, _ wishes: ContainWishes, isFunction: Bool, _ patch: Environment, _ callback: LuaCallback
  ) throws(StatementProblem) -> ResolvedSelector {
    if selector.waits || wishes.options.waits {
      throw StatementProblem(text: "'contain' does not wait: whether a function may be contained is asked when it is there")
    }
    var kept = selector
    (kept.images, kept.families) = ([], [])
    for (image, family) in zip(selector.images, selector.families) {
      if let reason = refusal(family, image, wishes, isFunction: isFunction, patch, callback) {
        guard selector.isGlob else { throw StatementProblem(text: "cannot contain '\(family.selector)': \(reason)") }
        patch.log.note("not contained", "\(patch.fileName): '\(family.selector)' is not contained: \(reason)")
        continue
      }
      kept.images.append(image)
      kept.families.append(family)
    }
    return kept
  }

  static func forget(_ wishes: ContainWishes, _ patch: Environment) { if wishes.value != 0 { shl_forget(patch.state, wishes.value) } }
}
