// ControlLayer — `control`: the actions that controls send, as events. No Lua runs when it fires.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import Journal
internal import LuaBridge
internal import SwiftMangling

/// What the rule has beside the common fields.
struct ControlDefinition: Sendable {
  var base = "", send = "", action = "", target = "", frame = "", name = "control"
  /// So many of one action on one control within this time are taps of somebody who is angry.
  var rage: RuleDefinition.Rate?
  /// A tap after which nothing else that is recorded happens for so long, nanoseconds.
  var dead: UInt64?

  static let fields = [
    "base", "send", "action", "target", "frame", "name", "fields", "where", "sample", "rate", "dedupe", "same", "once_per", "pii",
    "wait", "optional", "rage", "dead",
  ]

  /// Sets one field; answers what is wrong with it.
  mutating func set(_ field: String, _ value: SHLValue) -> String? {
    guard let text = value.text, !text.isEmpty else { return "'\(field)' is a text" }
    switch field {
    case "rage":
      guard let rate = RuleUnits.rate(text), rate.count > 1 else { return "'rage' is a number of taps in a time, such as \"3/s\"" }
      rage = rate
    case "dead":
      guard let time = RuleUnits.duration(text), time >= 1_000_000 else { return "'dead' is a time of 1ms or more, such as \"1s\"" }
      dead = time
    case "base": base = text
    case "send": send = text
    case "action": action = text
    case "target": target = text
    case "frame": frame = text
    default: name = text
    }
    return nil
  }

  /// What is missing.
  var problem: String? {
    if base.isEmpty { return "needs 'base', the class of controls" }
    if send.isEmpty { return "needs 'send', the method by which controls send their actions" }
    return action.isEmpty ? "needs 'action', the path of the action, such as \"args.1\"" : nil
  }
}

/// One function by which controls send. Released when no call can be in it any more.
final class ControlLayer: @unchecked Sendable {
  // Immutable.
  private let name: RecordName
  private let rule: CompiledRule
  private let action: CapturePath
  private let target: CapturePath?
  private let frame: CapturePath?
  private let chain: UInt
  private let taps: TapWatch?
  private let declared: String
  private let log: HostLog

  private init(_ control: ControlDefinition, _ rule: CompiledRule, _ family: Family, _ chain: UInt, _ taps: TapWatch?, log: HostLog)
    throws(RuleProblem)
  {
    func path(_ text: String) throws(RuleProblem) -> CapturePath? { text.isEmpty ? nil : try CapturePath(text, for: family, rights: rule.rights) }
    action = try CapturePath(control.action, for: family, rights: rule.rights)
    target = try path(control.target)
    frame = try path(control.frame)
    let late = [action, target, frame].compactMap { $0 }.first(where: \.needsExit)
    if let late { throw RuleProblem("'\(late.text)' is known when the call is over; an action is recorded before") }
    name = RecordName(control.name)
    declared = family.declaration.context.map { "\($0)" } ?? control.base
    self.rule = rule
    self.chain = chain
    self.taps = taps
    self.log = log
  }

  /// The layer for one function.
  /// - Parameter chain: what all functions of the rule have in common.
  static func spec(
    _ control: ControlDefinition, _ definition: RuleDefinition, _ rule: CompiledRule, _ family: Family, chain: UInt, _ taps: TapWatch?,
    _ patch: Environment
  ) throws(RuleProblem) -> LayerSpec {
    if rule.needsExit { throw RuleProblem("an action is recorded before it is sent; result, error and duration are not known then") }
    let layer = try ControlLayer(control, rule, family, chain, taps, log: patch.log)
    return LayerSpec(controlLayer, keeping: layer, phases: UInt32(HKT_ON_ENTER | HKT_ON_EXIT), owner: patch.id)
  }

  fileprivate func begin(_ view: CallView) {
    if rule.passesBy(view) { return }
    let thread = ScriptThread.of(view.call.pointee.thread)
    guard view.call.pointee.is_async == 0,
      thread.pointee.open.begin(UInt(bitPattern: view.call), object: UInt(bitPattern: view.selfAddress), key: chain)
    else { return }
    guard hasAction(view), rule.admits(view, atExit: false) else { return }
    let names = ControlFieldNames.shared
    let effects = Effects.count
    var writer = FieldWriter(name.borrowed, into: thread.pointee.recordBuffer)
    let start = writer.count
    var about = start
    let isRecorded = rule.fill(view, atExit: false, &writer) { writer in
      SpanFieldNames.shared.add(names.type, TreeRule.type(of: view, declared), &writer)
      add(names.action, action, view, &writer)
      if let target { add(names.target, target, view, &writer) }
      if let frame { addFrame(frame, view, &writer) }
      about = writer.count
    }
    guard isRecorded else { return }
    if let taps, let object = view.selfObject {
      taps.note(UInt(bitPattern: object), UnsafeRawBufferPointer(start: writer.base + start, count: about - start), before: effects)
    }
    log.append(.event, &writer)
  }

  fileprivate func end(_ view: CallView) {
    _ = ScriptThread.of(view.call.pointee.thread).pointee.open.end(UInt(bitPattern: view.call), key: chain)
  }

  /// There is one, and it has a name.
  private func hasAction(_ view: CallView) -> Bool {
    var isThere = false
    action.read(view, atExit: false) {
      switch $0 {
      case .null, .missing: break
      case .text(let bytes): isThere = !bytes.isEmpty
      default: isThere = true
      }
    }
    return isThere
  }

  private func add(_ name: FieldName.Borrowed, _ path: CapturePath, _ view: CallView, _ writer: inout FieldWriter) {
    withUnsafeMutablePointer(to: &writer) { writer in path.read(view, atExit: false) { addValue(name, $0, &writer.pointee) } }
  }

  /// An object by its type, anything else as it is.
  private func addValue(_ name: FieldName.Borrowed, _ value: CapturedValue, _ writer: inout FieldWriter) {
    if case .other(_, let type) = value, case .object = type._withUnsafeGuaranteedRef({ $0.kind }) {
      return SpanFieldNames.shared.add(name, type._withUnsafeGuaranteedRef { $0.name }, &writer)
    }
    value.add(name, rule.printer, &writer)
  }

  /// Numbers of a struct, in the order of its fields, with two decimals; anything else as it is shown.
  private func addFrame(_ path: CapturePath, _ view: CallView, _ writer: inout FieldWriter) {
    withUnsafeMutablePointer(to: &writer) { writer in
      path.read(view, atExit: false) { value in
        let name = ControlFieldNames.shared.frame
        guard case .other(let memory, let type) = value else { return value.add(name, rule.printer, &writer.pointee) }
        var numbers: [Double] = []
        let isFrame = type._withUnsafeGuaranteedRef { Self.collect(memory, $0, &numbers) }
        guard isFrame, !numbers.isEmpty else { return value.add(name, rule.printer, &writer.pointee) }
        SpanFieldNames.shared.add(name, numbers.map(Self.decimals).joined(separator: ","), &writer.pointee)
      }
    }
  }

  /// False when something in it is no number.
  static func collect(_ memory: UnsafeRawPointer, _ type: TypeInfo, _ numbers: inout [Double]) -> Bool {
    if case .structure = type.kind, type.size <= 256 {
      for field in type.fields {
        guard case .success(let inner) = field.type, collect(memory + field.offset, inner, &numbers) else { return false }
      }
      return true
    }
    guard let number = CapturedValue(memory, .passUnretained(type)).number else { return false }
    numbers.append(number)
    return true
  }

  /// "12.50"; a number that has no two decimals as it is.
  static func decimals(_ value: Double) -> String {
    guard value.magnitude < 1e12 else { return "\(value)" }
    let hundredths = Int64((value.magnitude * 100).rounded())
    let rest = hundredths % 100
    return (value < 0 && hundredths > 0 ? "-" : "") + "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
  }
}

private struct ControlFieldNames: Sendable {
  let type = FieldName.Borrowed("type"), action = FieldName.Borrowed("action"), target = FieldName.Borrowed("target"),
    frame = FieldName.Borrowed("frame")
  static let shared = ControlFieldNames()
}

private let controlLayer: HKTLayerFunction = { call, context, phase in
  guard let call, let context else { return HKT_HANDLED }
  // The context is the layer that was retained for the hook.
  Unmanaged<ControlLayer>.fromOpaque(context)._withUnsafeGuaranteedRef {
    if phase == HKT_EXIT { $0.end(CallView(call)) } else { $0.begin(CallView(call)) }
  }
  return HKT_HANDLED
}
