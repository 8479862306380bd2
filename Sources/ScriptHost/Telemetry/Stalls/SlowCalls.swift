// SlowCalls — `slow { on = "Shop.Store.*(**)", budget = "50ms" }`: calls that took longer than they may, as records beside stalls. No Lua runs.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import Journal
internal import LuaBridge
private import Synchronization

/// One function with a budget. Released when no call can be in it any more.
final class SlowLayer: @unchecked Sendable {
  // Immutable.
  private let name: RecordName
  private let rule: CompiledRule
  private let budget: UInt64
  private let log: HostLog

  private init(_ rule: CompiledRule, _ budget: UInt64, _ family: Family, log: HostLog) {
    name = RecordName("slow: \(family.selector)")
    self.rule = rule
    self.budget = budget
    self.log = log
  }

  static func spec(_ budget: UInt64, _ rule: CompiledRule, _ family: Family, _ patch: Environment) -> LayerSpec {
    let layer = SlowLayer(rule, budget, family, log: patch.log)
    return LayerSpec(slowLayer, keeping: layer, phases: UInt32(HKT_ON_EXIT | HKT_TIMED), owner: patch.id)
  }

  fileprivate func end(_ view: CallView) {
    if rule.passesBy(view) { return }
    let thread = ScriptThread.of(view.call.pointee.thread)
    let duration = view.durationNanoseconds
    guard duration >= budget else {
      rule.gate.byCondition.add(1, ordering: .relaxed)
      return
    }
    guard rule.admits(view, atExit: true) else { return }
    let names = SlowFieldNames.shared
    var writer = FieldWriter(name.borrowed, into: thread.pointee.recordBuffer)
    writer.add(names.thread, UInt64(view.call.pointee.thread.pointee.tid))
    writer.add(names.start, hkt_now_ns() &- duration)
    writer.add(names.duration, duration)
    writer.add(names.over, true)
    writer.add(names.budget, budget)
    if rule.fill(view, atExit: true, &writer) { log.append(.stall, &writer) }
  }
}

private struct SlowFieldNames: Sendable {
  let thread = FieldName.Borrowed("thread"), start = FieldName.Borrowed("start_ns"), duration = FieldName.Borrowed("duration_ns"),
    over = FieldName.Borrowed("over"), budget = FieldName.Borrowed("budget_ns")
  static let shared = SlowFieldNames()
}

private let slowLayer: HKTLayerFunction = { call, context, _ in
  guard let call, let context else { return HKT_HANDLED }
  // The context is the layer that was retained for the hook.
  Unmanaged<SlowLayer>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.end(CallView(call)) }
  return HKT_HANDLED
}

enum SlowAPI {
  static let functions: [(String, SHLFunction)] = [("slow", slow)]
  private static let fields = ["on", "budget", "fields", "where", "rate", "once_per", "pii", "wait", "optional"]

  private static let slow: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      if let refusal = patch.refusal("a rule", "slow") { return callback.fail(refusal) }
      do throws(RuleProblem) {
        var budget: UInt64?
        var definition = try RuleReader.read(verb: "slow", name: "", callback[0], callback, fields: fields) { _, value in
          budget = value.text.flatMap(RuleUnits.duration)
          return budget ?? 0 > 0 ? nil : "'budget' is a time, such as \"50ms\""
        }
        definition.name = definition.selector
        definition.atExit = true
        guard let budget else { throw RuleProblem("\(definition.title) needs 'budget', a time such as \"50ms\"") }
        return RuleAPI.answer(
          try RuleInstaller.install(definition, patch) { rule, family throws(RuleProblem) in SlowLayer.spec(budget, rule, family, patch) }, patch,
          callback)
      } catch { return callback.fail(error.text) }
    }
  }
}
