// RuleAPI — track and its kin in Lua, and what the handles of rules do.
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum RuleAPI {
  static let handles = HandleClass("rule", tostring: toString)

  /// Global functions.
  static let functions: [(String, SHLFunction)] = [
    ("track", { named("track", $0, $1) }), ("metric", { named("metric", $0, $1) }), ("span", span),
    ("startup", StartupAPI.startup),
  ]

  static let members = NamedFunctions([("remove", remove), ("enable", enable), ("disable", disable), ("info", info)])

  // MARK: Verbs

  /// `track "name" { … }`: the first call answers a function that takes the rule.
  private static func named(_ verb: String, _ context: UnsafeMutableRawPointer?, _ callback: UnsafeMutablePointer<SHLCallback>?) -> Int32 {
    withPatch(context, callback) { patch, callback in
      // A rule beside the name would never be read.
      guard callback.count == 1, let name = callback.text(0), !name.isEmpty else {
        let what = verb == "track" ? "the event's name" : "a name"
        return callback.fail("'\(verb)' takes \(what) and a rule: \(verb) \"name\" { on = \"…\" }")
      }
      return TwoPartStatement.answer("\(verb) \"\(name)\"", patch, callback) { install(verb, name, $1[0], $0, $1) }
    }
  }

  private static func install(_ verb: String, _ name: String, _ table: SHLValue, _ patch: Environment, _ callback: LuaCallback) -> Int32 {
    if let refusal = patch.refusal("a rule", name) { return callback.fail(refusal) }
    do throws(RuleProblem) {
      if verb == "metric" { return answer(try MetricAPI.install(name, table, patch, callback), patch, callback) }
      let definition = try RuleReader.read(verb: verb, name: name, table, callback)
      return answer(
        try RuleInstaller.install(definition, patch) { rule, _ throws(RuleProblem) in TrackLayer.spec(definition, rule, patch) }, patch,
        callback)
    } catch { return callback.fail(error.text) }
  }

  /// `span { on = "…", name = "…" }`.
  private static let span: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      if let refusal = patch.refusal("a rule", "span") { return callback.fail(refusal) }
      do throws(RuleProblem) {
        let (definition, span) = try SpanInstaller.read(callback[0], callback)
        return answer(try SpanInstaller.install(definition, span, patch), patch, callback)
      } catch { return callback.fail(error.text) }
    }
  }

  /// A handle of the rule.
  static func answer(_ rule: InstalledRule, _ patch: Environment, _ callback: LuaCallback) -> Int32 {
    callback.done(shl_handle(patch.classes.rule, patch.number(rule), 0, 0))
  }

  // MARK: Handles

  /// Nil when its installation is over.
  private static func rule(_ patch: Environment, _ callback: LuaCallback) -> InstalledRule? { patch.handle(callback[0].h.a) }

  static let toString: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let rule = rule(patch, callback) else { return callback.done("rule that is over") }
      return callback.done("\(rule.definition.title) (\(rule.tokens.count) hooked\(rule.isWaiting ? ", waiting" : ""))")
    }
  }

  /// `r:remove()`: true when it was in the program.
  private static let remove: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in callback.done(shl_bool(rule(patch, callback)?.remove() ?? false)) }
  }

  /// `r:enable()`, `r:disable()`: true when it is in the program.
  private static let enable: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in set(true, patch, callback) }
  }
  private static let disable: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in set(false, patch, callback) }
  }
  /// Where the whole patch is off, or not yet on, it is noted for later.
  private static func set(_ isEnabled: Bool, _ patch: Environment, _ callback: LuaCallback) -> Int32 {
    guard let rule = rule(patch, callback) else { return callback.done(shl_bool(false)) }
    if patch.isLive { return callback.done(shl_bool(rule.setEnabled(isEnabled))) }
    return callback.done(shl_bool(patch.installation.setEnabled(isEnabled, rule.tokens)))
  }

  /// `r:info()`: a table of what became of its calls.
  private static let info: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let rule = rule(patch, callback) else { return callback.done(shl_nil()) }
      let figures = rule.figures
      let table = shl_table_new(callback.scope, 0, 12)
      func set(_ name: String, _ value: SHLValue) {
        _ = name.withCString { shl_table_set_field(callback.scope, table, $0, name.utf8.count, value) }
      }
      func text(_ name: String, _ text: String) {
        var copy = text
        copy.withUTF8 { bytes in set(name, shl_string(bytes.baseAddress, bytes.count)) }
      }
      text("verb", rule.definition.verb)
      text("name", rule.definition.name)
      text("on", rule.definition.selector)
      set("hooks", shl_int(Int64(rule.tokens.count)))
      set("waiting", shl_bool(rule.isWaiting))
      for (name, count) in [
        ("calls", figures.calls), ("recorded", figures.recorded), ("left_out_where", figures.byCondition),
        ("left_out_sample", figures.bySample), ("left_out_rate", figures.byRate), ("left_out_repeat", figures.asRepeat),
      ] { set(name, shl_int(Int64(clamping: count))) }
      if let cost = figures.costNanoseconds { set("cost_ns", shl_number(cost)) }
      return callback.done(table)
    }
  }
}
