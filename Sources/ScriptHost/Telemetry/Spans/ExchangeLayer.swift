// ExchangeLayer — a span that begins in one call and ends in another: a request and its answer, distinguished by what both calls have in common.
//
// Calls of one key are answered in the order in which they began: a connection may take the next request before the last is answered.
internal import CHookTrampoline
internal import HookRuntime
internal import Journal
private import Synchronization

/// A span that has begun. What calls add until it ends is behind the lock of `OpenExchanges`.
struct Exchange {
  let scope: TraceScope
  let maker: SpanMaker
  /// Fields in the records' form.
  var attributes: [UInt8] = []
  var hasFailed = false
}

/// The spans of one rule that have not ended. Any thread.
final class OpenExchanges: Sendable {
  private struct State {
    var open: [UInt64: [Exchange]] = [:]
    /// Keys of several parts, by what the first part alone is.
    var groups: [UInt64: Set<UInt64>] = [:]
    var count = 0

    mutating func close(_ key: UInt64, _ group: UInt64) {
      open[key] = nil
      if group != key, groups[group]?.remove(key) != nil, groups[group]!.isEmpty { groups[group] = nil }
    }
  }
  private let state = Mutex(State())
  /// Of more, the newest are not recorded: the ends of the others never came.
  private static let most = 65_536

  /// False where too many are open.
  func begin(_ exchange: Exchange, _ key: ExchangeKey.Value) -> Bool {
    state.withLock { state in
      guard state.count < Self.most else { return false }
      state.open[key.whole, default: []].append(exchange)
      if key.first != key.whole { state.groups[key.first, default: []].insert(key.whole) }
      state.count += 1
      return true
    }
  }

  /// Some are open of the key, or of those that begin so.
  func has(_ key: UInt64) -> Bool { state.withLock { $0.open[key] != nil || $0.groups[key] != nil } }

  /// Adds to the oldest of the key; takes it out if it ends now.
  func note(_ key: ExchangeKey.Value, _ attributes: [UInt8], hasFailed: Bool, ends: Bool) -> Exchange? {
    state.withLock { state in
      guard var first = state.open[key.whole]?.first else { return nil }
      first.attributes += attributes
      first.hasFailed = first.hasFailed || hasFailed
      if !ends {
        state.open[key.whole]![0] = first
        return nil
      }
      state.count -= 1
      state.open[key.whole]!.removeFirst()
      if state.open[key.whole]!.isEmpty { state.close(key.whole, key.first) }
      return first
    }
  }

  /// Takes out all whose key begins so.
  func cancel(_ key: UInt64) -> [Exchange] {
    state.withLock { state in
      var all = state.open.removeValue(forKey: key) ?? []
      for whole in state.groups.removeValue(forKey: key) ?? [] { all += state.open.removeValue(forKey: whole) ?? [] }
      state.count -= all.count
      return all
    }
  }
}

/// What two calls have in common.
final class ExchangeKey: Sendable {
  /// Numbers that equal values share: of all its parts, and of the first alone.
  struct Value {
    var whole: UInt64
    let first: UInt64
  }

  /// Where one part is: the first of these that is there.
  private struct Part: Sendable {
    /// nil: the object that the method is called on.
    let paths: [CapturePath?]
  }
  private let parts: [Part]

  /// - Parameters:
  ///   - texts: a path each, or several with `??` between them.
  ///   - field: what messages call it.
  ///   - rights: what the rule's patch may touch; nil: everything.
  init(_ texts: [String], _ field: String = "key", for family: Family, rights: PatchRights?) throws(RuleProblem) {
    var parts: [Part] = []
    for text in texts {
      var paths: [CapturePath?] = []
      for name in text.split(separator: "??").map({ $0.split(separator: " ").joined(separator: " ") }) {
        let path = name == "self" ? nil : try CapturePath(name, for: family, rights: rights)
        if path?.needsExit == true { throw RuleProblem("'\(field)': '\(name)' is known when the call is over") }
        paths.append(path)
      }
      if paths.isEmpty { throw RuleProblem("'\(field)' has an empty path") }
      parts.append(Part(paths: paths))
    }
    self.parts = parts
  }

  /// nil where one of its parts is not there.
  @inline(__always)
  func value(_ view: CallView, _ printer: ValuePrinter) -> Value? {
    guard let first = Self.value(parts[0], view, printer) else { return nil }
    var value = Value(whole: first, first: first)
    for part in parts.dropFirst() {
      guard let more = Self.value(part, view, printer) else { return nil }
      value.whole = mixed(value.whole ^ mixed(more))
    }
    return value
  }

  private static func value(_ part: Part, _ view: CallView, _ printer: ValuePrinter) -> UInt64? {
    for path in part.paths {
      var key: UInt64?
      if let path {
        path.read(view, atExit: false) { value in
          switch value {
          case .null, .missing: break
          default: key = value.identity(printer)
          }
        }
      } else {
        // As the identity of an object that a path leads to.
        key = view.selfObject.map { mixed(UInt64(UInt(bitPattern: $0))) }
      }
      if key != nil { return key }
    }
    return nil
  }
}

/// The function in which spans begin. What runs below the call is below the span.
final class ExchangeLayer: @unchecked Sendable {
  // Immutable.
  private let maker: SpanMaker
  private let key: ExchangeKey
  private let open: OpenExchanges

  private init(_ maker: SpanMaker, _ key: ExchangeKey, _ open: OpenExchanges) {
    self.maker = maker
    self.key = key
    self.open = open
  }

  static func spec(
    _ span: SpanDefinition, _ open: OpenExchanges, _ rule: CompiledRule, _ family: Family, _ patch: Environment
  ) throws(RuleProblem) -> LayerSpec {
    if rule.fields.contains(where: \.isLate) {
      throw RuleProblem("'attributes' of a span that ends elsewhere are read when it begins; what the answer has goes into 'ends'")
    }
    let maker = try SpanMaker(span, rule, family, log: patch.log)
    let layer = ExchangeLayer(maker, try ExchangeKey(span.key, for: family, rights: rule.rights), open)
    return LayerSpec(exchangeLayer, keeping: layer, phases: UInt32(HKT_ON_ENTER | HKT_ON_EXIT), owner: patch.id)
  }

  private var identity: UnsafeRawPointer { UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()) }

  fileprivate func begin(_ view: CallView) {
    if maker.rule.passesBy(view) { return }
    let thread = ScriptThread.of(view.call.pointee.thread)
    Effects.note()
    guard maker.rule.admits(view, atExit: false, samples: false), let key = key.value(view, maker.rule.printer) else { return }
    let scope = maker.begin(view, thread, layer: identity)
    guard open.begin(Exchange(scope: scope, maker: maker), key) else {
      maker.rule.gate.byRate.add(1, ordering: .relaxed)
      return
    }
    Scopes.begin(scope, view.call, identity, thread)
  }

  fileprivate func leave(_ view: CallView) { Scopes.end(view.call, identity, ScriptThread.of(view.call.pointee.thread))?.release() }
}

/// A function whose calls add to open spans, and end them.
final class ExchangeEndLayer: @unchecked Sendable {
  // Immutable.
  private let rule: CompiledRule
  private let failure: Condition?
  private let key: ExchangeKey
  private let open: OpenExchanges
  /// Ends every span of the key, as failed.
  private let cancels: String?

  private init(_ rule: CompiledRule, _ failure: Condition?, _ key: ExchangeKey, _ open: OpenExchanges, cancels: String?) {
    self.rule = rule
    self.failure = failure
    self.key = key
    self.open = open
    self.cancels = cancels
  }

  /// - Parameter failure: the condition for an error; `cancels`: what the spans' message is where the calls end all of them.
  static func spec(
    key: [String], failure: String?, cancels: String?, _ open: OpenExchanges, _ rule: CompiledRule, _ family: Family, _ patch: Environment
  ) throws(RuleProblem) -> LayerSpec {
    let condition = try failure.map { text throws(RuleProblem) in try Condition(text, for: family, rights: rule.rights) }
    if rule.asksAtExit || rule.needsExit || condition?.needsExit == true {
      throw RuleProblem("what ends a span is asked when the call begins; result, error and duration are not known then")
    }
    let layer = ExchangeEndLayer(rule, condition, try ExchangeKey(key, for: family, rights: rule.rights), open, cancels: cancels)
    return LayerSpec(exchangeEndLayer, keeping: layer, phases: UInt32(HKT_ON_ENTER), owner: patch.id)
  }

  fileprivate func run(_ view: CallView) {
    guard !rule.passesBy(view), let key = key.value(view, rule.printer), open.has(key.whole) else { return }
    let thread = ScriptThread.of(view.call.pointee.thread)
    if let cancels {
      guard rule.admits(view, atExit: false) else { return }
      for exchange in open.cancel(key.first) { end(exchange, failure: cancels, thread) }
      return
    }
    let attributes = attributes(view, thread)
    let hasFailed = failure?.holds(view, atExit: false) ?? false
    let ends = rule.admits(view, atExit: false)
    if attributes.isEmpty, !hasFailed, !ends { return }
    if let ended = open.note(key, attributes, hasFailed: hasFailed, ends: ends) { end(ended, failure: ended.hasFailed ? "" : nil, thread) }
  }

  /// Writes the exchange's span with the attributes that were added to it.
  private func end(_ exchange: Exchange, failure: String?, _ thread: UnsafeMutablePointer<ScriptThread>) {
    let added = exchange.attributes
    if added.isEmpty { return exchange.maker.end(exchange.scope, failure: failure, thread) }
    exchange.maker.end(exchange.scope, failure: failure, thread) { writer in added.withUnsafeBytes { writer.addEncoded($0) } }
  }

  /// The fields that this call has: answers come in parts.
  private func attributes(_ view: CallView, _ thread: UnsafeMutablePointer<ScriptThread>) -> [UInt8] {
    if rule.fields.isEmpty { return [] }
    var writer = FieldWriter(FieldWriter.noName, into: thread.pointee.recordBuffer)
    let start = writer.count
    for field in rule.fields {
      var isThere = false
      field.path._withUnsafeGuaranteedRef {
        $0.read(view, atExit: false) { value in
          switch value {
          case .null, .missing: break
          default: isThere = true
          }
        }
      }
      if isThere { field.add(view, atExit: false, rule.printer, &writer) }
    }
    return Array(writer.encoded(from: start))
  }
}

private let exchangeLayer: HKTLayerFunction = { call, context, phase in
  guard let call, let context else { return HKT_HANDLED }
  // The context is the layer that was retained for the hook.
  Unmanaged<ExchangeLayer>.fromOpaque(context)._withUnsafeGuaranteedRef {
    if phase == HKT_EXIT { $0.leave(CallView(call)) } else { $0.begin(CallView(call)) }
  }
  return HKT_HANDLED
}

private let exchangeEndLayer: HKTLayerFunction = { call, context, _ in
  guard let call, let context else { return HKT_HANDLED }
  // The context is the layer that was retained for the hook.
  Unmanaged<ExchangeEndLayer>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.run(CallView(call)) }
  return HKT_HANDLED
}
