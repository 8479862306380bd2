// ExposureLayer — `exposure`: what was to be seen, for how long at least, once for each or again. No Lua runs when it fires.
//
// A view is looked at when a method of it is over after which its place may have changed. From when enough of it lies within what is around it, it
// is exposed; it is recorded when that has lasted long enough, and not when it ended before.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import Journal
internal import LuaBridge
internal import SwiftMangling
private import Synchronization

/// What the rule has beside the common fields.
struct ExposureDefinition: Sendable {
  enum Again: Sendable, Equatable { case never, always, after(UInt64) }

  var base = "", frame = "", within = "", key = "", name = "exposure"
  /// The share of the view that has to be seen.
  var area = 0.5
  /// How long it has to be seen, in nanoseconds.
  var dwell: UInt64 = 500_000_000
  /// What has been recorded is recorded once more.
  var again = Again.never

  static let fields = [
    "base", "on", "frame", "within", "area", "dwell", "again", "key", "name", "fields", "where", "sample", "rate", "pii", "wait", "optional",
  ]

  /// Sets one field; answers what is wrong with it.
  mutating func set(_ field: String, _ value: SHLValue) -> String? {
    switch field {
    case "area":
      let number = value.tag == SHL_NUMBER ? value.n : value.tag == SHL_INT ? Double(value.i) : value.text.flatMap(RuleUnits.share) ?? -1
      guard number > 0, number <= 1 else { return "'area' is the share that has to be seen, such as 0.5 or \"50%\"" }
      area = number
      return nil
    case "dwell":
      guard let time = value.text.flatMap(RuleUnits.duration) else { return "'dwell' is a time, such as \"500ms\"" }
      dwell = time
      return nil
    case "again":
      switch value.text {
      case "session"?, "never"?: again = .never
      case "always"?: again = .always
      case let text?:
        guard let time = RuleUnits.duration(text), time > 0 else { fallthrough }
        again = .after(time)
      default: return "'again' is \"session\" (once in a run), \"always\", or a time such as \"10s\""
      }
      return nil
    default: break
    }
    guard let text = value.text, !text.isEmpty else { return "'\(field)' is a text" }
    switch field {
    case "base": base = text
    case "frame": frame = text
    case "within": within = text
    case "key": key = text
    default: name = text
    }
    return nil
  }

  /// What is missing.
  var problem: String? {
    if base.isEmpty { return "needs 'base', the class of views" }
    return frame.isEmpty ? "needs 'frame', the path of a view's place, such as \"self.frame\"" : nil
  }

  /// The method after which a view is looked at, where the rule names none: the setter of its frame.
  var setter: String? {
    let steps = frame.split(separator: ".")
    return steps.count == 2 && steps[0] == "self" ? "\(steps[1]).set" : nil
  }
}

/// What is known of the views of one rule. Any thread.
final class Exposures: Sendable {
  struct View: Sendable {
    var object: UInt
    /// Since when it is exposed; 0: it is not.
    var since: UInt64 = 0
    /// Counts its changes, so that what was waited for is known to last.
    var change: UInt64 = 0
    var recorded = 0
    var last: UInt64 = 0
  }
  private let views = Mutex<[UInt64: View]>([:])
  /// Of more, the newest are not recorded.
  private static let most = 65_536

  /// Notes whether the view is exposed now.
  /// - Returns: its change, when a record of it is to be waited for.
  func note(_ key: UInt64, _ object: UInt, isExposed: Bool, now: UInt64, again: ExposureDefinition.Again) -> UInt64? {
    views.withLock { views in
      guard isExposed else {
        if views[key]?.since ?? 0 != 0 {
          views[key]!.since = 0
          views[key]!.change &+= 1
        }
        return nil
      }
      guard views[key] != nil || views.count < Self.most else { return nil }
      var view = views[key] ?? View(object: object)
      defer { views[key] = view }
      guard view.since == 0 || view.object != object else { return nil }
      view.object = object
      view.since = now
      view.change &+= 1
      switch again {
      case .never where view.recorded > 0: return nil
      case .after(let time) where view.recorded > 0 && now &- view.last < time: return nil
      default: return view.change
      }
    }
  }

  /// It has lasted: how often it was recorded with this time; nil where it has ended.
  func lasted(_ key: UInt64, _ change: UInt64, now: UInt64) -> Int? {
    views.withLock { views in
      guard var view = views[key], view.change == change, view.since != 0 else { return nil }
      view.recorded += 1
      view.last = now
      views[key] = view
      return view.recorded
    }
  }

  /// The object ends: another one may come to its address.
  func forget(_ object: UInt, isKey: Bool) {
    views.withLock { views in
      if isKey { return views[mixed(UInt64(object))] = nil }
      for (key, view) in views where view.object == object && view.since != 0 {
        views[key]!.since = 0
        views[key]!.change &+= 1
      }
    }
  }
}

/// One function after which views are looked at. Released when no call can be in it any more.
final class ExposureLayer: @unchecked Sendable {
  // Immutable.
  private let name: RecordName
  private let rule: CompiledRule
  private let exposure: ExposureDefinition
  private let frame: CapturePath
  private let within: CapturePath?
  private let key: ExchangeKey
  private let views: Exposures
  private let declared: String
  private let log: HostLog

  private init(_ exposure: ExposureDefinition, _ rule: CompiledRule, _ family: Family, _ views: Exposures, log: HostLog) throws(RuleProblem) {
    frame = try CapturePath(exposure.frame, for: family, rights: rule.rights)
    within = exposure.within.isEmpty ? nil : try CapturePath(exposure.within, for: family, rights: rule.rights)
    key = try ExchangeKey([exposure.key.isEmpty ? "self" : exposure.key], for: family, rights: rule.rights)
    name = RecordName(exposure.name)
    declared = family.declaration.context.map { "\($0)" } ?? exposure.base
    self.rule = rule
    self.exposure = exposure
    self.views = views
    self.log = log
  }

  static func spec(
    _ exposure: ExposureDefinition, _ rule: CompiledRule, _ family: Family, _ views: Exposures, _ patch: Environment
  ) throws(RuleProblem) -> LayerSpec {
    let layer = try ExposureLayer(exposure, rule, family, views, log: patch.log)
    return LayerSpec(exposureLayer, keeping: layer, phases: UInt32(HKT_ON_EXIT), owner: patch.id)
  }

  fileprivate func look(_ view: CallView) {
    if rule.passesBy(view) { return }
    guard let object = view.selfObject, let key = key.value(view, rule.printer)?.whole else { return }
    let thread = ScriptThread.of(view.call.pointee.thread)
    let share = share(view)
    let isExposed = share >= exposure.area && rule.admits(view, atExit: true)
    let now = hkt_now_ns()
    guard let change = views.note(key, UInt(bitPattern: object), isExposed: isExposed, now: now, again: exposure.again) else { return }
    let about = about(view, share, thread)
    if exposure.dwell == 0 { return record(key, change, about) }
    RuleClock.after(exposure.dwell) { [self] in record(key, change, about) }
  }

  /// Type, share and fields, as they are when it begins.
  private func about(_ view: CallView, _ share: Double, _ thread: UnsafeMutablePointer<ScriptThread>) -> [UInt8] {
    var writer = FieldWriter(name.borrowed, into: thread.pointee.recordBuffer)
    let start = writer.count
    let names = ExposureFieldNames.shared
    SpanFieldNames.shared.add(names.type, TreeRule.type(of: view, declared), &writer)
    SpanFieldNames.shared.add(names.area, ControlLayer.decimals(share), &writer)
    for field in rule.fields { field.add(view, atExit: true, rule.printer, &writer) }
    return Array(writer.encoded(from: start))
  }

  private func record(_ key: UInt64, _ change: UInt64, _ about: [UInt8]) {
    guard let times = views.lasted(key, change, now: hkt_now_ns()), rule.gate.hasRoom() else { return }
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 16) { buffer in
      var writer = FieldWriter(name.borrowed, into: buffer)
      about.withUnsafeBytes { writer.addEncoded($0) }
      writer.add(ExposureFieldNames.shared.times, Int64(times))
      log.append(.event, &writer)
    }
  }

  // MARK: Places

  /// How much of the view is seen: 0 where it has no place, or nothing is around it.
  private func share(_ view: CallView) -> Double {
    guard let own = place(frame, view), own.width > 0, own.height > 0 else { return 0 }
    guard let within else { return 1 }
    guard let around = place(within, view) else { return 0 }
    let width = min(own.x + own.width, around.x + around.width) - max(own.x, around.x)
    let height = min(own.y + own.height, around.y + around.height) - max(own.y, around.y)
    return width > 0 && height > 0 ? width * height / (own.width * own.height) : 0
  }

  /// The four numbers of a rectangle, in the order of its fields; nil for anything else.
  private func place(_ path: CapturePath, _ view: CallView) -> (x: Double, y: Double, width: Double, height: Double)? {
    var numbers: [Double] = []
    path.read(view, atExit: true) { value in
      guard case .other(let memory, let type) = value, type._withUnsafeGuaranteedRef({ ControlLayer.collect(memory, $0, &numbers) }) else {
        return numbers = []
      }
    }
    return numbers.count == 4 ? (numbers[0], numbers[1], numbers[2], numbers[3]) : nil
  }
}

/// The end of an object.
private final class ExposureEndLayer: Sendable {
  let views: Exposures
  let isKey: Bool
  init(_ views: Exposures, isKey: Bool) {
    self.views = views
    self.isKey = isKey
  }

  static func spec(_ views: Exposures, isKey: Bool, _ patch: Environment) -> LayerSpec {
    LayerSpec(exposureEndLayer, keeping: ExposureEndLayer(views, isKey: isKey), phases: UInt32(HKT_ON_ENTER), owner: patch.id)
  }
}

private struct ExposureFieldNames: Sendable {
  let type = FieldName.Borrowed("type"), area = FieldName.Borrowed("area"), times = FieldName.Borrowed("times")
  static let shared = ExposureFieldNames()
}

private let exposureLayer: HKTLayerFunction = { call, context, _ in
  guard let call, let context else { return HKT_HANDLED }
  // The context is the layer that was retained for the hook.
  Unmanaged<ExposureLayer>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.look(CallView(call)) }
  return HKT_HANDLED
}

private let exposureEndLayer: HKTLayerFunction = { call, context, _ in
  guard let call, let context, let object = CallView(call).selfObject else { return HKT_HANDLED }
  // The context is the layer that was retained for the hook.
  Unmanaged<ExposureEndLayer>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.views.forget(UInt(bitPattern: object), isKey: $0.isKey) }
  return HKT_HANDLED
}

enum ExposureAPI {
  static let functions: [(String, SHLFunction)] = [("exposure", exposure)]

  private static let exposure: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      if let refusal = patch.refusal("a rule", "exposure") { return callback.fail(refusal) }
      do throws(RuleProblem) { return RuleAPI.answer(try install(patch, callback), patch, callback) } catch { return callback.fail(error.text) }
    }
  }

  private static func install(_ patch: Environment, _ callback: LuaCallback) throws(RuleProblem) -> InstalledRule {
    var own = ExposureDefinition()
    var definition = try RuleReader.read(
      verb: "exposure", name: "", callback[0], callback, fields: ExposureDefinition.fields, needsSelector: false) { own.set($0, $1) }
    let exposure = own
    if let problem = exposure.problem { throw RuleProblem("exposure: \(problem)") }
    guard let member = definition.selector.isEmpty ? exposure.setter : definition.selector else {
      throw RuleProblem("exposure: needs 'on', a method of '\(exposure.base)' after which a view's place is looked at")
    }
    definition.name = exposure.name
    definition.atExit = true
    let views = Exposures()
    let isKey = exposure.key.isEmpty || exposure.key == "self"
    // Without it, a view at the address of one that has ended would be taken for it.
    var ending = RuleDefinition(verb: "exposure", name: "\(exposure.name) (end)", selector: "\(exposure.base).deinit")
    (ending.waits, ending.isOptional) = (definition.waits, definition.isOptional)
    let end = try RuleInstaller.install(ending, patch) { _, _ throws(RuleProblem) in ExposureEndLayer.spec(views, isKey: isKey, patch) }
    do throws(RuleProblem) {
      let rule = try TreeRule.install(member, of: exposure.base, definition, patch) { rule, family throws(RuleProblem) in
        try ExposureLayer.spec(exposure, rule, family, views, patch)
      }
      rule.add(parts: [end])
      return rule
    } catch {
      _ = end.remove()
      throw error
    }
  }
}
