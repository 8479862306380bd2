// ScreenAPI — `screen`, `control` and `delegate` in Lua.
private import CCrash
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import Journal
internal import LuaBridge
internal import Synchronization

enum ScreenAPI {
  /// Global functions.
  static let functions: [(String, SHLFunction)] = [("screen", screen), ("control", control), ("delegate", delegate)]

  private typealias Make = (Environment, LuaCallback) throws(RuleProblem) -> InstalledRule

  private static func make(_ verb: String, _ context: UnsafeMutableRawPointer?, _ callback: UnsafeMutablePointer<SHLCallback>?, _ make: Make)
    -> Int32
  {
    withPatch(context, callback) { patch, callback in
      if let refusal = patch.refusal("a rule", verb) { return callback.fail(refusal) }
      do throws(RuleProblem) { return RuleAPI.answer(try make(patch, callback), patch, callback) } catch { return callback.fail(error.text) }
    }
  }

  // MARK: Screens

  private static let screen: SHLFunction = { context, callback in
    make("screen", context, callback) { patch, callback throws(RuleProblem) in
      var own = ScreenDefinition()
      var definition = try RuleReader.read(
        verb: "screen", name: "", callback[0], callback, fields: ScreenDefinition.fields, needsSelector: false) { own.set($0, $1, callback) }
      let screen = own
      definition.name = screen.base
      if let problem = screen.problem { throw RuleProblem("screen: \(problem)") }
      let board = ScreenBoard()
      func install(_ member: String, _ role: ScreenLayer.Role, _ definition: RuleDefinition, as known: InstalledRule? = nil)
        throws(RuleProblem) -> InstalledRule
      {
        try TreeRule.install(member, of: screen.base, definition, as: known, patch) { rule, family throws(RuleProblem) in
          try ScreenLayer.spec(role, screen, rule, family, board, patch)
        }
      }
      let loads = try loads(screen, definition, patch)
      func all(_ install: () throws(RuleProblem) -> InstalledRule) throws(RuleProblem) -> InstalledRule {
        do throws(RuleProblem) {
          let rule = try install()
          rule.add(parts: loads)
          return rule
        } catch {
          for load in loads { _ = load.remove() }
          throw error
        }
      }
      if !screen.during.isEmpty { return try all { () throws(RuleProblem) in try install(screen.during, .during, definition) } }
      // What is recorded is decided when a screen appears.
      var ending = RuleDefinition(verb: "screen", name: screen.base, selector: "")
      (ending.waits, ending.isOptional) = (definition.waits, definition.isOptional)
      let settled = (definition, ending)
      return try all { () throws(RuleProblem) in
        let rule = try install(screen.disappear, .disappear, settled.1)
        do throws(RuleProblem) { return try install(screen.appear, .appear, settled.0, as: rule) } catch {
          _ = rule.remove()
          throw error
        }
      }
    }
  }

  /// The spans of the methods that make screens ready: of a chain of overrides the outermost run.
  private static func loads(_ screen: ScreenDefinition, _ definition: RuleDefinition, _ patch: Environment) throws(RuleProblem) -> [InstalledRule] {
    var rules: [InstalledRule] = []
    for member in screen.load {
      var load = RuleDefinition(verb: "screen", name: "\(screen.base) (load)", selector: "")
      (load.waits, load.isOptional) = (definition.waits, definition.isOptional)
      let chain = UInt(bitPattern: UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 16))
      var span = SpanDefinition()
      span.name = "\(member.prefix { $0 != "(" }) {self.@type}"
      let settled = span
      do throws(RuleProblem) {
        rules.append(
          try TreeRule.install(member, of: screen.base, load, patch) { rule, family throws(RuleProblem) in
            try SpanLayer.spec(settled, rule, family, patch, chain: chain)
          })
      } catch {
        for rule in rules { _ = rule.remove() }
        throw error
      }
    }
    return rules
  }

  // MARK: Controls

  private static let control: SHLFunction = { context, callback in
    make("control", context, callback) { patch, callback throws(RuleProblem) in
      var own = ControlDefinition()
      var definition = try RuleReader.read(
        verb: "control", name: "", callback[0], callback, fields: ControlDefinition.fields, needsSelector: false) { own.set($0, $1) }
      let control = own
      definition.name = control.name
      // One action that two of its functions, or a rule of the same name, see within a tenth of a second is one.
      if definition.same.isEmpty, definition.dedupe == nil { definition.same = ["self", control.action] }
      definition.dedupe = definition.dedupe ?? RuleDefinition.sameAction
      if let problem = control.problem { throw RuleProblem("control: \(problem)") }
      let chain = UInt(bitPattern: UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 16))
      let settled = definition
      let taps = control.rage == nil && control.dead == nil ? nil : TapWatch(control, log: patch.log)
      return try TreeRule.install(control.send, of: control.base, settled, patch) { rule, family throws(RuleProblem) in
        try ControlLayer.spec(control, settled, rule, family, chain: chain, taps, patch)
      }
    }
  }

  // MARK: Delegates

  private static let delegateFields = [
    "on", "call", "event", "fields", "where", "sample", "rate", "dedupe", "same", "once_per", "pii", "optional",
  ]

  private static let delegate: SHLFunction = { context, callback in
    make("delegate", context, callback) { patch, callback throws(RuleProblem) in
      var call = "", event = ""
      var definition = try RuleReader.read(
        verb: "delegate", name: "", callback[0], callback, fields: delegateFields
      ) { field, value in
        guard let text = value.text, !text.isEmpty else { return "'\(field)' is a text" }
        if field == "call" { call = text } else { event = text }
        return nil
      }
      if call.isEmpty { throw RuleProblem("delegate needs 'call', a requirement of the delegate's protocol, such as \"list(_:didSelectRowAt:)\"") }
      definition.name = event.isEmpty ? call : event
      if let refusal = DelegateAPI.refusal(definition.selector, patch) { throw RuleProblem(refusal) }
      let unlocked = shl_unlock_all(callback.scope)
      let made: Result<InstalledRule, RuleProblem>
      do throws(RuleProblem) { made = .success(try watch(call, definition, patch)) } catch { made = .failure(error) }
      guard shl_relock(callback.scope, unlocked) == SHL_OK else { throw RuleProblem("the patch was ended") }
      return try made.get()
    }
  }

  /// Sees the calls by proxies, or by hooks where no proxy can stand.
  private static func watch(_ call: String, _ definition: RuleDefinition, _ patch: Environment) throws(RuleProblem) -> InstalledRule {
    let rule = InstalledRule(definition)
    HookCosts.note(rule, owner: patch.id)
    do {
      let family = try DelegateWatch.family(call, of: definition.selector)
      if let refusal = DelegateAPI.refusal(family, of: definition.selector, patch) { throw refusal }
      let compiled = try CompiledRule(
        definition, rule.gate, for: family,
        crashOwner: ccrash_add_owner(patch.id, "\(definition.selector) \(call)", definition.verb, patch.fileName, 0))
      if compiled.needsExit { throw RuleProblem("a delegate's calls are recorded before they go on; result, error and duration are not known then") }
      let layer = TrackLayer(definition, compiled, log: patch.log)
      let installation = patch.installation
      let watch = try DelegateWatch(definition.selector, requirements: [call]) { [rule] call in
        guard installation.isLive, rule.isOn.load(ordering: .relaxed), !hkt_is_passive(), let thread = call.call.pointee.thread else { return }
        let began = hkt_ticks()
        // Hooked functions that a path of the rule calls are the host's work.
        hkt_host_begin(thread)
        layer.record(CallView(call.call))
        hkt_host_end(thread)
        rule.seen?.add(hkt_ticks_since(began))
      }
      rule.add { watch.remove() }
      installation.add { _ = watch.remove() }
      patch.log.note("delegates", "\(patch.fileName): \(definition.title): \(watch.explanation)")
      return rule
    } catch {
      let text = (error as? RuleProblem)?.text ?? "\(error)"
      guard definition.isOptional else { throw RuleProblem("\(definition.title): \(text)") }
      patch.log.note("rule left out", "\(patch.fileName): \(definition.title): \(text)")
      return rule
    }
  }
}
