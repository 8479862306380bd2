// SpanLayer — `span`: the time of a call, its place in a trace, and how it ended.
internal import CHookTrampoline
internal import HookRuntime
internal import Journal

/// One function with spans. Released when no call can be in it any more.
final class SpanLayer: @unchecked Sendable {
  // Immutable.
  private let name: FieldName.Lent
  private let made: SpanName?
  private let span: SpanDefinition
  private let rule: CompiledRule
  private let log: HostLog

  private init(_ span: SpanDefinition, _ rule: CompiledRule, _ family: Family, log: HostLog) throws(RuleProblem) {
    let given = try SpanName(span.name, for: family)
    made = given.literal == nil ? given : nil
    let literal = given.literal ?? ""
    name = FieldName(literal.isEmpty ? family.selector : literal, masked: false).borrowedForEver()
    self.span = span
    self.rule = rule
    self.log = log
  }

  deinit { name.free() }

  /// The layer for one function.
  static func spec(_ span: SpanDefinition, _ rule: CompiledRule, _ family: Family, _ patch: Environment) throws(RuleProblem) -> LayerSpec {
    if rule.asksAtExit { throw RuleProblem("'where' of a span is asked when it begins; result, error and duration are not known then") }
    ThreadScopes.use()
    let layer = try SpanLayer(span, rule, family, log: patch.log)
    return LayerSpec(
      function: spanLayer, context: Unmanaged.passRetained(layer).toOpaque(),
      phases: UInt32(HKT_ON_ENTER | HKT_ON_EXIT | (rule.needsTime ? HKT_TIMED : 0)), owner: patch.id
    ) { Unmanaged<SpanLayer>.fromOpaque($0!).release() }
  }

  private var identity: UnsafeRawPointer { UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()) }

  // MARK: Begin

  fileprivate func begin(_ view: CallView) {
    if rule.passesBy(view) { return }
    let thread = ScriptThread.of(view.call.pointee.thread)
    rule.cost.measure(thread) {
      guard rule.admits(view, atExit: false, samples: false) else { return }
      let around = Scopes.current(view.call, thread, layer: identity)
      Scopes.begin(make(view, thread, around?._withUnsafeGuaranteedRef { $0 }), view.call, identity, thread)
    }
  }

  private func make(_ view: CallView, _ thread: UnsafeMutablePointer<ScriptThread>, _ around: TraceScope?) -> TraceScope {
    let identifier = thread.pointee.scopes.identifier()
    let inherited = around?.context ?? []
    guard let around, around.span != 0 else {
      StartupStages.reachFirst()
      // A root: its sample decides for all below it, and where the slow ones are wanted they wait for its end.
      let incoming = IncomingTrace.shared
      let isSampled = span.slow != nil && rule.gate.samplesAll ? false : rule.gate.samples()
      let trace = incoming?.trace ?? TraceID(high: thread.pointee.scopes.identifier(), low: thread.pointee.scopes.identifier())
      let tail = !isSampled && span.slow != nil ? TraceTail() : nil
      return scope(view, thread, trace, identifier, parent: incoming?.span ?? 0, isSampled, tail, inherited)
    }
    return scope(view, thread, around.trace, identifier, parent: around.span, around.isSampled, around.tail, inherited)
  }

  private func scope(
    _ view: CallView, _ thread: UnsafeMutablePointer<ScriptThread>, _ trace: TraceID, _ span: UInt64, parent: UInt64, _ isSampled: Bool,
    _ tail: TraceTail?, _ inherited: [UInt8]
  ) -> TraceScope {
    let isRecorded = isSampled || tail != nil
    return TraceScope(
      trace: trace, span: span, parent: parent, start: hkt_now_ns(), isSampled: isSampled, tail: tail,
      context: rule.context.isEmpty ? inherited : inherited + rule.bytes(of: rule.context, view, thread),
      attributes: isRecorded && rule.hasEarlyFields ? rule.bytes(of: rule.fields, view, thread, isLate: false) : [],
      name: isRecorded ? made?.text(view, rule.printer) : nil)
  }

  // MARK: End

  fileprivate func end(_ view: CallView) {
    let thread = ScriptThread.of(view.call.pointee.thread)
    guard let ended = Scopes.end(view.call, identity, thread) else { return }
    let scope = ended.takeRetainedValue()
    guard scope.isRecorded else { return }
    let duration = hkt_now_ns() &- scope.start
    let error = view.errorBox()
    rule.cost.measure(thread) {
      var writer = start(scope, thread)
      write(scope, duration, error, view, &writer)
      record(scope, &writer)
    }
    if let tail = scope.tail, isRoot(scope) { settle(tail, isKept: error != 0 || duration >= span.slow ?? .max) }
  }

  private func isRoot(_ scope: TraceScope) -> Bool { scope.parent == 0 || scope.parent == IncomingTrace.shared?.span }

  private func start(_ scope: TraceScope, _ thread: UnsafeMutablePointer<ScriptThread>) -> FieldWriter {
    guard let name = scope.name else { return FieldWriter(name, into: thread.pointee.recordBuffer) }
    return FieldWriter(FieldName(name, masked: false), into: thread.pointee.recordBuffer)
  }

  private func write(_ scope: TraceScope, _ duration: UInt64, _ error: UInt, _ view: CallView, _ writer: inout FieldWriter) {
    let names = SpanFieldNames.shared
    writer.add(names.trace, identifier: scope.trace.low, high: scope.trace.high)
    writer.add(names.span, identifier: scope.span)
    if scope.parent != 0 { writer.add(names.parent, identifier: scope.parent) }
    names.add(names.kind, "\(span.kind)", &writer)
    writer.add(names.start, scope.start)
    writer.add(names.duration, duration)
    names.add(names.status, error == 0 ? "unset" : "error", &writer)
    if error != 0 { names.add(names.message, ValuePrinter.error(error), &writer) }
    if rule.fields.isEmpty, scope.context.isEmpty { return }
    writer.beginObject(names.attributes)
    scope.context.withUnsafeBytes { writer.addEncoded($0) }
    scope.attributes.withUnsafeBytes { writer.addEncoded($0) }
    for field in rule.fields where field.isLate { field.add(view, atExit: true, rule.printer, &writer) }
    writer.end()
  }

  private func record(_ scope: TraceScope, _ writer: inout FieldWriter) {
    if let tail = scope.tail, tail.keepBack(writer.encoded(from: 0)) { return }
    log.append(.span, &writer)
  }

  /// The root is over: its trace is written, or forgotten.
  private func settle(_ tail: TraceTail, isKept: Bool) {
    for payload in tail.end(isKept: isKept) {
      withUnsafeTemporaryAllocation(byteCount: 4096 + 16, alignment: 16) { buffer in
        var writer = payload.withUnsafeBytes { FieldWriter(copying: $0, into: buffer) }
        log.append(.span, &writer)
      }
    }
  }
}

/// Names of the fields of every span's record, as `SpanRecord` has them.
struct SpanFieldNames: @unchecked Sendable {
  // Lent names point to bytes that are never freed.
  let trace = lent("trace"), span = lent("span"), parent = lent("parent"), kind = lent("kind"), start = lent("start_ns")
  let duration = lent("duration_ns"), status = lent("status"), message = lent("message"), attributes = lent("attributes")
  static let shared = SpanFieldNames()

  private static func lent(_ name: FieldName) -> FieldName.Lent { name.borrowedForEver() }

  func add(_ name: FieldName.Lent, _ text: String, _ writer: inout FieldWriter) {
    var text = text
    text.withUTF8 { writer.add(name, utf8: UnsafeRawBufferPointer($0)) }
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
