// SpanLayer — `span`: the time of a call, its place in a trace, and how it ended.
internal import CHookTrampoline
internal import HookRuntime
internal import Journal

/// One function with spans. Released when no call can be in it any more.
final class SpanLayer: @unchecked Sendable {
  // Immutable.
  private let maker: SpanMaker
  /// What all functions of a tree of overrides have in common, of which the outermost call on an object is the span; 0: each call is one.
  private let chain: UInt
  private var rule: CompiledRule { maker.rule }

  private init(_ maker: SpanMaker, _ chain: UInt) {
    self.maker = maker
    self.chain = chain
  }

  /// The layer for one function.
  static func spec(_ span: SpanDefinition, _ rule: CompiledRule, _ family: Family, _ patch: Environment, chain: UInt = 0)
    throws(RuleProblem) -> LayerSpec
  {
    let layer = SpanLayer(try SpanMaker(span, rule, family, log: patch.log), chain)
    return LayerSpec(spanLayer, keeping: layer, phases: UInt32(HKT_ON_ENTER | HKT_ON_EXIT | (rule.needsTime ? HKT_TIMED : 0)), owner: patch.id)
  }

  private var identity: UnsafeRawPointer { UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()) }

  fileprivate func begin(_ view: CallView) {
    if rule.passesBy(view) { return }
    let thread = ScriptThread.of(view.call.pointee.thread)
    if chain != 0, view.call.pointee.is_async == 0,
      !thread.pointee.open.begin(UInt(bitPattern: view.call), object: UInt(bitPattern: view.selfAddress), key: chain)
    {
      return
    }
    Effects.note()
    guard rule.admits(view, atExit: false, samples: false) else { return }
    Scopes.begin(maker.begin(view, thread, layer: identity), view.call, identity, thread)
  }

  fileprivate func end(_ view: CallView) {
    let thread = ScriptThread.of(view.call.pointee.thread)
    if chain != 0, view.call.pointee.is_async == 0 { _ = thread.pointee.open.end(UInt(bitPattern: view.call), key: chain) }
    guard let ended = Scopes.end(view.call, identity, thread) else { return }
    let scope = ended.takeRetainedValue()
    guard scope.isRecorded else { return }
    let error = view.errorBox()
    let failure = error != 0 ? ValuePrinter.error(error) : view.didThrow ? "<not decoded>" : nil
    if !maker.hasLateFields { return maker.end(scope, failure: failure, thread) }
    let rule = rule
    maker.end(scope, failure: failure, thread) { writer in
      for field in rule.fields where field.isLate { field.add(view, atExit: true, rule.printer, &writer) }
    }
  }
}

private let spanLayer: HKTLayerFunction = { call, context, phase in
  guard let call, let context else { return HKT_HANDLED }
  // The context is the layer that was retained for the hook.
  Unmanaged<SpanLayer>.fromOpaque(context)._withUnsafeGuaranteedRef {
    if phase == HKT_EXIT { $0.end(CallView(call)) } else { $0.begin(CallView(call)) }
  }
  return HKT_HANDLED
}
