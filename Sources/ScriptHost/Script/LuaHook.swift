// LuaHook — a Lua handler as a layer: decode, invoke, apply what it changed, and stand in when it fails.
private import CCrash
internal import CHandler
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import Journal
private import Glibc
internal import SwiftMangling
internal import Synchronization

/// One handler on one selector. Made by a patch, called from any thread.
final class LuaHook: LayerFacts, @unchecked Sendable {
  // Everything is set before the hook is installed, but for the breaker and the class cache, which are atomic or idempotent.
  enum Position: String { case before, around, after, contain }

  /// What every call asks for, where C finds it (CHandler): the first field of all.
  let facts: UnsafeMutablePointer<CHandler>
  let patch: Environment
  /// The owner for calls: they count no reference.
  let owner: Unmanaged<Environment>
  let position: Position
  private let handler: HandlerFunction
  var function: SHLRef { facts.pointee.function }
  /// How many arguments the handler declares behind `call`; all when it is variadic.
  var wanted: Int { Int(facts.pointee.wanted) }
  private var isAround: Bool { facts.pointee.wants_result }
  let selector: String
  let declaration: Declaration
  let source: String
  let line: Int32
  /// How long the handler waits for its state, in nanoseconds; negative: for ever.
  var lockTime: Int64 { facts.pointee.lock_ns }
  /// What there is to go on to.
  enum Behind { case original, nothing, nothingOptional }
  private let behind: Behind
  /// Keeps what `failureAnswer` holds.
  private let answers: FailureAnswers?
  let failureAnswer: FailureAnswer
  private let throwsWhenBusy: Bool
  let breaker: Breaker
  private let failed = Atomic<UInt64>(0)
  private let passed = Atomic<UInt64>(0)
  /// Names the handler in the crash file; 0 where there is none.
  private var crashOwner: UInt32 { facts.pointee.crash_owner }
  private let family: Family
  /// The function is private, and nobody was told yet what that means for new arguments.
  private let owesPrivateNote: Atomic<Bool>
  private let unprovenResult = UnprovenResult()
  /// What the last call returns to that goes on with no argument, whichever is new: most calls come from where the one before came from.
  private let settledArguments = Atomic<UInt>(1)
  /// So long a handler that need not run waits for another thread that is in its patch, in nanoseconds: longer than a busy machine keeps the
  /// other from running. (With 20 ms two of 10,000 calls were left out on one.) docs/budgets.md has what that means with four threads.
  static let patience: Int64 = 200_000_000

  private static let unknownClass = UInt64(CHANDLER_CLASS_UNKNOWN)
  private static let anyClass = UInt64(CHANDLER_CLASS_ANY)

  init(
    position: Position, handler: HandlerFunction, family: Family, options: HookOptions, behind: Behind = .original,
    answers: FailureAnswers? = nil
  ) {
    self.answers = answers
    failureAnswer = answers?[family.key] ?? .original
    throwsWhenBusy = options.throwsWhenBusy
    let info = handler.info
    patch = handler.patch
    owner = .passUnretained(handler.patch)
    self.position = position
    self.handler = handler
    breaker = handler.breaker.part()
    selector = family.selector
    declaration = family.declaration
    owesPrivateNote = Atomic(family.declaration.isEffectivelyPrivate)
    mayWait = position == .around && family.hasAsyncBodies
    line = info.line
    // A handler may stand in a module; the shim ends the name with NUL.
    let chunk = withUnsafePointer(to: info.source) { String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)) }
    source = chunk.isEmpty || info.native ? patch.fileName : chunk
    self.behind = behind
    self.family = family
    let looksForClass = declaration.contextKind == .classType && !declaration.isStatic
    facts = .allocate(capacity: 1)
    facts.initialize(
      to: CHandler(
        state: patch.state, patch: owner.toOpaque(), off: breaker.cause, lock_ns: options.waitsWhenBusy ? -1 : Self.patience,
        function: handler.ref, wanted: info.variadic ? .max : max(0, info.parameters - 1),
        crash_owner: ccrash_add_owner(patch.id, family.selector, position.rawValue, patch.fileName, info.line),
        wants_result: position == .around || position == .contain, receiver_class: looksForClass ? Self.unknownClass : Self.anyClass,
        settled_result: 1))
    _ = HandlerDoors.areOpen
    // handler.c reads it there: an object's class and reference count take 16 bytes (HeapObject.h).
    precondition(HandlerDoors.facts(of: self) == facts, "a hook's first field is not where C looks for it")
    ccrash_own(Unmanaged.passUnretained(self).toOpaque(), crashOwner)
    shl_outside(patch.state, HeldMemory.ofHook)
  }

  deinit {
    facts.deallocate()
    shl_outside(patch.state, -HeldMemory.ofHook)
  }

  /// Says of new arguments, which take effect now, where callers do not go on with them, and, once, that nobody can see whether a private
  /// function does.
  /// - Parameter words: bit i: argument i has a new value that is bits alone.
  @inline(__always)
  func tellOfArguments(_ changes: borrowing HandlerChanges, words: UInt64) {
    guard position != .after else { return }
    if owesPrivateNote.load(ordering: .relaxed), owesPrivateNote.exchange(false, ordering: .relaxed) { tellPrivate() }
    if changes.view.withPlan({ $0.argumentsLikeResult }) == 0 { return }
    let back = returnAddress(changes.view)
    if back != settledArguments.load(ordering: .relaxed) { tellOfKeptArguments(changes, words, back) }
  }

  private func tellPrivate() { patch.log.say("\(source):\(line): \(OutcomeReach.privateArgument(of: selector))") }

  @inline(never)
  private func tellOfKeptArguments(_ changes: borrowing HandlerChanges, _ words: UInt64, _ back: UInt) {
    for (index, reach) in changes.argumentsKeptByCaller(words: words) {
      patch.log.say("\(source):\(line): argument \(index + 1) \(reach.reason(selector: selector))")
    }
    if OutcomeReach.readsFirstInteger(changes.view.call), isCaller(changes.view, back) { settledArguments.store(back, ordering: .relaxed) }
  }

  /// The caller looks at a result in the slot, as far as that can be known. Says once where nothing tells.
  @inline(__always)
  func isResultRead(_ slot: ValueSlot, _ view: CallView) -> Bool {
    let back = returnAddress(view)
    if chandler_settled_result(facts) == UInt64(back) { return true }
    guard OutcomeReach.isRead(slot, view.call) else { return false }
    tellOfOutcome(view)
    if isCaller(view, back) { chandler_set_settled_result(facts, UInt64(back)) }
    return true
  }

  /// Says once, where the handler replaces a result and nothing tells whether callers look at it.
  @inline(__always)
  func tellOfOutcome(_ view: CallView) {
    guard let why = unprovenResult.why(selector, view) else { return }
    // In the journal alone: of most handlers nobody can tell, and nothing is wrong with them.
    patch.log.append(.note, "outcome not proven") { fields in fields.add("message", "\(source):\(line): \(why)") }
  }

  /// What the call returns to: its caller's code, or code of ours where a handler runs its original; 0 of an async call.
  @inline(__always)
  private func returnAddress(_ view: CallView) -> UInt {
    // Every call has a frame, whose stack arguments begin above the return address.
    view.call.pointee.is_async != 0 ? 0 : UInt(view.call.pointee.frame.unsafelyUnwrapped.pointee.stack.unsafelyUnwrapped[-1])
  }

  /// The address tells who calls: it is not that of a handler which runs its original.
  @inline(never)
  private func isCaller(_ view: CallView, _ address: UInt) -> Bool {
    view.call.pointee.is_async == 0 && view.call.pointee.site != nil && UInt(hkt_caller_stack(view.call)[-1]) == address
  }

  // What lists tell of it.
  var title: String { "\(source):\(line)" }
  var verb: String { position.rawValue }
  var failures: UInt64 { failed.load(ordering: .relaxed) }
  var skipped: UInt64 { passed.load(ordering: .relaxed) }
  var ended: String? { breaker.why }

  /// Calls note when they began, for `call.duration_ns`.
  var isTimed: Bool { position != .before && patch.namesDuration }

  var phases: UInt32 {
    let timed = isTimed ? UInt32(HKT_TIMED) : 0
    return switch position {
    case .before: UInt32(HKT_ON_ENTER)
    case .around, .contain: UInt32(HKT_ON_AROUND) | timed
    case .after: UInt32(HKT_ON_EXIT) | timed
    }
  }

  /// It says beforehand that it will read arguments, or will certainly see a result.
  var readsValues: Bool { position != .before || wanted > 0 }

  /// The handler may ask the call for its values.
  var takesCall: Bool { handler.info.variadic || handler.info.parameters > 0 }

  /// The handler runs around calls that are async, or some of which are.
  let mayWait: Bool

  // MARK: One call

  /// `self` is not of the class the selector names: another class's call can arrive here when bodies are shared.
  @inline(__always)
  func isMismatch(_ view: CallView) -> Bool {
    let expected = chandler_receiver_class(facts)
    if expected == Self.anyClass { return false }
    let found = UInt64(view.receiverClass)
    return found != expected && found != 0 && isOfOtherClass(found)
  }

  /// Found at the first call: the class may not be ready when the hook is installed.
  private func isOfOtherClass(_ type: UInt64) -> Bool {
    if chandler_receiver_class(facts) == Self.unknownClass {
      var found = Self.anyClass
      // An initialiser makes its object: where no other function has its code, there is nothing to look at.
      let isOpen = declaration.kind != .allocatingInit || ProcessCatalog.shared.sharesCode(family)
      if isOpen, let name = declaration.context,
        case .success(let info) = TypeResolver.shared.type(.nominal(name, kind: .classType, arguments: []))
      {
        found = UInt64(UInt(bitPattern: info.metadata.pointer))
      }
      chandler_set_receiver_class(facts, found)
    }
    let expected = chandler_receiver_class(facts)
    guard expected != Self.anyClass, let type = UnsafeRawPointer(bitPattern: UInt(type)),
      let expected = UnsafeRawPointer(bitPattern: UInt(expected))
    else { return false }
    return !Metadata(type).isSubclass(of: Metadata(expected))
  }

  /// Runs the handler for one phase of a call, on the caller's thread.
  func run(_ call: UnsafeMutablePointer<HKTCall>, _ phase: HKTPhase) -> HKTOutcome {
    chandler_run(call, Unmanaged.passUnretained(self).toOpaque(), phase)
  }

  /// The handler takes no part in the call.
  func pass(_ call: UnsafeMutablePointer<HKTCall>, _ phase: HKTPhase) {
    if !breaker.isOpen { hkt_count_receiver_mismatch(call) }
    if phase == HKT_AROUND { hkt_call_proceed(call) }
  }

  /// The original trapped, and the handler had no answer: the trap goes on to who contains the calls around this one.
  static func fall(_ call: UnsafeMutablePointer<HKTCall>) -> Never {
    hkt_fall(Containment.last(call.pointee.thread))
    fatalError("an original trapped that nobody contains any more: there is nothing to return")
  }

  /// The layer behind which it answers has crumbs of its own.
  func ownCrumbs(of context: UnsafeMutableRawPointer) { ccrash_own(context, crashOwner) }

  /// The call has trapped below, and was left: the handler says what it returns or throws. HKT_FAILED: it does not.
  func answer(_ call: UnsafeMutablePointer<HKTCall>, _ trap: ContainedTrap) -> HKTOutcome {
    ccrash_note_call(crashOwner)
    let thread = ScriptThread.of(call.pointee.thread)
    var script = ScriptCall(HandlerChanges(call, HKT_AROUND), hook: self, patch: owner, serial: serial(of: call), up: thread.pointee.top)
    script.noteTrap()
    var reason = trap.reason
    return withUnsafeMutablePointer(to: &script) { script in
      thread.pointee.top = script
      let outcome = reason.withUTF8 { bytes in
        withUnsafeTemporaryAllocation(of: SHLValue.self, capacity: 2) { values in
          withUnsafeTemporaryAllocation(of: SHLInvocation.self, capacity: 1) { invocation in
            values[0] = shl_call_here(UnsafeMutableRawPointer(script))
            values[1] = bytes.withMemoryRebound(to: CChar.self) { shl_string($0.baseAddress, $0.count) }
            var budget = SHLBudget(instructions: 0, wall_ns: 0, lock_ns: lockTime)
            let status = shl_invoke(patch.state, function, values.baseAddress!, 2, values.baseAddress!, 1, &budget, invocation.baseAddress!)
            return ended(script, status, values.baseAddress!, invocation.baseAddress!)
          }
        }
      }
      thread.pointee.top = script.pointee.up
      script.pointee.end()
      return outcome
    }
  }

  /// A number no other call's handler has.
  func serial(of call: UnsafeMutablePointer<HKTCall>) -> UInt64 {
    // ScriptThread.checkLayout
    ScriptThread.of(call.pointee.thread).withMemoryRebound(to: CHandlerThread.self, capacity: 1) { chandler_serial(call, $0) }
  }

  /// Most handlers declare few arguments: room for them costs nothing when its size is known here.
  private static let usualArguments = 7

  /// Calls the Lua function with its first `count` arguments, of which some are more than bits.
  func invoke(_ script: UnsafeMutablePointer<ScriptCall>, _ count: Int) -> HKTOutcome {
    count <= Self.usualArguments ? invokeWithUsual(script, count) : invokeWithMany(script, count)
  }

  @inline(never)
  private func invokeWithUsual(_ script: UnsafeMutablePointer<ScriptCall>, _ count: Int) -> HKTOutcome {
    invoke(script, count, room: Self.usualArguments)
  }

  @inline(never)
  private func invokeWithMany(_ script: UnsafeMutablePointer<ScriptCall>, _ count: Int) -> HKTOutcome { invoke(script, count, room: count) }

  @inline(__always)
  private func invoke(_ script: UnsafeMutablePointer<ScriptCall>, _ count: Int, room: Int) -> HKTOutcome {
    withUnsafeTemporaryAllocation(of: SHLValue.self, capacity: room + 1) { values in
      withUnsafeTemporaryAllocation(of: (UInt64, UInt64).self, capacity: room) { scratch in
        withUnsafeTemporaryAllocation(of: SHLInvocation.self, capacity: 1) { invocation in
          invoke(script, count, values.baseAddress!, scratch.baseAddress!, invocation.baseAddress!)
        }
      }
    }
  }

  /// - Parameters:
  ///   - values: room for `call` and `count` arguments, later for the result.
  ///   - scratch: room for `count` small strings.
  @inline(__always)
  private func invoke(
    _ script: UnsafeMutablePointer<ScriptCall>, _ count: Int, _ values: UnsafeMutablePointer<SHLValue>, _ scratch: Scratch,
    _ invocation: UnsafeMutablePointer<SHLInvocation>
  ) -> HKTOutcome {
    let bridge = ValueBridge(classes: patch.classes, serial: script.pointee.serial)
    values[0] = shl_call_here(UnsafeMutableRawPointer(script))
    for index in 0..<count { values[index + 1] = CallValues.argument(index, script, bridge, scratch + index) }
    var budget = SHLBudget(instructions: 0, wall_ns: 0, lock_ns: lockTime)
    let status = shl_invoke(patch.state, function, values, Int32(count + 1), values, 1, &budget, invocation)
    return ended(script, status, values, invocation)
  }

  /// - Parameter result: the first value the handler returned, if it returned one.
  @inline(__always)
  func ended(
    _ script: UnsafeMutablePointer<ScriptCall>, _ status: SHLStatus, _ result: UnsafePointer<SHLValue>,
    _ invocation: UnsafeMutablePointer<SHLInvocation>
  ) -> HKTOutcome {
    guard status == SHL_OK else {
      shl_invoke_end(invocation)
      return failed(script, status, &invocation.pointee)
    }
    // Where it lies: a value of four words is read in parts, as it was written.
    let returned = isAround && invocation.pointee.count > 0 ? CallValues.returnDirectly(result, script) : .notAtAll
    if returned == .notAtAll { return endedWithMore(script, result, invocation) }
    shl_invoke_end(invocation)
    let isChange = returned == .anew || !script.pointee.hasRun
    let outcome = finish(script, returned: true)
    if outcome == HKT_HANDLED, isChange { noteChange() }
    return outcome
  }

  /// Its result, if there is one, is not in the registers yet, or other things were changed.
  @inline(never)
  private func endedWithMore(
    _ script: UnsafeMutablePointer<ScriptCall>, _ result: UnsafePointer<SHLValue>, _ invocation: UnsafeMutablePointer<SHLInvocation>
  ) -> HKTOutcome {
    let former = Outcome(script)
    if isAround, invocation.pointee.count > 0 || behind == .nothingOptional && script.pointee.originalRuns == 0 {
      // Returning nothing is nil where nothing is behind it.
      let result = invocation.pointee.count > 0 ? result.pointee : shl_nil()
      let reading = ValueBridge(
        classes: patch.classes, serial: script.pointee.serial,
        scope: UnsafeMutableRawPointer(invocation).assumingMemoryBound(to: SHLScope.self))
      do throws(BridgeError) { try CallValues.stageResult(result, script, reading) } catch {
        shl_invoke_end(invocation)
        return fail(script, "the handler's result: \(error.description)")
      }
    }
    shl_invoke_end(invocation)
    // New arguments were noted when the original ran; what is left is for variables of the caller.
    let isChange = isAround && (!script.pointee.hasRun || script.pointee.changes.hasStagedArguments)
    let outcome = finish(script, returned: false)
    if outcome == HKT_HANDLED, isChange || former != Outcome(script) { noteChange() }
    return outcome
  }

  /// What a call ends with, as far as registers have it; before the original has run and where it never does it is nothing.
  private struct Outcome: Equatable {
    private let words: (UInt64, UInt64, UInt64, UInt64)
    private let isThere: Bool

    @inline(__always)
    init(_ script: UnsafeMutablePointer<ScriptCall>) {
      isThere = script.pointee.hasRun
      guard isThere else {
        words = (0, 0, 0, 0)
        return
      }
      let results = script.pointee.view.frame.pointee.results
      words = (results.integer.0, results.integer.1, results.error, withUnsafeBytes(of: results.xmm) { $0.load(as: UInt64.self) })
    }

    @inline(__always)
    static func == (a: Self, b: Self) -> Bool { a.isThere && a.words == b.words || !a.isThere && !b.isThere }
  }

  /// A handler has changed something of the program: where that crashes later on this thread, it is the suspect.
  func noteChange() { if crashOwner != 0 { ccrash_note_change(crashOwner) } }

  /// A property was set by a script: where a handler is at work on this thread, it was that one.
  static func noteWrite() { ScriptThread.current()?.pointee.top?.pointee.hook?.noteChange() }

  /// The handler returned: what it changed takes effect.
  /// - Parameter returned: its result is in the registers already.
  @inline(__always)
  private func finish(_ script: UnsafeMutablePointer<ScriptCall>, returned: Bool) -> HKTOutcome {
    if !script.pointee.hasNoRecord, let why = CallValues.whyResultIsLost(script) { return fail(script, why, blame: .none) }
    do throws(HandlerProblem) {
      try CallValues.finish(script, returned: returned)
      return HKT_HANDLED
    } catch { return fail(script, words(of: error)) }
  }

  /// Why the handler cannot end as it wants.
  private func words(of problem: HandlerProblem) -> String {
    switch problem {
    case .leftOut where position == .contain: "the answer to a trap returned no value"
    case .leftOut: "the handler neither called the original nor returned a value; end it with 'return call:original()'"
    case .mustNotReturn: HandlerError.mustNotReturn(selector: selector).description
    case .stackUnknown: BridgeError.originalMustRun.description
    case .mustRun: "the original consumes an argument that cannot be released without it; call the original"
    case .runsOnce: BridgeError.runsOnce(selector).description
    case .cannotThrow: BridgeError.cannotThrow.description
    }
  }

  /// The Lua function did not return: says so, and decides what the call answers. The error of the invocation is freed.
  private func failed(_ script: UnsafeMutablePointer<ScriptCall>, _ status: SHLStatus, _ invocation: inout SHLInvocation) -> HKTOutcome {
    defer { if let error = invocation.error { shl_error_free(patch.state, error) } }
    if status == SHL_BUSY || status == SHL_STACK_LOW || status == SHL_TOO_DEEP || status == SHL_STOPPING {
      let why = String(cString: shl_status_text(status))
      passed.add(1, ordering: .relaxed)
      patch.skipped(selector, why)
      if throwsWhenBusy, let thrown = answer(.error, script, "\(source):\(line): the handler did not run: \(why)") { return thrown }
      return abandon(script)
    }
    if status == SHL_ERROR, let error = invocation.error, patch.classes.errorBox(error.pointee.value) == 0, script.pointee.view.didThrow {
      // What the original threw, of a type that is not known: it is still where it was left.
      CallValues.finishUnchanged(script)
      return HKT_HANDLED
    }
    if status == SHL_ERROR, let error = invocation.error, let box = patch.classes.errorBox(error.pointee.value), box != 0,
      script.pointee.changes.mayThrow
    {
      // A Swift error, the original's own or one the handler throws: it passes on, nobody failed.
      if let why = CallValues.whyErrorIsLost(script) { return fail(script, why, blame: .none) }
      do throws(BridgeError) {
        let former = Outcome(script)
        try CallValues.finish(throwing: box, script)
        if former != Outcome(script) || !script.pointee.hasRun { noteChange() }
        return HKT_HANDLED
      } catch { return fail(script, error.description) }
    }
    return fail(
      script, invocation.error.map { message(&$0.pointee) } ?? String(cString: shl_status_text(status)),
      hasPosition: invocation.error.map { $0.pointee.line > 0 } ?? false, blame: Blame(status, invocation.error))
  }

  /// What is said of an error.
  private func message(_ error: inout SHLError) -> String {
    // The shim ends the text with NUL.
    withUnsafePointer(to: &error.message) { String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)) }
  }

  /// What a failure means for the handler.
  private enum Blame {
    /// One of several it may have.
    case counted
    /// The budget of the handler that called it ran out.
    case none
    /// It held the program up for a second or more: not once again.
    case whole

    init(_ status: SHLStatus, _ error: UnsafeMutablePointer<SHLError>?) {
      self = error?.pointee.inherited == true ? .none : error?.pointee.outside == true ? .whole : .counted
    }
  }

  /// Counts and tells a failure, and forgets what the handler changed.
  /// - Parameter hasPosition: the text begins with file and line.
  private func fail(
    _ script: UnsafeMutablePointer<ScriptCall>, _ text: String, hasPosition: Bool = false, blame: Blame = .counted
  ) -> HKTOutcome {
    let instead = position == .contain || script.pointee.didTrap
      ? "the trap stands" : behind == .original ? failureAnswer.sentence : "the call throws"
    let message = hasPosition ? text : "\(source):\(line): \(text)"
    failed.add(1, ordering: .relaxed)
    patch.failed(selector, position.rawValue, message, instead: instead)
    // With all that the handler is on, once it failed so often on several.
    if blame == .counted, handler.breaker.recordFailure() {
      HookEngine.shared.switchOffEnded(of: patch.id)
      patch.disabled(handler: line, failures: handler.breaker.limit, seconds: handler.breaker.windowSeconds)
      return answer(failureAnswer, script, message) ?? abandon(script)
    }
    let opens =
      switch blame {
      case .counted: breaker.recordFailure()
      case .none: false
      case .whole: breaker.open()
      }
    if opens {
      // What an implementation has is no hook: it stays, and passes calls on.
      HookEngine.shared.switchOffEnded(of: patch.id)
      patch.disabled(
        selector, position.rawValue, failures: blame == .whole ? 1 : breaker.limit, seconds: breaker.windowSeconds, instead: afterwards)
    }
    return answer(failureAnswer, script, message) ?? abandon(script)
  }

  /// What calls do once it is switched off; nil: what they do without a hook.
  private var afterwards: String? {
    if behind != .original { return "its calls throw" }
    if position == .contain { return "traps stand" }
    return failureAnswer.isOriginal ? nil : "the original answers from now on, 'on_failure' no more"
  }

  /// Forgets what the handler changed; the original runs, or what it left stands.
  func abandon(_ script: UnsafeMutablePointer<ScriptCall>) -> HKTOutcome {
    CallValues.abandon(script)
    return HKT_FAILED
  }
}

/// The layer of every Lua handler.
let luaLayer: HKTLayerFunction = chandler_run
