// StartupAPI — `startup { first = "Shop.Router.handle(_:)" }`.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum StartupAPI {
  /// The stages of the program's start are recorded; `first` is the call that ends it, or else the first span.
  static let startup: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      if let refusal = patch.refusal("a rule", "startup") { return callback.fail(refusal) }
      guard callback[0].tag == SHL_TABLE else { return callback.fail("startup takes a table: { first = \"…\" }, or {}") }
      var selector: String?
      var problem: String?
      callback.forEach(in: callback[0]) { key, value in
        if key.text == "first", let text = value.text { selector = text } else { problem = "startup has one field, first = \"…\", a selector" }
        return problem == nil
      }
      if let problem { return callback.fail(problem) }
      StartupStages.want(patch.log)
      guard let selector else { return callback.done() }
      do throws(RuleProblem) {
        let definition = RuleDefinition(verb: "startup", name: "first", selector: selector)
        return RuleAPI.answer(try RuleInstaller.install(definition, patch) { _, _ throws(RuleProblem) in spec(patch) }, patch, callback)
      } catch { return callback.fail(error.text) }
    }
  }

  private static func spec(_ patch: Environment) -> LayerSpec {
    LayerSpec(function: firstLayer, context: nil, phases: UInt32(HKT_ON_ENTER), readsValues: false, owner: patch.id, isOnce: true)
  }
}

private let firstLayer: HKTLayerFunction = { _, _, _ in
  StartupStages.reachFirst()
  return HKT_HANDLED
}
