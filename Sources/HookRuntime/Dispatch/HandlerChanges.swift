// HandlerChanges — what one handler changes of its call, and when each change takes effect. The one home of these rules.
//
// Handlers come by several doors: Lua functions (ScriptHost/Script/ScriptCall.swift), Swift closures that name their types
// (API/Handlers/HandlerCall.swift), closures that get a HookedCall, and Lua functions in the place of a Swift closure. Each door converts
// values and words its errors; what is staged, held, settled, retired and left behind by a failure is decided here:
//
//   staged     a new argument or result is kept apart, so that a handler that fails has changed nothing
//   held       what the original consumes is taken over before its first run; each run gets a copy
//   settled    once the original has run, or never will, variables of the caller (inout) get their new values; other arguments are of no use
//   retired    the result or error that the original left is kept until the call is over when something takes its place
//   abandoned  a handler that failed leaves the frame as it was before, or as the original left it
//
// A handler that ends by throwing has not failed: what it assigned to variables of the caller stays assigned. docs/hooks.md has the
// table, and Tests/Programs/failures runs each of its rules through the doors of Lua and Swift.
package import CHookTrampoline

/// On the stack of the layer function, or owned by an async handler. Used by one thread at a time.
package struct HandlerChanges {
  package let view: CallView
  package let phase: HKTPhase
  /// How often the original ran before this handler, or for it: once already where the handler is an `after`.
  package var originalRuns: Int
  /// The original trapped and was left: what it consumes is lost, there is no result, and it cannot run again.
  package var didTrap = false
  /// Owned, not counted by the compiler: calls that change nothing have nothing to end.
  package private(set) var record: Unmanaged<ChangeRecord>?

  package init(_ call: UnsafeMutablePointer<HKTCall>, _ phase: HKTPhase) {
    view = CallView(call)
    self.phase = phase
    originalRuns = phase == HKT_EXIT ? 1 : 0
  }

  /// Nothing is asked of it any more. The values were given away or destroyed before.
  package mutating func end() {
    record?.release()
    record = nil
  }

  private var plan: CallPlan { view.plan }
  private var writer: ValueWriter { ValueWriter(view.call) }
  /// The original has run, so that what it left is there.
  @inline(__always)
  package var hasRun: Bool { originalRuns > 0 }
  /// The original ran or trapped: what it consumes it has taken over.
  @inline(__always)
  package var hasTaken: Bool { originalRuns > 0 || didTrap }

  @inline(__always)
  private var known: ChangeRecord? { record?.takeUnretainedValue() }

  private mutating func made() -> ChangeRecord {
    if let known { return known }
    let made = ChangeRecord()
    record = .passRetained(made)
    return made
  }

  // MARK: What there is

  package var stagedResult: OwnedValue? { known?.result }
  package var hasStagedArguments: Bool { known.map { !$0.staged.isEmpty } ?? false }
  package func staged(_ index: Int) -> OwnedValue? { known?.staged[index] }
  package func held(_ index: Int) -> OwnedValue? { known?.held[index] }
  /// The value of an argument that is no longer, or not only, in the frame.
  package func current(_ index: Int) -> OwnedValue? { known.flatMap { $0.staged[index] ?? $0.held[index] } }
  /// Where handles to an argument look once the frame holds another.
  package func original(_ index: Int) -> UnsafeRawPointer? { known?.originals[index] }
  /// Where handles to the result of a former run look.
  package func formerResult(_ run: Int) -> UnsafeRawPointer? { known?.formerResults[run] }

  /// The original took the argument over, and nobody kept a copy: what the frame still holds may be gone.
  package func isConsumed(_ index: Int) -> Bool {
    guard hasTaken, plan.arguments.indices.contains(index) else { return false }
    return plan.arguments[index].isConsumed && current(index) == nil
  }

  /// What has become of the struct or enum that the call is on.
  /// - Parameter plan: as the plan of this call has it.
  package func selfState(_ plan: ValueSelfPlan) -> SelfAfterCall {
    guard hasTaken else { return .left }
    // A trap may have left it half given away.
    if didTrap, case .unknown = plan.access, !(plan.info?.isTrivial ?? false) { return .unknown }
    return view.selfAfterCall(plan)
  }

  /// What the handler sees as the outcome of its call.
  package enum ResultState {
    /// The original has not run, and the handler set no result.
    case missing
    /// The handler set this one.
    case staged(OwnedValue)
    /// The original returned: its result is in the frame.
    case returned
    /// The original threw: its error is in the frame.
    case threw
  }

  package var resultState: ResultState {
    if let staged = stagedResult { return .staged(staged) }
    if !hasRun { return .missing }
    return view.didThrow ? .threw : .returned
  }

  /// Something else can take the place of the error that the original threw.
  package var canReplaceError: Bool {
    guard let typed = plan.thrownValue else {
      // A getter that throws a typed error, which its name does not tell, has 1 there: the error is of unknown type, in an unknown place.
      return view.frame.pointee.results.error != 1 && !view.errorIsNotCertain
    }
    return typed.info != nil && typed.location.isWhole
  }

  // MARK: Staging

  /// Why an argument cannot get a new value, whatever that is.
  package enum ArgumentObstacle {
    /// It is not in reach as a whole.
    case outOfReach
    /// The caller goes on with what it knows its variable to be.
    case lost(OutcomeReach)
    /// It is borrowed by an access that ends where nobody sees it, so that nothing would release a new value.
    case borrowed
  }

  /// A new value of the argument would be of use: until the original has run, and for variables of the caller to the handler's end.
  /// - Parameters:
  ///   - index: of an argument that the function has.
  ///   - forNextRun: the value is passed to a further run of the original.
  package func mayStage(_ index: Int, forNextRun: Bool = false) -> Bool {
    !hasTaken || forNextRun || view.withPlan { $0.traits[index].isInout }
  }

  package func obstacle(toStaging index: Int) -> ArgumentObstacle? {
    let plan = plan
    let argument = plan.traits[index]
    guard argument.isReplaceable, let info = argument.info?.takeUnretainedValue() else { return .outOfReach }
    if argument.isInout { return OutcomeReach.ofVariable(plan.arguments[index], view.call).map { .lost($0) } }
    let needsRelease = !argument.isOwned && (!info.isTrivial || info.isBorrowedFunction)
    return needsRelease && !writer.canReleaseAfterCall ? .borrowed : nil
  }

  /// Keeps a new value until the original runs, or the handler ends. Takes ownership.
  package mutating func stage(_ value: OwnedValue, at index: Int) {
    let record = made()
    let former = record.staged[index]
    record.staged[index] = value
    former?.destroy()
  }

  /// The argument is again what was passed.
  package func unstage(_ index: Int) {
    guard let record = known, let former = record.staged[index] else { return }
    record.staged[index] = nil
    former.destroy()
  }

  /// Makes `value` what the call returns if the handler succeeds. Takes ownership.
  package mutating func stageResult(_ value: OwnedValue) {
    let record = made()
    let former = record.result
    record.result = value
    former?.destroy()
  }

  package func dropStagedResult() {
    guard let record = known, let former = record.result else { return }
    record.result = nil
    former.destroy()
  }

  /// Changed arguments whose new values the caller does not go on with, each told once for a call site.
  /// - Parameter words: bit i: the door has a new value of argument i, which is bits alone.
  @inline(__always)
  package func argumentsKeptByCaller(words: UInt64) -> [(index: Int, reach: OutcomeReach)] {
    let like = view.withPlan { $0.argumentsLikeResult }
    if like == 0 || words & like == 0 && record == nil || OutcomeReach.readsFirstInteger(view.call) { return [] }
    return keptByCaller(words & like)
  }

  @inline(never)
  private func keptByCaller(_ words: UInt64) -> [(index: Int, reach: OutcomeReach)] {
    let plan = plan
    return plan.arguments.indices.compactMap { index in
      guard index < 64, words >> UInt64(index) & 1 != 0 || staged(index) != nil else { return nil }
      return OutcomeReach.ofReturned(index, plan, view.call).map { (index, $0) }
    }
  }

  /// Forgets new arguments and the new result.
  package func dropStaged() {
    guard let record = known else { return }
    for (_, value) in record.staged.takeAll() { value.destroy() }
    dropStagedResult()
  }

  /// Closures that must not escape are borrowed until the call is over: the original may be given one that calls what was borrowed.
  mutating func borrowScope() -> ClosureBorrow {
    let record = made()
    if let borrow = record.borrow { return borrow }
    let borrow = ClosureBorrow()
    record.borrow = borrow
    writer.keepReferenceUntilEnd(UInt(bitPattern: Unmanaged.passRetained(ClosureBorrow.Term(borrow)).toOpaque()))
    return borrow
  }

  // MARK: The original

  /// The frame holds what the next run of the original is to see. A result that was set before is forgotten: the run brings one of its own.
  /// - Parameter borrowed: bit i: a handle to argument i, or to the result, goes on showing what it showed; nil where the handler has copies only.
  /// - Throws: `.runsOnce`, with nothing changed.
  package mutating func prepareOriginal(borrowed: UInt64? = nil) throws(HandlerProblem) {
    let plan = plan
    let owned = plan.arguments.indices.filter { plan.arguments[$0].isConsumed }
    if originalRuns == 0 {
      if !owned.isEmpty { hold(owned, plan) }
      if let kept = KeptSelf(view.call, plan) { made().keptSelf = kept }
    } else {
      // What the caller left on the stack an async function takes apart when it leaves the thread.
      guard plan.canRunAgain(leavesSelf: { view.selfAfterCall($0) == .left }), !plan.isAsync || plan.stack.isKnown, !view.didThrow || canReplaceError,
        (known?.held.count ?? 0) == owned.count
      else { throw .runsOnce }
      known?.keptSelf?.retainAgain()
      if borrowed != nil, !view.didThrow { rememberResult(plan) }
      retireOutcome(plan)
    }
    dropStagedResult()
    putStaged(plan, borrowed: borrowed ?? 0)
    rememberBorrowed(plan, borrowed ?? 0)
    for (index, value) in known?.held.all ?? [] {
      let copy = value.copy()
      writer.overwrite(plan.arguments[index], with: copy)
      copy.forget()
    }
    originalRuns += 1
  }

  /// Takes over what the original consumes; the frame's bits are overwritten by a copy for each run.
  /// - Parameter copyable: those alone that can be copied.
  private mutating func hold(_ owned: [Int], _ plan: CallPlan, copyable: Bool = true) {
    var held = Indexed<OwnedValue>()
    for index in owned {
      let argument = plan.arguments[index]
      guard let info = argument.info, info.isCopyable || !copyable else { continue }
      _ = view.reader.withMemory(argument.location, info, isResult: false) {
        // The value itself, moved bit by bit.
        let value = OwnedValue(uninitialized: info)
        value.memory.copyMemory(from: $0, byteCount: info.size)
        held[index] = value
      }
    }
    made().held = held
  }

  /// New arguments go where the next run of the original, and the handlers inside, find them.
  private mutating func putStaged(_ plan: CallPlan, borrowed: UInt64) {
    guard let record = known, !record.staged.isEmpty else { return }
    for (index, value) in record.staged.takeAll() {
      remember(index, plan, borrowed)
      if let old = record.held[index] {
        record.held[index] = value
        writer.keepForCaller(old, borrowedBy: .giver)
      } else {
        writer.replace(index, of: plan, with: value)
      }
    }
  }

  /// Takes what the original returned or threw out of the caller's reach.
  private func retireOutcome(_ plan: CallPlan) {
    guard view.didThrow else { return writer.retireResult(plan.result) }
    guard let typed = plan.thrownValue else { return writer.retireError() }
    // Nothing gets here where this could fail: canReplaceError.
    _ = writer.retireTypedError(typed)
  }

  // MARK: Handles

  /// The result in the frame, among those of this call.
  package var resultNumber: Int { max(0, originalRuns - 1) & 0x7F }

  /// Handles to the result go on showing it when the original runs again.
  private mutating func rememberResult(_ plan: CallPlan) {
    guard let info = plan.result.info, !info.isPlain else { return }
    let (record, run) = (made(), resultNumber)
    _ = view.reader.withMemory(plan.result.location, info, isResult: true) { record.formerResults[run] = record.keepBits($0, info) }
  }

  /// Handles to an argument go on showing what was passed when the frame gets another.
  private mutating func remember(_ index: Int, _ plan: CallPlan, _ borrowed: UInt64) {
    let argument = plan.arguments[index]
    guard phase == HKT_AROUND, index < 64, borrowed >> UInt64(index) & 1 != 0, !argument.isInout, let info = argument.info, original(index) == nil
    else { return }
    let record = made()
    if let held = record.held[index] {
      record.originals[index] = UnsafeRawPointer(held.memory)
    } else if case .address(let place) = argument.location {
      record.originals[index] = UnsafeRawPointer(bitPattern: UInt(view.reader.argumentWord(place)))
    } else {
      _ = view.reader.withParts(argument.location, info, isResult: false) { record.originals[index] = record.keepBits($0, info) }
    }
  }

  /// Handlers inside this one may replace arguments in the frame, which this one's handles are not to show.
  private mutating func rememberBorrowed(_ plan: CallPlan, _ borrowed: UInt64) {
    guard borrowed != 0, view.call.pointee.index + 1 < view.call.pointee.layers.pointee.count else { return }
    for index in plan.arguments.indices { remember(index, plan, borrowed) }
  }

  // MARK: The end

  /// What becomes of a new result.
  package enum ResultFate {
    case seen
    /// The caller reads nothing of it, nor of what the original returns; that the original does not run is what the handler wants.
    case unread(OutcomeReach)
    /// The caller goes on with something else.
    case lost(OutcomeReach)
  }

  package var resultFate: ResultFate {
    guard let value = stagedResult else { return .seen }
    let former: OutcomeReach.Former = !hasRun ? .none : view.didThrow ? .error : .result
    guard let reach = OutcomeReach.ofResult(value, plan.result, view.call, former: former) else { return .seen }
    if case .unread = reach, !hasRun { return .unread(reach) }
    return .lost(reach)
  }

  /// The handler returned: what it changed takes effect.
  /// - Parameter hasResult: the door has a result of bits alone, which is in its registers or will be.
  /// - Throws: why it cannot end so. The door abandons the handler then.
  package mutating func finish(hasResult: Bool) throws(HandlerProblem) {
    if phase == HKT_AROUND, originalRuns == 0 {
      if hkt_must_not_return(view.call) { throw .mustNotReturn }
      if !hasResult, stagedResult == nil, !view.withPlan({ $0.resultIsVoid }) { throw .leftOut }
      try leaveOutOriginal()
    }
    guard let record = known else { return }
    let plan = plan
    if phase == HKT_ENTER { putStaged(plan, borrowed: 0) } else { settle(plan) }
    if let value = record.result {
      record.result = nil
      if hasRun { retireOutcome(plan) }
      writer.setResult(plan.result, to: value)
    }
    dropHeld()
  }

  /// The original never runs: what it would have consumed ends here, and variables of the caller get their new values.
  /// - Throws: `.mustRun` or `.stackUnknown`, with nothing changed.
  package mutating func leaveOutOriginal() throws(HandlerProblem) {
    // What the original took over before it trapped is lost.
    if didTrap { return }
    if record == nil, view.withPlan({ !$0.consumesArguments && !$0.isAsync && $0.selfUse != .consumed }) { return }
    let plan = plan
    // What the caller left on the stack an async function takes away itself.
    if plan.isAsync, !plan.stack.isKnown { throw .stackUnknown }
    let owned = plan.arguments.indices.filter { plan.arguments[$0].isConsumed }
    guard owned.allSatisfy({ plan.arguments[$0].isReplaceable }) else { throw .mustRun }
    settle(plan)
    if !owned.isEmpty { hold(owned, plan, copyable: false) }
    writer.useUpSelf(plan)
  }

  /// The original ran, or never will: new values of the caller's variables go there, all others are of no use.
  private func settle(_ plan: CallPlan) {
    guard let record = known else { return }
    for (index, value) in record.staged.takeAll() {
      if plan.arguments[index].isInout { writer.replace(index, of: plan, with: value) } else { value.destroy() }
    }
  }

  private func dropHeld() {
    guard let record = known else { return }
    for (_, value) in record.held.takeAll() {
      // What no original has had the caller may use still.
      if originalRuns == 0 { DeferredReleases.keep(value, replacedBy: view.call, borrowedBy: .giver) } else { value.destroy() }
    }
  }

  /// The call may end with an error that the handler throws: its callers look for one, or the original left one.
  package var mayThrow: Bool { phase != HKT_ENTER && (view.withPlan { $0.mayThrow || $0.throwsTyped } || hasRun && view.didThrow) }

  /// Why the caller would not see that the call throws; nil where it would.
  package var errorLoss: OutcomeReach? { hasRun && view.didThrow ? nil : OutcomeReach.ofError(view.call) }

  /// What the function throws where it states its errors' type; nil where that is not known, or where they go.
  package var throwable: TypeInfo? {
    guard let thrown = plan.thrownValue, thrown.location.isWhole else { return nil }
    return thrown.info
  }

  /// As below, for code of ours: the error in the form in which the function throws it.
  /// - Throws: `.cannotThrow` also where the function throws nothing, or other errors, or its caller looks for none.
  mutating func finish(throwingAny error: any Error) throws(HandlerProblem) {
    guard mayThrow, errorLoss == nil else { throw .cannotThrow }
    let box = ErrorBox(error)
    defer { withExtendedLifetime(box) {} }
    if hasRun, view.didThrow, box.isSame(as: view.errorBox()) { return finishUnchanged() }
    var typed: OwnedValue?
    if view.withPlan({ $0.throwsTyped }) {
      typed = throwable.flatMap { TypedValue.owned(error as Any, as: $0) }
      if typed == nil { throw .cannotThrow }
    }
    try finish(throwing: box.borrowedWord, typed: typed)
  }

  /// The handler threw: the call throws it. What the handler assigned to variables of the caller stays.
  /// - Parameters:
  ///   - box: borrowed; the caller gets a reference of its own.
  ///   - typed: the error as a function that states its errors' type throws it. Owned here.
  /// - Throws: `.cannotThrow` where the original's result is out of reach, or why the original must run; with nothing changed.
  package mutating func finish(throwing box: UInt, typed: OwnedValue?) throws(HandlerProblem) {
    let plan = plan
    do throws(HandlerProblem) {
      if hasRun {
        guard view.didThrow ? canReplaceError : plan.result.type.isVoid || plan.result.isReplaceable else { throw .cannotThrow }
        retireOutcome(plan)
      } else {
        try leaveOutOriginal()
      }
    } catch {
      typed?.destroy()
      throw error
    }
    finishUnchanged()
    if let typed, let thrown = plan.thrownValue { return writer.setTypedError(thrown, to: typed) }
    _ = Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(bitPattern: box)!).retain()
    writer.setError(box)
  }

  /// The result or error that is there is what the call ends with. What the handler assigned to variables of the caller stays.
  package func finishUnchanged() {
    guard known != nil else { return }
    settle(plan)
    dropStagedResult()
    dropHeld()
  }

  /// The handler failed: nothing of what it changed is left.
  package func abandon() {
    guard let record = known else { return }
    dropStaged()
    // Before the original's first run the registers still hold the values themselves.
    for (_, value) in record.held.takeAll() { if originalRuns == 0 { value.forget() } else { value.destroy() } }
  }
}

extension TypeInfo {
  /// A script sees it as a plain Lua value or an object, never as a handle to the place.
  fileprivate var isPlain: Bool {
    switch kind {
    case .void, .bool, .float, .string, .cString, .object: true
    case .integer(let bits, let signed): bits < 64 || signed
    default: false
    }
  }
}

/// Why a handler cannot have what it wants of its call. Each door has words of its own for these.
package enum HandlerProblem: Error {
  /// The original consumes what cannot be copied, or leaves what cannot be released.
  case runsOnce
  /// The handler gave no result, and the original has not run.
  case leftOut
  /// The original has not run, and the caller has no code behind the call: it was compiled with a function that does not return.
  case mustNotReturn
  /// The original consumes an argument that nobody else can end.
  case mustRun
  /// The original of an async function must run: not all of its arguments on the stack are known.
  case stackUnknown
  /// What the original returned is out of reach.
  case cannotThrow
}
