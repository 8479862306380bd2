// TrackLayer — `track`: an event as data. No Lua runs when it fires.
internal import CHookTrampoline
internal import HookRuntime
internal import Journal

/// One tracked function. Released when no call can be in it any more.
final class TrackLayer: @unchecked Sendable {
  // Immutable.
  private let name: FieldName.Lent
  private let rule: CompiledRule
  private let log: HostLog

  init(_ definition: RuleDefinition, _ rule: CompiledRule, log: HostLog) {
    name = FieldName(definition.name, masked: false).borrowedForEver()
    self.rule = rule
    self.log = log
  }

  deinit { name.free() }

  /// The layer for one function.
  static func spec(_ definition: RuleDefinition, _ rule: CompiledRule, _ patch: Environment) -> LayerSpec {
    let layer = TrackLayer(definition, rule, log: patch.log)
    let phases = rule.needsExit ? HKT_ON_EXIT | (rule.needsTime ? HKT_TIMED : 0) : HKT_ON_ENTER
    return LayerSpec(function: trackLayer, context: Unmanaged.passRetained(layer).toOpaque(), phases: UInt32(phases), owner: patch.id) {
      Unmanaged<TrackLayer>.fromOpaque($0!).release()
    }
  }

  @inline(__always)
  fileprivate func fire(_ view: CallView, atExit: Bool) {
    if rule.passesBy(view) { return }
    let thread = ScriptThread.of(view.call.pointee.thread)
    rule.cost.measure(thread) {
      guard rule.admits(view, atExit: atExit) else { return }
      var writer = FieldWriter(name, into: thread.pointee.recordBuffer)
      if rule.fill(view, atExit: atExit, &writer) { log.append(.event, &writer) }
    }
  }
}

private let trackLayer: HKTLayerFunction = { call, context, phase in
  guard let call, let context else { return HKT_HANDLED }
  // The context is the layer that was retained for the hook.
  Unmanaged<TrackLayer>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.fire(CallView(call), atExit: phase == HKT_EXIT) }
  return HKT_HANDLED
}
