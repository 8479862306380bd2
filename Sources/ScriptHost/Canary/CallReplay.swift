// CallReplay — in a child that tries a patch: recorded calls are made twice without the patch, and once with it.
//
// A call whose two results without the patch differ tells nothing but whether it traps: it depends on more than what it was given.
internal import CHookTrampoline
private import Glibc
internal import HookRuntime
internal import Journal
private import Synchronization

/// What is replayed in this process.
enum CallReplay {
  private struct Sample: Sendable {
    let call: RecordedCall
    /// Without the patch; nil: it differs from call to call.
    let outcome: String?
  }
  private static let samples = Mutex<[Sample]>([])

  /// Makes the calls before the patch is loaded.
  /// - Parameter say: told of each call before it is made.
  static func prepare(_ calls: [RecordedCall], say: (String) -> Void) {
    for call in calls {
      say(call.selector)
      guard let first = run(call) else { continue }
      let second = run(call)
      samples.withLock { $0.append(Sample(call: call, outcome: first == second ? first : nil)) }
    }
  }

  /// Makes them again.
  /// - Returns: how many there were, and the first one whose result is another, in words.
  static func compare(say: (String) -> Void) -> (count: Int, change: String?) {
    var change: String?
    let all = samples.withLock { $0 }
    for sample in all {
      say(sample.call.selector)
      let outcome = run(sample.call) ?? "cannot be called"
      // A trap is one whatever it was before.
      guard change == nil, let expected = sample.outcome, outcome != expected else { continue }
      change = "'\(sample.call.selector)' with \(shown(sample.call)) \(outcome) with it, and \(expected) without"
    }
    return (all.count, change)
  }

  private static func shown(_ call: RecordedCall) -> String {
    let text = JSONValue.array(call.arguments).line
    return text.utf8.count <= 200 ? text : "\(text.prefix(200))…"
  }

  // MARK: One call

  /// What comes of it, in words: `answers 3`, `throws closed`, `traps: …`; nil where it cannot be made.
  private static func run(_ call: RecordedCall) -> String? {
    guard let callable = try? CallableLookup.shared.callable(call.selector), callable.argumentCount == call.arguments.count,
      !callable.isGeneric, !callable.isAsync, !callable.hasInout, !callable.isOnValue
    else { return nil }
    var receiver: UInt = callable.owner.map { UInt(bitPattern: $0.pointer) } ?? 0
    var entry = callable.entry
    var object: UnsafeMutableRawPointer?
    if callable.isOnObject {
      guard let recorded = call.receiver, let type = TypeCatalog.shared.descriptor(recorded.type)?.metadata(),
        let made = PlainValue.object(of: type, recorded.fields)
      else { return nil }
      object = made
      receiver = UInt(bitPattern: made)
      entry = VirtualCall.entry(of: callable, for: type)
    } else if call.receiver != nil || callable.wantsInstance {
      return nil
    }
    // The object is ours: no handle, no scope of a script has it.
    defer { if let object { ProgramCall.release(UInt(bitPattern: object)) } }
    return withUnsafeTemporaryAllocation(byteCount: max(callable.blockBytes, 16), alignment: 16) { block in
      let block = block.baseAddress!
      for (index, text) in call.arguments.enumerated() {
        let argument = callable.arguments[index]
        guard PlainValue.make(text, argument.info, at: block + argument.offset) else {
          for made in 0..<index { callable.arguments[made].destroy(block) }
          return nil
        }
      }
      let result = callable.result.map { OwnedValue(uninitialized: $0) }
      var error: UInt = 0
      if let trap = Containment.catching({ error = callable.run(block, receiver: receiver, entry: entry, result: result?.memory, trap: $0) }) {
        result?.forget()
        // The call was left: what it made of the object is not known.
        object = nil
        return "traps: \(trap.reason)"
      }
      if error != 0 {
        result?.forget()
        // An owned reference to the box.
        let thrown = ErrorBox.taking(error)
        return "throws \(thrown)"
      }
      guard let result else { return "returns" }
      defer { ProgramCall.asProgram { result.destroy() } }
      if let text = PlainValue.text(result.memory, result.info) { return "answers \(text.line)" }
      let value: Any? = TypedValue.load(result.memory, result.info, as: Any.self)
      return "answers \(String(describing: value).prefix(4096))"
    }
  }
}

extension BootTask {
  /// In a child that replays: before the patch is there.
  static let callReplay = BootTask("call replay", .scripts, priority: 105) { context in
    guard context.settings.text(.canaryChild) == CanaryKind.replay.rawValue, let state = context.state else { return .goOn }
    let calls = RecordedCalls(
      reading: RecordedCalls.place(state: state, program: context.program), buildID: context.settings.text(.buildID) ?? "")
    asProgram { CallReplay.prepare(calls.calls) { CanaryWords.say(CanaryWords.recalling, $0) } }
    return .goOn
  }
}

/// Runs `body` as the program runs, not as the host: its calls are hooked.
func asProgram<R>(_ body: () -> R) -> R {
  let thread = hkt_thread(), depth = thread?.pointee.host ?? 0
  thread?.pointee.host = 0
  defer { thread?.pointee.host = depth }
  return body()
}
