// SpanMaker — the spans of one function: where they are in a trace when they begin, and their records when they are over.
internal import CHookTrampoline
internal import HookRuntime
internal import Journal

/// Kept by its layer. Any thread.
final class SpanMaker: @unchecked Sendable {
  // Immutable.
  private let name: RecordName
  private let made: SpanName?
  private let span: SpanDefinition
  private let parent: CapturePath?
  private let links: [CapturePath]
  /// Its kind and, of a span without an error, its status: as records have them.
  private let kind: [UInt8]
  private let noError: [UInt8]
  private let log: HostLog
  let rule: CompiledRule
  /// Attributes are read when the call is over.
  let hasLateFields: Bool

  init(_ span: SpanDefinition, _ rule: CompiledRule, _ family: Family, log: HostLog) throws(RuleProblem) {
    if rule.asksAtExit { throw RuleProblem("'where' of a span is asked when it begins; result, error and duration are not known then") }
    let given = try SpanName(span.name, for: family, rights: rule.rights)
    parent = try span.parent.map { path throws(RuleProblem) in
      let made = try CapturePath(path, for: family, rights: rule.rights)
      if made.needsExit { throw RuleProblem("'parent': '\(path)' is known when the call is over; a span's place is asked when it begins") }
      return made
    }
    var links: [CapturePath] = []
    for path in span.links {
      let made = try CapturePath(path, for: family, rights: rule.rights)
      if made.needsExit { throw RuleProblem("'links': '\(path)' is known when the call is over; links are read when a span begins") }
      links.append(made)
    }
    self.links = links
    made = given.literal == nil ? given : nil
    let literal = given.literal ?? ""
    name = RecordName(literal.isEmpty ? family.selector : literal)
    self.span = span
    let names = SpanFieldNames.shared
    kind = Self.encoded { names.add(names.kind, "\(span.kind)", &$0) }
    noError = Self.encoded { names.add(names.status, "unset", &$0) }
    hasLateFields = rule.fields.contains(where: \.isLate)
    self.rule = rule
    self.log = log
    ThreadScopes.use()
  }

  private static func encoded(_ add: (inout FieldWriter) -> Void) -> [UInt8] {
    withUnsafeTemporaryAllocation(byteCount: 512, alignment: 8) { buffer in
      var writer = FieldWriter(FieldWriter.noName, into: buffer)
      let start = writer.count
      add(&writer)
      return Array(writer.encoded(from: start))
    }
  }

  // MARK: Begin

  /// The span of a call that begins: below the one around it, or below whoever the call says sent it, or a root.
  /// - Parameter layer: who asks; the scope that it began itself is not around it.
  func begin(_ view: CallView, _ thread: UnsafeMutablePointer<ScriptThread>, layer: UnsafeRawPointer) -> TraceScope {
    let around = Scopes.current(view.call, thread, layer: layer)?._withUnsafeGuaranteedRef { $0 }
    let identifier = thread.pointee.scopes.identifier()
    let inherited = around?.context ?? []
    if let around, around.span != 0 {
      return scope(
        view, thread, around.trace, identifier, parent: around.span, isRoot: false, around.isSampled, around.tail, inherited)
    }
    StartupStages.reachFirst()
    // A root: its sample decides for all below it, and where the slow ones are wanted they wait for its end.
    let incoming = sender(view) ?? IncomingTrace.shared
    // What the sender does not record would have no parent; what is slow here is wanted all the same.
    let isSampled = incoming?.isSampled == false || span.slow != nil && rule.gate.samplesAll ? false : rule.gate.samples()
    let trace = incoming?.trace ?? TraceID(high: thread.pointee.scopes.identifier(), low: thread.pointee.scopes.identifier())
    let tail = !isSampled && span.slow != nil ? TraceTail() : nil
    return scope(view, thread, trace, identifier, parent: incoming?.span ?? 0, isRoot: true, isSampled, tail, inherited)
  }

  private func sender(_ view: CallView) -> IncomingTrace? {
    var found: IncomingTrace?
    parent?.read(view, atExit: false) { found = IncomingTrace($0) }
    return found
  }

  /// The spans that the call names, as far as it does.
  private func linked(_ view: CallView) -> [SpanLink] {
    var found: [SpanLink] = []
    for path in links {
      path.read(view, atExit: false) { if let named = IncomingTrace($0) { found.append(SpanLink(trace: named.trace, span: named.span)) } }
    }
    return found
  }

  /// What calls below this one find of its span.
  private func scope(
    _ view: CallView, _ thread: UnsafeMutablePointer<ScriptThread>, _ trace: TraceID, _ span: UInt64, parent: UInt64, isRoot: Bool,
    _ isSampled: Bool, _ tail: TraceTail?, _ inherited: [UInt8]
  ) -> TraceScope {
    let isRecorded = isSampled || tail != nil
    return TraceScope(
      trace: trace, span: span, parent: parent, isRoot: isRoot, start: hkt_now_ns(), isSampled: isSampled, tail: tail,
      context: rule.context.isEmpty ? inherited : inherited + rule.bytes(of: rule.context, view, thread),
      attributes: isRecorded && rule.hasEarlyFields ? rule.bytes(of: rule.fields, view, thread, isLate: false) : [],
      name: isRecorded ? made?.text(view, rule.printer) : nil, links: isRecorded && !links.isEmpty ? linked(view) : [])
  }

  // MARK: End

  /// Writes the record of a span that is over, and settles its trace if it is the root.
  /// - Parameters:
  ///   - failure: what went wrong, empty where nothing is known of it; nil: nothing did.
  ///   - more: adds attributes that are known only now; nil: there are none.
  func end(
    _ scope: TraceScope, failure: String?, _ thread: UnsafeMutablePointer<ScriptThread>, _ more: ((inout FieldWriter) -> Void)? = nil
  ) {
    guard scope.isRecorded else { return }
    let now = hkt_now_ns()
    let duration = now &- scope.start
    var writer = start(scope, thread)
    write(scope, duration, failure, more, &writer)
    record(scope, &writer, at: now)
    if let tail = scope.tail, scope.isRoot { settle(tail, isKept: failure != nil || duration >= span.slow ?? .max) }
  }

  /// Begins the span's record in the thread's buffer.
  private func start(_ scope: TraceScope, _ thread: UnsafeMutablePointer<ScriptThread>) -> FieldWriter {
    guard let name = scope.name else { return FieldWriter(name.borrowed, into: thread.pointee.recordBuffer) }
    return FieldWriter(FieldName(name, masked: false), into: thread.pointee.recordBuffer)
  }

  private func write(
    _ scope: TraceScope, _ duration: UInt64, _ failure: String?, _ more: ((inout FieldWriter) -> Void)?, _ writer: inout FieldWriter
  ) {
    let names = SpanFieldNames.shared
    writer.add(names.trace, identifier: scope.trace.low, high: scope.trace.high)
    writer.add(names.span, identifier: scope.span)
    if scope.parent != 0 { writer.add(names.parent, identifier: scope.parent) }
    kind.withUnsafeBytes { writer.addEncoded($0) }
    writer.add(names.start, scope.start)
    writer.add(names.duration, duration)
    if failure == nil { noError.withUnsafeBytes { writer.addEncoded($0) } } else { names.add(names.status, "error", &writer) }
    if let failure, !failure.isEmpty { names.add(names.message, failure, &writer) }
    if !scope.links.isEmpty {
      writer.beginList("links")
      for link in scope.links { link.write(into: &writer) }
      writer.end()
    }
    if more == nil, scope.attributes.isEmpty, scope.context.isEmpty { return }
    writer.beginObject(names.attributes)
    scope.context.withUnsafeBytes { writer.addEncoded($0) }
    scope.attributes.withUnsafeBytes { writer.addEncoded($0) }
    more?(&writer)
    writer.end()
  }

  private func record(_ scope: TraceScope, _ writer: inout FieldWriter, at now: UInt64) {
    if let tail = scope.tail, tail.keepBack(writer.encoded(from: 0)) { return }
    log.append(.span, &writer, at: now)
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
struct SpanFieldNames: Sendable {
  let trace = FieldName.Borrowed("trace"), span = FieldName.Borrowed("span"), parent = FieldName.Borrowed("parent"),
    kind = FieldName.Borrowed("kind"), start = FieldName.Borrowed("start_ns")
  let duration = FieldName.Borrowed("duration_ns"), status = FieldName.Borrowed("status"), message = FieldName.Borrowed("message"),
    attributes = FieldName.Borrowed("attributes")
  static let shared = SpanFieldNames()

  func add(_ name: FieldName.Borrowed, _ text: String, _ writer: inout FieldWriter) {
    var text = text
    text.withUTF8 { writer.add(name, utf8: UnsafeRawBufferPointer($0)) }
  }
}
