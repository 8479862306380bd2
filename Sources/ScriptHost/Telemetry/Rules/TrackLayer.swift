// TrackLayer — `track`: an event as data. No Lua runs when it fires.
internal import CHookTrampoline
internal import HookRuntime
internal import Journal

/// One tracked function. Released when no call can be in it any more.
final class TrackLayer: @unchecked Sendable {
  // Immutable.
  private let name: RecordName
  private let rule: CompiledRule
  private let log: HostLog

  init(_ definition: RuleDefinition, _ rule: CompiledRule, log: HostLog) {
    name = RecordName(definition.name)
    self.rule = rule
    self.log = log
  }

  /// The layer for one function.
  static func spec(_ definition: RuleDefinition, _ rule: CompiledRule, _ patch: Environment) -> LayerSpec {
    let layer = TrackLayer(definition, rule, log: patch.log)
    let hasContext = !rule.context.isEmpty
    if hasContext { ThreadScopes.use() }
    let phases =
      (hasContext || !rule.needsExit ? HKT_ON_ENTER : 0) | (hasContext || rule.needsExit ? HKT_ON_EXIT : 0)
      | (rule.needsTime ? HKT_TIMED : 0) | (hasContext ? 0 : HKT_INTERRUPTS)
    return LayerSpec(trackLayer, keeping: layer, phases: UInt32(phases), owner: patch.id)
  }

  /// One event of a call that came by no hook.
  func record(_ view: CallView) { fire(view, atExit: false, ScriptThread.of(view.call.pointee.thread)) }

  @inline(__always)
  fileprivate func run(_ view: CallView, atExit: Bool) {
    let thread = ScriptThread.of(view.call.pointee.thread)
    if _fastPath(rule.context.isEmpty) { return fire(view, atExit: atExit, thread) }
    if !atExit { beginScope(view, thread) }
    if atExit == rule.needsExit { fire(view, atExit: atExit, thread) }
    if atExit { Scopes.end(view.call, identity, thread)?.release() }
  }

  private var identity: UnsafeRawPointer { UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()) }

  /// What runs below the call inherits the fields of its context.
  @inline(never)
  private func beginScope(_ view: CallView, _ thread: UnsafeMutablePointer<ScriptThread>) {
    if rule.passesBy(view) { return }
    let around = Scopes.current(view.call, thread, layer: identity)?._withUnsafeGuaranteedRef { $0 }
    let scope = TraceScope(
      trace: around?.trace ?? TraceID(high: 0, low: 0), span: around?.span ?? 0, parent: around?.parent ?? 0, start: 0,
      isSampled: around?.isSampled ?? true, tail: around?.tail, context: (around?.context ?? []) + rule.bytes(of: rule.context, view, thread))
    Scopes.begin(scope, view.call, identity, thread)
  }

  /// Writes the rule's record, where its filters let the call pass.
  @inline(__always)
  private func fire(_ view: CallView, atExit: Bool, _ thread: UnsafeMutablePointer<ScriptThread>) {
    if rule.passesBy(view) { return }
    Effects.note()
    guard rule.admits(view, atExit: atExit) else { return }
    var writer = FieldWriter(name.borrowed, into: thread.pointee.recordBuffer)
    guard rule.fill(view, atExit: atExit, &writer) else { return }
    if _slowPath(ThreadScopes.isUsed) { inherit(view, thread, &writer) }
    log.append(.event, &writer)
  }

  /// Adds what is inherited from the calls around this one: their context, and the span that the event is in.
  @inline(never)
  private func inherit(_ view: CallView, _ thread: UnsafeMutablePointer<ScriptThread>, _ writer: inout FieldWriter) {
    guard let scope = Scopes.current(view.call, thread) else { return }
    withUnsafeMutablePointer(to: &writer) { writer in
      scope._withUnsafeGuaranteedRef { scope in
        scope.context.withUnsafeBytes { writer.pointee.addEncoded($0) }
        guard scope.span != 0, scope.isSampled else { return }
        writer.pointee.add(SpanFieldNames.shared.trace, identifier: scope.trace.low, high: scope.trace.high)
        writer.pointee.add(SpanFieldNames.shared.span, identifier: scope.span)
      }
    }
  }
}

private let trackLayer: HKTLayerFunction = { call, context, phase in
  guard let call, let context else { return HKT_HANDLED }
  // The context is the layer that was retained for the hook.
  Unmanaged<TrackLayer>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.run(CallView(call), atExit: phase == HKT_EXIT) }
  return HKT_HANDLED
}
