// TimerAPI — timer.after(time, handler, options) and timer.every(time, handler, options): calls of a script by the clock.
internal import CHookTrampoline
internal import CLuaShim
private import Glibc
internal import HookRuntime
internal import Journal
internal import LuaBridge

enum TimerAPI {
  static let handles = HandleClass("timer", tostring: toString, release: release)

  static let functions: [(String, SHLFunction)] = [
    ("timer.after", { context, callback in withPatch(context, callback) { make(false, $0, $1) } }),
    ("timer.every", { context, callback in withPatch(context, callback) { make(true, $0, $1) } }),
  ]

  static let members = NamedFunctions([("cancel", cancel)])

  private static func make(_ repeats: Bool, _ patch: Environment, _ callback: LuaCallback) -> Int32 {
    let verb = "timer.\(repeats ? "every" : "after")"
    if let refusal = patch.refusal("a timer", verb) { return callback.fail(refusal) }
    guard let time = nanoseconds(callback[0]) else {
      return callback.fail("'\(verb)' takes seconds, or a time such as \"100ms\", found \(ValueBridge.spelled(callback[0]))")
    }
    if repeats, time < RuleUnits.shortestRepetition { return callback.fail("'\(verb)' calls at most once in a millisecond") }
    guard callback[1].tag == SHL_FUNCTION else {
      return callback.fail("'\(verb)' takes a function behind the time, found \(ValueBridge.spelled(callback[1]))")
    }
    var isOnMain = false
    var target: AnyObject?
    if let problem = read(callback[2], &isOnMain, &target, patch, callback) { return callback.fail("'\(verb)': \(problem)") }
    if isOnMain, MainQueue.shared == nil {
      return callback.fail("'\(verb)': this program has no main queue: it does not use libdispatch; leave 'main' out")
    }
    let function = shl_keep(callback.scope, callback[1])
    guard function != 0 else { return callback.fail("out of memory") }
    let (source, line) = callback.caller
    let timer = PatchTimer(
      function, of: patch, due: clockNanoseconds(CLOCK_MONOTONIC) + time, interval: repeats ? time : nil, target: target, isOnMain: isOnMain,
      place: "\(source):\(line)")
    if let problem = patch.timers.add(timer) {
      timer.end()
      return callback.fail("'\(verb)': \(problem)")
    }
    // The handle's own reference, given back when it is collected.
    return callback.done(shl_handle(patch.classes.timer, UInt64(UInt(bitPattern: Unmanaged.passRetained(timer).toOpaque())), 0, 0))
  }

  /// Seconds, or a text with a unit.
  private static func nanoseconds(_ value: SHLValue) -> UInt64? {
    switch value.tag {
    case SHL_INT where (0...1_000_000_000).contains(value.i): UInt64(value.i) * 1_000_000_000
    case SHL_NUMBER where value.n >= 0 && value.n <= 1e9: UInt64(value.n * 1e9)
    case SHL_STRING: value.text.flatMap(RuleUnits.duration)
    default: nil
    }
  }

  private static func read(
    _ options: SHLValue, _ isOnMain: inout Bool, _ target: inout AnyObject?, _ patch: Environment, _ callback: LuaCallback
  ) -> String? {
    guard options.tag != SHL_NIL else { return nil }
    guard options.tag == SHL_TABLE else { return "options are a table, found \(ValueBridge.spelled(options))" }
    var problem: String?
    callback.forEach(in: options) { key, value in
      switch (key.text, value.tag) {
      case ("main", SHL_BOOL): isOnMain = value.b
      case ("target", SHL_HANDLE) where patch.classes.isObject(value):
        guard let object = patch.classes.object(value) else {
          problem = ObjectAPI.expired
          break
        }
        if hkt_is_ending(object) {
          problem = "the target is in its deinit; nothing may refer to it any more"
        } else if let type = StackPromoted.find(object: UInt(bitPattern: object)) {
          problem = BridgeError.inFrame(type: type).description
        } else {
          // Alive while its handle is.
          target = Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue()
        }
      case ("target", _): problem = "option 'target' is an object of the program, found \(ValueBridge.spelled(value))"
      case ("main", _): problem = "option 'main' is true or false, found \(ValueBridge.spelled(value))"
      default: problem = "unknown option '\(key.text ?? "?")'; known are main, target"
      }
      return problem == nil
    }
    return problem
  }

  /// The receiver's.
  private static func timer(_ callback: LuaCallback) -> PatchTimer {
    // The word was made above, and the handle holds the reference.
    Unmanaged<PatchTimer>.fromOpaque(UnsafeRawPointer(bitPattern: UInt(callback[0].h.a))!).takeUnretainedValue()
  }

  /// `t:cancel()`: true when it would have called again.
  private static let cancel: SHLFunction = { context, callback in
    withPatch(context, callback) { _, callback in callback.done(shl_bool(timer(callback).end())) }
  }

  static let toString: SHLFunction = { context, callback in
    withPatch(context, callback) { _, callback in
      let timer = timer(callback)
      return callback.done("timer of \(timer.place)\(timer.hasEnded ? ", ended" : "")")
    }
  }

  static let release: KeptHandles.Release = { _, word, _, _ in
    // The handle's own reference.
    Unmanaged<PatchTimer>.fromOpaque(UnsafeRawPointer(bitPattern: UInt(word))!).release()
  }
}
