// TrackRule — an event as data: which call, which fields. No Lua runs when it fires.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import Journal
internal import LuaBridge
internal import SwiftMangling

final class TrackRule: @unchecked Sendable {
  // Immutable.
  private let name: FieldName.Lent
  private let steps: UnsafeMutableBufferPointer<CaptureStep>
  let fields: [(name: FieldName, path: CapturePath)]
  let log: HostLog
  let selector: String
  /// Where other types' calls may come: handlers pass them by, too.
  private let receiver: ReceiverCheck?
  private let printer = ValuePrinter(isSecret: { Masking.isSecret($0) })

  init(name: String, fields: [(name: FieldName, path: CapturePath)], log: HostLog, family: Family) {
    self.name = FieldName(name, masked: false).borrowedForEver()
    steps = .allocate(capacity: fields.count)
    for (index, field) in fields.enumerated() {
      steps.initializeElement(at: index, to: CaptureStep(name: field.name.borrowedForEver(), source: field.path.source))
    }
    self.fields = fields
    self.log = log
    selector = family.selector
    receiver = ReceiverCheck(whereSharedBy: family)
  }

  deinit {
    for step in steps { step.name.free() }
    steps.deallocate()
    name.free()
  }

  fileprivate func fire(_ view: CallView, atExit: Bool) {
    if let receiver, receiver.passesBy(view) { return }
    var writer = FieldWriter(name, into: ScriptThread.of(view.call.pointee.thread).pointee.recordBuffer)
    for index in 0..<steps.count where !steps[index].capture(view, atExit: atExit, &writer) {
      let field = fields[index]
      field.path.capture(view, atExit: atExit, field.name, printer, &writer)
    }
    log.append(.event, &writer)
  }

  private static let known = ["on", "at", "fields", "wait"]
  private static let later = ["where", "sample", "rate", "dedupe", "pii"]

  /// Completes `track "name" { … }`.
  static func install(name: String, patch: Patch, _ callback: LuaCallback) -> Int32 {
    let rule = callback[0]
    guard rule.tag == SHL_TABLE else { return callback.fail("track '\(name)' takes a table: { on = \"…\", fields = { … } }") }
    var draft = Draft()
    var problem: String?
    callback.forEach(in: rule) { key, value in
      problem = key.text.map { draft.set($0, value, callback) } ?? "fields are named"
      return problem == nil
    }
    if let problem { return callback.fail("track '\(name)': \(problem)") }
    guard let selector = draft.selector else { return callback.fail("track '\(name)' needs 'on', the selector of the call") }
    return install(name, selector, draft.paths.sorted { $0.0 < $1.0 }, draft.atExit, waits: draft.waits, patch, callback)
  }

  /// A rule as it is read from its table.
  private struct Draft {
    var selector: String?
    var atExit = false
    var waits = false
    var paths: [(String, String)] = []

    /// Sets one field; answers what is wrong with it.
    mutating func set(_ field: String, _ value: SHLValue, _ callback: LuaCallback) -> String? {
      switch field {
      case "on":
        selector = value.text
        return selector == nil ? "'on' is a selector" : nil
      case "at":
        guard let text = value.text, text == "enter" || text == "exit" else { return "'at' is \"enter\" or \"exit\"" }
        atExit = text == "exit"
        return nil
      case "wait":
        guard value.tag == SHL_BOOL else { return "'wait' is true or false" }
        waits = value.b
        return nil
      case "fields":
        guard value.tag == SHL_TABLE else { return "'fields' is a table of paths" }
        var problem: String?
        callback.forEach(in: value) { name, path in
          if let name = name.text, let path = path.text {
            paths.append((name, path))
          } else {
            problem = "'fields' maps names to paths, such as total = \"self.total\""
          }
          return problem == nil
        }
        return problem
      case _ where TrackRule.later.contains(field): return "'\(field)' is not supported yet; leave it out"
      default: return "unknown field '\(field)'; known are \(TrackRule.known.joined(separator: ", "))"
      }
    }
  }

  private static func install(
    _ name: String, _ selector: String, _ paths: [(String, String)], _ atExit: Bool, waits: Bool, _ patch: Patch, _ callback: LuaCallback
  ) -> Int32 {
    var found: [(ImageCatalog, Family)] = []
    switch SelectorLookup.resolve(selector) {
    case .failure(let problem): if !waits || !problem.mayAppear { return callback.fail("track '\(name)': \(problem)") }
    case .success(let families): found = families
    }
    let template = Template(name: name, paths: paths, atExit: atExit, patch: patch)
    // Checked for all before anything is installed; an image may be loaded twice.
    var layers: [FamilyName: [LayerSpec]] = [:]
    func dropLayers() { for layer in layers.values.joined() { layer.release?(layer.context) } }
    for (_, family) in found {
      do throws(CapturePath.Problem) { layers[FamilyName(family), default: []].append(try template.layer(family)) } catch {
        dropLayers()
        return callback.fail("track '\(name)': \(error.text)")
      }
    }
    let isGlob = SelectorPattern(selector).isGlob
    let requests = found.map { HookRequest(image: $0, family: $1, mayChoose: true) }
    let report = HookEngine.shared.install(requests) { layers[FamilyName($0)]!.removeLast() }
    dropLayers()
    patch.add(report.tokens.map(\.token), areExact: !isGlob)
    if !isGlob, report.tokens.isEmpty, let (name, reason) = report.refused.first {
      return callback.fail("cannot track '\(name)': \(reason)")
    }
    if !isGlob { report.tellReach(patch) }
    if waits { wait(selector, template, besides: found.map { FamilyName($0.1) }, isExact: !isGlob) }
    return callback.done()
  }

  /// Tracks what images bring of the selector from now on.
  private static func wait(_ selector: String, _ template: Template, besides known: [FamilyName], isExact: Bool) {
    let patch = template.patch
    _ = HookEngine.shared.wait(
      WaitRequest(selector: selector, owner: patch.id, mayChoose: true, known: Set(known)) { family in
        guard patch.isLive else { return nil }
        do throws(CapturePath.Problem) { return try template.layer(family) } catch {
          patch.log.say("\(patch.fileName): cannot track '\(template.name)' of '\(family.selector)', which appeared: \(error.text)")
          return nil
        }
      } landed: { report in
        patch.add(report.tokens.map(\.token), areExact: isExact)
        patch.log.note("rule landed", "\(patch.fileName): '\(selector)' appeared: \(report.tokens.count) tracked as '\(template.name)'")
        if isExact { report.tellReach(patch) }
      })
  }

  /// A rule before it is for a certain function.
  private struct Template: Sendable {
    let name: String
    let paths: [(String, String)]
    let atExit: Bool
    let patch: Patch

    func layer(_ family: Family) throws(CapturePath.Problem) -> LayerSpec {
      var fields: [(name: FieldName, path: CapturePath)] = []
      var needsExit = atExit
      var needsTime = false
      for (field, path) in paths {
        do throws(CapturePath.Problem) {
          let capture = try CapturePath(path, for: family)
          needsExit = needsExit || capture.needsExit
          needsTime = needsTime || capture.root == .duration
          fields.append((FieldName(given: field), capture))
        } catch { throw CapturePath.Problem(text: "field '\(field)': \(error.text)") }
      }
      let rule = TrackRule(name: name, fields: fields, log: patch.log, family: family)
      return LayerSpec(
        function: trackLayer, context: Unmanaged.passRetained(rule).toOpaque(),
        phases: UInt32(needsExit ? HKT_ON_EXIT | (needsTime ? HKT_TIMED : 0) : HKT_ON_ENTER), owner: patch.id
      ) { Unmanaged<TrackRule>.fromOpaque($0!).release() }
    }
  }
}

private let trackLayer: HKTLayerFunction = { call, context, phase in
  guard let call, let context else { return HKT_HANDLED }
  // The context is the rule that install retained for this layer.
  Unmanaged<TrackRule>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.fire(CallView(call), atExit: phase == HKT_EXIT) }
  return HKT_HANDLED
}
