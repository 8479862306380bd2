// CallRecorder — `run --record-calls GLOB`: keeps what functions of the program were called with, so that a canary can call them again.
//
// Of each function a few different calls are kept; then its layer does nothing any more. Only calls whose receiver and arguments can be
// made again are kept.
internal import CHookTrampoline
private import Glibc
internal import HookRuntime
internal import Journal
internal import SwiftMangling
private import Synchronization

final class CallRecorder: Sendable {
  private let place: RawPath
  private let buildID: String
  private let log: HostLog
  private struct State {
    var calls: RecordedCalls
    var isWritten = true
  }
  private let state: Mutex<State>

  init(_ place: RawPath, buildID: String, log: HostLog) {
    (self.place, self.buildID, self.log) = (place, buildID, log)
    state = Mutex(State(calls: RecordedCalls(reading: place, buildID: buildID)))
  }

  /// Hooks what the patterns name; functions that are none of those that can be called again are reported once.
  func begin(_ patterns: [String]) {
    for pattern in patterns {
      guard case .success(let found) = SelectorLookup.resolve(pattern) else {
        log.say("--record-calls: " + (SelectorLookup.typeProblem(pattern) ?? "no function matches '\(pattern)'"))
        continue
      }
      var layers: [FamilyName: RecordLayer] = [:]
      var requests: [HookRequest] = []
      for (image, family) in found where Self.isPlain(family) {
        let isOnObject = family.declaration.hasInstance && family.declaration.context != nil
        layers[FamilyName(family)] = RecordLayer(self, family.selector, isOnObject: isOnObject)
        requests.append(HookRequest(image: image, family: family, mayChoose: true))
      }
      let made = layers
      let report = HookEngine.shared.install(requests) { made[FamilyName($0)]!.spec() }
      log.note(
        "recorded calls",
        "'\(pattern)': calls of \(report.tokens.count) functions are recorded, \(found.count - report.tokens.count) cannot be called again")
    }
  }

  private static func isPlain(_ family: Family) -> Bool {
    let declaration = family.declaration
    switch declaration.kind {
    case .`init`, .allocatingInit, .`deinit`, .deallocatingDeinit, .isolatedDeinit, .setter: return false
    default:
      return !declaration.isCoroutine && !declaration.functionType.isAsync
        && (!declaration.hasInstance || declaration.context == nil || declaration.contextKind == .classType)
    }
  }

  /// Reported once for each function.
  func cannot(_ selector: String, _ why: String) { log.note("recorded calls", "a call of '\(selector)' cannot be made again: \(why)") }

  func room(for selector: String) -> Int { state.withLock { $0.calls.room(for: selector) } }

  func add(_ call: RecordedCall) {
    state.withLock { if $0.calls.add(call) { $0.isWritten = false } }
  }

  /// Writes what is new, beside what another process of the program has written.
  func write() {
    let calls = state.withLock { state in
      defer { state.isWritten = true }
      return state.isWritten ? nil : state.calls
    }
    guard let calls else { return }
    var all = RecordedCalls(reading: place, buildID: buildID)
    for call in calls.calls { _ = all.add(call) }
    if !all.write(to: place, buildID: buildID) { log.say("'\(place)' cannot be written, \(systemMessage(errno)); recorded calls are lost") }
  }
}

private final class RecordLayer: Sendable {
  private let recorder: CallRecorder
  private let selector: String
  private let isOnObject: Bool
  private let isFull = Atomic<Bool>(false)
  private let isReported = Atomic<Bool>(false)

  init(_ recorder: CallRecorder, _ selector: String, isOnObject: Bool) {
    (self.recorder, self.selector, self.isOnObject) = (recorder, selector, isOnObject)
  }

  func spec() -> LayerSpec {
    LayerSpec(recordLayer, keeping: self, phases: UInt32(HKT_ON_ENTER), priority: .max, owner: "calls")
  }

  /// Records the arguments of a call that begins, where all of them can be spelled. On the caller's thread.
  func call(_ call: UnsafeMutablePointer<HKTCall>) {
    if isFull.load(ordering: .relaxed) { return }
    guard recorder.room(for: selector) > 0 else { return isFull.store(true, ordering: .relaxed) }
    let view = CallView(call)
    var arguments: [JSONValue] = []
    for (index, argument) in view.plan.arguments.enumerated() {
      guard !argument.isInout, let info = argument.info,
        let text = view.reader.withMemory(argument.location, info, isResult: false, { PlainValue.text($0, info) }) ?? nil
      else { return cannot("argument \(index + 1) is \(argument.info?.name ?? "of a type that is not known")") }
      arguments.append(text)
    }
    guard isOnObject else { return recorder.add(RecordedCall(selector, on: nil, arguments)) }
    guard let object = view.selfObject else { return cannot("its object is not there: the optimiser left it out") }
    // What nobody reads of an object in a frame the optimiser never stores.
    let address = UInt64(UInt(bitPattern: object))
    if let thread = call.pointee.thread, address >= thread.pointee.stack_low, address < thread.pointee.stack_high {
      return cannot("its object is in a frame: the optimiser left parts of it out")
    }
    let type = Metadata(object.load(as: UnsafeRawPointer.self))
    guard let fields = PlainValue.fields(of: object) else { return cannot("its object of \(type.name) holds more than plain values") }
    recorder.add(RecordedCall(selector, on: (type.name, fields), arguments))
  }

  private func cannot(_ why: String) {
    if !isReported.exchange(true, ordering: .relaxed) { recorder.cannot(selector, why) }
  }
}

private let recordLayer: HKTLayerFunction = { call, context, _ in
  guard let call, let context else { return HKT_HANDLED }
  // The context is the layer that was retained for this hook.
  Unmanaged<RecordLayer>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.call(call) }
  return HKT_HANDLED
}

extension BootTask {
  static let callRecorder = BootTask("call recorder", .scripts, priority: 60) { context in
    let patterns = context.settings.allBytes(.recordCalls).map { String(decoding: $0, as: UTF8.self) }
    guard !patterns.isEmpty, !context.settings.has(.test), !context.settings.has(.canaryChild) else { return .goOn }
    guard let state = context.state else {
      context.log.say("--record-calls: there is no state directory to keep calls in")
      return .goOn
    }
    let recorder = CallRecorder(
      RecordedCalls.place(state: state, program: context.program), buildID: context.settings.text(.buildID) ?? "", log: context.log)
    recorder.begin(patterns)
    context.atEnd { recorder.write() }
    // For programs that are ended by a signal.
    _ = HostThread.start("sh-calls", stack: 256 << 10) {
      while true {
        sleep(1)
        recorder.write()
      }
    }
    return .goOn
  }
}
