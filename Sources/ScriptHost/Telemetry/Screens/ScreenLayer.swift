// ScreenLayer — `screen`: what appears and disappears, or runs. No Lua runs when it fires.
internal import CHookTrampoline
internal import HookRuntime
internal import Journal
internal import SwiftMangling

/// One function of a screen's rule. Released when no call can be in it any more.
final class ScreenLayer: @unchecked Sendable {
  enum Role: UInt, Sendable { case appear, disappear, during }

  // Immutable.
  private let role: Role
  private let title: ScreenTitle
  private let rule: CompiledRule
  private let board: ScreenBoard
  private let declared: String
  private let isObject: Bool
  private let log: HostLog

  private init(_ role: Role, _ screen: ScreenDefinition, _ rule: CompiledRule, _ family: Family, _ board: ScreenBoard, log: HostLog)
    throws(RuleProblem)
  {
    self.role = role
    title = role == .disappear ? .type : try ScreenTitle(screen.name, for: family, rights: rule.rights)
    self.rule = rule
    self.board = board
    self.log = log
    declared = family.declaration.context.map { "\($0)" } ?? screen.base
    isObject = family.declaration.contextKind == .classType
  }

  /// The layer for one function.
  static func spec(
    _ role: Role, _ screen: ScreenDefinition, _ rule: CompiledRule, _ family: Family, _ board: ScreenBoard, _ patch: Environment
  ) throws(RuleProblem) -> LayerSpec {
    if rule.asksAtExit { throw RuleProblem("'where' of a screen is asked when it appears; result, error and duration are not known then") }
    if role != .during, rule.needsExit {
      throw RuleProblem("fields of a screen are read when it appears; result, error and duration are not known then")
    }
    let layer = try ScreenLayer(role, screen, rule, family, board, log: patch.log)
    return LayerSpec(screenLayer, keeping: layer, phases: UInt32(HKT_ON_ENTER | HKT_ON_EXIT | (rule.needsTime ? HKT_TIMED : 0)), owner: patch.id)
  }

  /// What calls of one chain of overrides have in common: the board is aligned, its role is in the low bits.
  private var key: UInt { UInt(bitPattern: Unmanaged.passUnretained(board).toOpaque()) | role.rawValue }

  /// Its self; its own address where there is no chain of overrides.
  private func object(_ view: CallView) -> UInt {
    if let object = view.selfAddress { return UInt(bitPattern: object) }
    return isObject ? 0 : UInt(bitPattern: view.call)
  }

  // MARK: Begin

  fileprivate func begin(_ view: CallView) {
    if rule.passesBy(view) { return }
    let thread = ScriptThread.of(view.call.pointee.thread)
    let object = object(view)
    let isAsync = view.call.pointee.is_async != 0
    let isLeaf =
      isAsync ? object == 0 || board.begin(object ^ role.rawValue) : thread.pointee.open.begin(UInt(bitPattern: view.call), object: object, key: key)
    guard isLeaf else { return }
    Effects.note()
    var number: UInt64 = 0
    if role == .disappear { disappear(object, thread) } else { number = appear(view, object, thread, isAsync) }
    // An async call keeps a word with it: odd numbers, so that none is 0.
    if isAsync { hkt_async_layer(view.call).pointee.state = UnsafeMutableRawPointer(bitPattern: UInt(number) << 1 | 1) }
    if !isAsync, number != 0 { thread.pointee.open.setNumber(number) }
  }

  /// Its number; 0 when the rule leaves it out.
  private func appear(_ view: CallView, _ object: UInt, _ thread: UnsafeMutablePointer<ScriptThread>, _ isAsync: Bool) -> UInt64 {
    guard rule.admits(view, atExit: false) else { return 0 }
    StartupStages.reachFirst()
    let type = TreeRule.type(of: view, declared)
    let screen = ScreenBoard.Shown(
      object: role == .during ? 0 : object, number: 0, start: hkt_now_ns(), name: title.text(view, type: type, rule.printer), type: type,
      path: "", previous: nil, attributes: rule.hasEarlyFields ? rule.bytes(of: rule.fields, view, thread) : [])
    let shown = board.appear(screen) { [role, key] in
      role == .appear ? true : !isAsync && thread.pointee.open.holds($0.number, key: key)
    }
    write(shown, nil, nil, thread)
    return shown.number
  }

  /// What the object showed has gone: writes how long it was there.
  private func disappear(_ object: UInt, _ thread: UnsafeMutablePointer<ScriptThread>) {
    guard let shown = board.disappear(object: object) else { return }
    write(shown, hkt_now_ns() &- shown.start, nil, thread)
  }

  // MARK: End

  fileprivate func end(_ view: CallView) {
    let thread = ScriptThread.of(view.call.pointee.thread)
    guard let number = number(view, thread), number != 0, role == .during else { return }
    guard let shown = board.disappear(number: number) else { return }
    write(shown, hkt_now_ns() &- shown.start, view, thread)
  }

  /// What the call began; nil when it was not the leaf.
  private func number(_ view: CallView, _ thread: UnsafeMutablePointer<ScriptThread>) -> UInt64? {
    guard view.call.pointee.is_async != 0 else { return thread.pointee.open.end(UInt(bitPattern: view.call), key: key) }
    guard let state = hkt_async_layer(view.call).pointee.state else { return nil }
    hkt_async_layer(view.call).pointee.state = nil
    let object = object(view)
    if object != 0 { board.end(object ^ role.rawValue) }
    return UInt64(UInt(bitPattern: state)) >> 1
  }

  // MARK: Writing

  /// - Parameters:
  ///   - duration: nanoseconds, of a disappearance.
  ///   - view: the call that is over, whose late fields are added.
  private func write(_ shown: ScreenBoard.Shown, _ duration: UInt64?, _ view: CallView?, _ thread: UnsafeMutablePointer<ScriptThread>) {
    let names = ScreenFieldNames.shared
    let add = SpanFieldNames.shared.add
    var writer = FieldWriter(FieldName(shown.name, masked: false), into: thread.pointee.recordBuffer)
    add(names.phase, duration == nil ? "appear" : "disappear", &writer)
    add(names.type, shown.type, &writer)
    if let previous = shown.previous { add(names.previous, previous, &writer) }
    add(names.path, shown.path, &writer)
    writer.add(names.number, shown.number)
    add(names.session, ScreenFieldNames.run, &writer)
    if let duration { writer.add(names.duration, duration) }
    if !rule.fields.isEmpty || !shown.attributes.isEmpty {
      writer.beginObject(names.attributes)
      shown.attributes.withUnsafeBytes { writer.addEncoded($0) }
      if let view { for field in rule.fields where field.isLate { field.add(view, atExit: true, rule.printer, &writer) } }
      writer.end()
    }
    log.append(.screen, &writer)
    log.happened("screen \(shown.name) \(duration == nil ? "appears" : "disappears")")
  }
}

/// Names of the fields of every screen's record, as `ScreenRecord` has them.
struct ScreenFieldNames: Sendable {
  let phase = FieldName.Borrowed("phase"), type = FieldName.Borrowed("type"), previous = FieldName.Borrowed("previous"),
    path = FieldName.Borrowed("path"), number = FieldName.Borrowed("number")
  let session = FieldName.Borrowed("session"), duration = FieldName.Borrowed("duration_ns"), attributes = FieldName.Borrowed("attributes")
  static let shared = ScreenFieldNames()
  /// Names the run of the program.
  static let run = {
    var source = SystemRandomNumberGenerator()
    return EventText.hexadecimal(source.next(), nil)
  }()
}

private let screenLayer: HKTLayerFunction = { call, context, phase in
  guard let call, let context else { return HKT_HANDLED }
  // The context is the layer that was retained for the hook.
  Unmanaged<ScreenLayer>.fromOpaque(context)._withUnsafeGuaranteedRef {
    if phase == HKT_EXIT { $0.end(CallView(call)) } else { $0.begin(CallView(call)) }
  }
  return HKT_HANDLED
}
