// StartupAPI — `startup { first = "Shop.Router.handle(_:)", stable = "Shop.Server.ready()" }`.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum StartupAPI {
  /// The stages of the program's start are recorded; `first` is the call that ends it, or else the first span; `stable` the one after which
  /// the program is up, where it does not say so itself.
  static let startup: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      if let refusal = patch.refusal("a rule", "startup") { return callback.fail(refusal) }
      guard callback[0].tag == SHL_TABLE else { return callback.fail("startup takes a table: { first = \"…\" }, or {}") }
      var stages: [(name: String, selector: String, layer: HKTLayerFunction)] = []
      var problem: String?
      callback.forEach(in: callback[0]) { key, value in
        switch (key.text, value.text) {
        case ("first", let text?): stages.append(("first", text, firstLayer))
        case ("stable", let text?): stages.append(("stable", text, stableLayer))
        default: problem = "startup has two fields, first = \"…\" and stable = \"…\", both selectors"
        }
        return problem == nil
      }
      if let problem { return callback.fail(problem) }
      StartupStages.want(patch.log)
      guard !stages.isEmpty else { return callback.done() }
      do throws(RuleProblem) {
        var rules: [InstalledRule] = []
        for stage in stages {
          let definition = RuleDefinition(verb: "startup", name: stage.name, selector: stage.selector)
          do throws(RuleProblem) {
            rules.append(try RuleInstaller.install(definition, patch) { _, _ throws(RuleProblem) in spec(stage.layer, patch) })
          } catch {
            for rule in rules { _ = rule.remove() }
            throw error
          }
        }
        rules[0].add(parts: Array(rules.dropFirst()))
        return RuleAPI.answer(rules[0], patch, callback)
      } catch { return callback.fail(error.text) }
    }
  }

  private static func spec(_ layer: HKTLayerFunction, _ patch: Environment) -> LayerSpec {
    LayerSpec(function: layer, context: nil, phases: UInt32(HKT_ON_ENTER), readsValues: false, owner: patch.id, isOnce: true)
  }
}

private let firstLayer: HKTLayerFunction = { _, _, _ in
  StartupStages.reachFirst()
  return HKT_HANDLED
}

private let stableLayer: HKTLayerFunction = { _, _, _ in
  StartupStages.reachStable()
  return HKT_HANDLED
}
