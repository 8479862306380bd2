// MetricLayer — `metric`: a number per call, counted in the process.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import Journal
internal import LuaBridge
private import Synchronization

/// One function that a metric counts. Released when no call can be in it any more.
final class MetricLayer: @unchecked Sendable {
  // Immutable.
  private let metric: Metric
  private let value: CapturePath?
  /// What most histograms are of.
  private let isDuration: Bool
  private let rule: CompiledRule
  /// The address of the one series, where calls have no attributes; 0 before the first.
  private let only = Atomic<UInt>(0)

  private init(_ metric: Metric, _ value: CapturePath?, _ rule: CompiledRule) {
    self.metric = metric
    self.value = value
    isDuration = value?.root == .duration
    self.rule = rule
  }

  static func spec(_ metric: Metric, _ path: String?, _ rule: CompiledRule, _ family: Family, _ patch: Environment) throws(RuleProblem) -> LayerSpec {
    let value = try path.map { text throws(RuleProblem) in try CapturePath(text, for: family, rights: rule.rights) }
    if let value, ![.number, .unknown, .bool].contains(value.valueClass) {
      throw RuleProblem("'\(metric.kind.rawValue)': '\(value.text)' is \(value.steps.type?.name ?? "text"), expected a number")
    }
    let isLate = rule.needsExit || value?.needsExit == true
    let isTimed = rule.needsTime || value?.root == .duration
    let layer = MetricLayer(metric, value, rule)
    return LayerSpec(metricLayer, keeping: layer, phases: UInt32(isLate ? HKT_ON_EXIT | (isTimed ? HKT_TIMED : 0) : HKT_ON_ENTER), owner: patch.id)
  }

  /// The series of the call's attributes. A metric keeps its series for ever.
  @inline(__always)
  private func series(_ view: CallView, _ thread: UnsafeMutablePointer<ScriptThread>, _ atExit: Bool) -> Unmanaged<MetricSeries> {
    if let known = UnsafeRawPointer(bitPattern: only.load(ordering: .acquiring)) { return .fromOpaque(known) }
    var writer = FieldWriter(FieldWriter.noName, into: thread.pointee.recordBuffer)
    let start = writer.count
    for field in rule.fields { field.add(view, atExit: atExit, rule.printer, &writer) }
    let series = metric.series(writer.encoded(from: start))
    if rule.fields.isEmpty { only.store(UInt(bitPattern: series.toOpaque()), ordering: .releasing) }
    return series
  }

  @inline(__always)
  fileprivate func count(_ view: CallView, atExit: Bool) {
    if rule.passesBy(view) { return }
    let thread = ScriptThread.of(view.call.pointee.thread)
    guard rule.admits(view, atExit: atExit) else { return }
    var number: Double? = value == nil ? 1 : nil
    if isDuration { number = Double(view.durationNanoseconds) } else { value?.read(view, atExit: atExit) { number = $0.number } }
    guard let number else { return }
    series(view, thread, atExit)._withUnsafeGuaranteedRef {
      switch metric.kind {
      case .counter: $0.add(number)
      case .gauge: $0.set(number)
      case .histogram: $0.record(number)
      }
    }
  }
}

private let metricLayer: HKTLayerFunction = { call, context, phase in
  guard let call, let context else { return HKT_HANDLED }
  // The context is the layer that was retained for the hook.
  Unmanaged<MetricLayer>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.count(CallView(call), atExit: phase == HKT_EXIT) }
  return HKT_HANDLED
}

enum MetricAPI {
  private static let fields = [
    "on", "counter", "histogram", "gauge", "by", "unit", "every", "keys", "where", "sample", "once_per", "pii", "wait", "optional",
  ]

  /// What a metric has beside the common fields of a rule.
  private struct Draft {
    var kind: MetricKind?
    var path: String?
    var unit: String?
    var every: UInt64 = 10_000_000_000
    var keys = 1000

    mutating func set(_ field: String, _ value: SHLValue) -> String? {
      switch field {
      case "counter", "histogram", "gauge":
        if kind != nil { return "a metric is one of counter, histogram and gauge" }
        kind = MetricKind(rawValue: field)
        if field == "counter", value.tag == SHL_BOOL, value.b { return nil }
        guard let text = value.text else { return field == "counter" ? "'counter' is true or a path" : "'\(field)' is a path, such as \"duration\"" }
        path = text
      case "unit":
        guard let text = value.text else { return "'unit' is a text, such as \"By\"" }
        unit = text
      case "every":
        guard let time = value.text.flatMap(RuleUnits.duration), time >= 250_000_000 else {
          return "'every' is a time of 250ms or more, such as \"10s\""
        }
        every = time
      default:
        guard value.tag == SHL_INT, (1...100_000).contains(value.i) else { return "'keys' is a number from 1 to 100000" }
        keys = Int(value.i)
      }
      return nil
    }
  }

  /// Completes `metric "name" { … }`.
  static func install(_ name: String, _ table: SHLValue, _ patch: Environment, _ callback: LuaCallback) throws(RuleProblem) -> InstalledRule {
    var draft = Draft()
    let definition = try RuleReader.read(verb: "metric", name: name, table, callback, fields: fields) { draft.set($0, $1) }
    guard let kind = draft.kind else { throw RuleProblem("\(definition.title) needs one of counter, histogram and gauge") }
    let path = draft.path
    let unit = draft.unit ?? (path == "duration" ? "ns" : "")
    let metric = Metric(name, kind, unit: unit, every: draft.every, keys: draft.keys, log: patch.log)
    let rule = try RuleInstaller.install(definition, patch) { rule, family throws(RuleProblem) in
      try MetricLayer.spec(metric, path, rule, family, patch)
    }
    MetricReporter.add(metric)
    return rule
  }
}
