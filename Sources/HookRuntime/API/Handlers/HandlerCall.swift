// HandlerCall — one handler at work on one call: what it sees, and what it changes.
//
// Changes of arguments are kept apart until the original runs or the handler returns, so that a handler that fails has
// changed nothing. What the original consumes is taken over before its first run; every run gets a copy. The rules are
// those of the scripts' handlers (ScriptHost/Script/CallValues.swift), for values whose types the compiler knows.
internal import CHookTrampoline
private import SwiftMangling

/// On the stack of the layer function, or owned by an async handler. Used by one thread at a time.
struct HandlerCall: ~Copyable {
  let view: CallView
  let phase: HKTPhase
  /// Outlives the call: the layer's context, which the layer set keeps.
  private let handler: Unmanaged<Handler>
  private(set) var originalRuns = 0
  /// How many arguments the closure has been given.
  var taken = 0
  /// New values that are one word each, of which nothing is to be ended.
  private var words = StagedWords()
  /// Made at the first change that is more: most calls change nothing. Owned; not counted by the compiler, so that those have nothing to
  /// end either.
  private var ownedChanges: Unmanaged<Changes>?

  init(_ call: UnsafeMutablePointer<HKTCall>, _ phase: HKTPhase, _ handler: Unmanaged<Handler>) {
    view = CallView(call)
    self.phase = phase
    self.handler = handler
  }

  /// Values the handler changed, or that are kept for it.
  private final class Changes {
    /// New arguments by index.
    var staged: [Int: OwnedValue] = [:]
    var result: OwnedValue?
    /// Arguments the original consumes, once it has run or is about to.
    var held: [Int: OwnedValue]?
    /// Of closures that must not escape.
    var borrow: ClosureBorrow?
    /// Self, where the original uses it up: from before its first run.
    var keptSelf: KeptSelf?
  }

  private var changes: Changes? { ownedChanges?.takeUnretainedValue() }

  private mutating func made() -> Changes {
    if let changes { return changes }
    let made = Changes()
    ownedChanges = .passRetained(made)
    return made
  }

  /// Nothing is asked of it any more. Of a call that left all as it is, that is nothing to do.
  mutating func end() {
    ownedChanges?.release()
    ownedChanges = nil
  }

  var selector: String { handler._withUnsafeGuaranteedRef { $0.selector } }
  private var plan: CallPlan { view.plan }
  /// The original has run, so that what it left is there.
  var hasRun: Bool { phase == HKT_EXIT || originalRuns > 0 }

  // MARK: Arguments

  /// The argument as it is now: as it was passed, or as the handler or one outside of it changed it.
  mutating func argument<T>(_ index: Int) throws(HandlerError) -> T {
    // Not as an optional value: generic code would have to ask the runtime for that type, call by call.
    if let memory = straight(index, Metadata(T.self)) { return memory.assumingMemoryBound(to: T.self).pointee }
    return try argumentByPlan(index)
  }

  /// Where an argument of exactly this type lies that nobody has changed; nil where that takes more than a look.
  func straight(_ index: Int, _ wanted: Metadata) -> UnsafeRawPointer? {
    guard ownedChanges == nil, words.isEmpty else { return nil }
    let hasRun = hasRun
    return view.withPlan { plan in
      guard index >= 0, index < plan.argumentCount else { return nil }
      return plan.straightArguments[index].memory(wanted.pointer, in: view.frame, hasRun: hasRun)
    }
  }

  mutating func argumentByPlan<T>(_ index: Int) throws(HandlerError) -> T {
    settleWords()
    let argument = try plan(ofArgument: index)
    func notReadable(_ reason: String) -> HandlerError {
      .argumentNotReadable(selector: selector, position: index, label: argument.label, reason: reason)
    }
    guard let info = argument.info else { throw notReadable(ArgumentReason.unreadable(argument) ?? "its type is not known") }
    let kept = changes?.staged[index] ?? changes?.held?[index]
    if kept == nil, hasRun, argument.isConsumed { throw notReadable("the original has consumed it") }
    if kept == nil, !argument.location.isWhole { throw notReadable(ArgumentReason.unreadable(argument) ?? "parts of it are missing") }
    let value: T?
    if info.isBorrowedFunction {
      let borrow = borrowScope()
      let lend: (UnsafeRawPointer) -> T? = { TypedValue.lend($0, info, until: borrow) }
      value = kept.map { lend($0.memory) } ?? view.reader.withMemory(argument.location, info, isResult: false, lend) ?? nil
    } else if let kept {
      value = TypedValue.load(kept.memory, info)
    } else {
      value = view.reader.withMemory(argument.location, info, isResult: false) { TypedValue.load($0, info) } ?? nil
    }
    guard let value else {
      throw .wrongArgument(
        selector: selector, position: index, label: argument.label, expected: info.name, found: Metadata(T.self).name)
    }
    return value
  }

  /// Until the call is over: the original may be given a closure that calls what was borrowed.
  private mutating func borrowScope() -> ClosureBorrow {
    if let borrow = changes?.borrow { return borrow }
    let borrow = ClosureBorrow()
    made().borrow = borrow
    ValueWriter(view.call).keepReferenceUntilEnd(UInt(bitPattern: Unmanaged.passRetained(ClosureBorrow.Term(borrow)).toOpaque()))
    return borrow
  }

  private func plan(ofArgument index: Int) throws(HandlerError) -> ArgumentPlan {
    let arguments = plan.arguments
    guard arguments.indices.contains(index) else { throw noArgument("at position \(index)") }
    return arguments[index]
  }

  func noArgument(_ asked: String) -> HandlerError {
    .noArgument(selector: selector, asked: asked, known: plan.arguments.enumerated().map { argumentName($0, $1.label) })
  }

  /// The position of the first argument with this label.
  func position(of label: String) throws(HandlerError) -> Int {
    guard let index = plan.arguments.firstIndex(where: { $0.label == label }) else { throw noArgument("'\(label)'") }
    return index
  }

  /// Makes `value` what the original, and the handlers inside, get as argument `index`.
  /// - Parameter forNextRun: the original runs again, with it.
  mutating func setArgument<T>(_ index: Int, to value: T, forNextRun: Bool = false) throws(HandlerError) {
    if ownedChanges == nil, !hasRun || forNextRun, takesWord(index, Metadata(T.self)) { return words.stage(value, at: index) }
    settleWords()
    let argument = try plan(ofArgument: index)
    if hasRun, !argument.isInout, !forNextRun { throw .tooLate(selector: selector) }
    guard let info = argument.info, argument.isReplaceable else {
      throw .argumentNotReplaceable(
        selector: selector, position: index, label: argument.label, reason: ArgumentReason.unreplaceable(argument))
    }
    if let reach = OutcomeReach.ofVariable(argument, view.call) {
      throw .argumentNotReplaceable(
        selector: selector, position: index, label: argument.label, reason: "it " + reach.reason(selector: selector))
    }
    let writer = ValueWriter(view.call)
    if !argument.isOwned, !argument.isInout, !info.isTrivial || info.isBorrowedFunction, !writer.canReleaseAfterCall {
      throw .argumentNotReplaceable(
        selector: selector, position: index, label: argument.label, reason: "it is lent to an access that ends where nobody sees it")
    }
    guard let owned = TypedValue.owned(value, as: info) else {
      throw .wrongArgument(
        selector: selector, position: index, label: argument.label, expected: info.name, found: Metadata(Swift.type(of: value as Any)).name)
    }
    // Nobody else releases a context that does not escape.
    if info.isBorrowedFunction { writer.keepReferenceUntilEnd(owned.memory.loadUnaligned(fromByteOffset: 8, as: UInt.self)) }
    made().staged.updateValue(owned, forKey: index)?.destroy()
  }

  @inline(__always)
  private func takesWord(_ index: Int, _ wanted: Metadata) -> Bool {
    view.withPlan { plan in
      StagedWords.arguments.contains(index) && index < plan.argumentCount && plan.straightArguments[index].takesWord(wanted.pointer)
    }
  }

  /// Has the words among the other changes, where everything is known of them.
  private mutating func settleWords() {
    if words.isEmpty { return }
    let plan = plan
    // Of exactly the type that the plan tells, which takesWord has checked.
    for index in StagedWords.arguments where words.has(index) {
      if let info = plan.arguments[index].info { made().staged.updateValue(words.owned(index, info), forKey: index)?.destroy() }
    }
    if words.hasResult, let info = plan.result.info {
      let changes = made()
      changes.result?.destroy()
      changes.result = words.owned(StagedWords.result, info)
    }
    words.forget()
  }

  // MARK: Self

  /// The object or value the method runs on, or the type of a static one; nil where there is none, or it is not to be had.
  func instance<T>() -> T? {
    let plan = plan
    // An initialiser's is not one yet.
    if handler._withUnsafeGuaranteedRef({ $0.isInitialiser }) { return nil }
    if let object = view.selfObject {
      // A native object, borrowed for the call; the copy is retained.
      if TypedValue.isClass(T.self) {
        guard Metadata(object.load(as: UnsafeRawPointer.self)).isSubclass(of: Metadata(T.self)) else { return nil }
        return withUnsafePointer(to: object) { UnsafeRawPointer($0).assumingMemoryBound(to: T.self).pointee }
      }
      return Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue() as? T
    }
    switch plan.selfPlan {
    case .metatype(let place):
      return UnsafeRawPointer(bitPattern: UInt(view.reader.argumentWord(place))).flatMap { Metadata($0).type as? T }
    case .value(let value):
      let isGone = hasRun && (value.access == .owned || value.access == .unknown) && !(value.info?.isTrivial ?? false)
      guard let info = value.info, !isGone, value.location.isWhole else { return nil }
      return view.reader.withMemory(value.location, info, isResult: false) { TypedValue.load($0, info) } ?? nil
    case .none, .object, .unknown: return nil
    }
  }

  // MARK: Result and error

  /// What the original left, or the handler made of it.
  mutating func result<T>() throws(HandlerError) -> T {
    if let memory = straightResult(Metadata(T.self)) { return memory.assumingMemoryBound(to: T.self).pointee }
    settleWords()
    guard hasRun || changes?.result != nil else { throw .noResult(selector: selector, reason: "the original has not run") }
    let result = plan.result
    if result.type.isVoid {
      guard let nothing = () as? T else { throw .wrongResult(selector: selector, expected: "nothing", found: Metadata(T.self).name) }
      return nothing
    }
    guard let info = result.info else { throw .resultNotReadable(selector: selector, reason: ArgumentReason.unreadable(result)) }
    let value: T?
    if let staged = changes?.result {
      value = TypedValue.load(staged.memory, info)
    } else {
      if view.didThrow { throw .noResult(selector: selector, reason: "the original threw") }
      guard result.location.isWhole else { throw .resultNotReadable(selector: selector, reason: ArgumentReason.unreadable(result)) }
      value = view.reader.withMemory(result.location, info, isResult: true) { TypedValue.load($0, info) } ?? nil
    }
    guard let value else { throw .wrongResult(selector: selector, expected: info.name, found: Metadata(T.self).name) }
    return value
  }

  /// Where a result of exactly this type lies that nobody has changed.
  func straightResult(_ wanted: Metadata) -> UnsafeRawPointer? {
    guard hasRun, ownedChanges == nil, words.isEmpty, !view.didThrow else { return nil }
    return view.withPlan { $0.straightResult.memory(wanted.pointer, in: view.frame, hasRun: true) }
  }

  /// How the call ended, as an `after` handler declares it that takes a Result.
  mutating func outcome<T>(_ outcome: any Outcome.Type) throws(HandlerError) -> T {
    // T is that Result.
    try outcome.init(of: &self) as! T
  }

  /// What an `around` handler declares to return: nothing, when it leaves the result alone.
  mutating func output<T>() throws(HandlerError) -> T {
    // T is Void.
    if T.self == Void.self { return unsafeBitCast((), to: T.self) }
    return try result()
  }

  /// What the original threw; nil where it returned, and where a result took the error's place.
  var error: (any Error)? {
    guard hasRun, view.didThrow, changes?.result == nil, !words.hasResult else { return nil }
    let box = view.errorBox()
    return box == 0
      ? HandlerError.resultNotReadable(selector: selector, reason: "it threw an error of unknown type") : ErrorBox.error(in: box)
  }

  /// Makes `value` what the call returns, also where the original threw.
  mutating func setResult<T>(to value: T) throws(HandlerError) {
    if ownedChanges == nil, phase != HKT_ENTER, !(hasRun && view.didThrow),
      view.withPlan({ $0.straightResult.takesWord(Metadata(T.self).pointer) })
    {
      return words.stage(value, at: StagedWords.result)
    }
    settleWords()
    let result = plan.result
    if phase == HKT_ENTER { throw .resultNotReplaceable(selector: selector, reason: "the original has not run; use 'around' or 'after'") }
    if result.type.isVoid { return }
    guard let info = result.info, result.isReplaceable else {
      throw .resultNotReplaceable(selector: selector, reason: ArgumentReason.unreplaceable(result))
    }
    if hasRun, view.didThrow, !canReplaceError {
      throw .resultNotReplaceable(selector: selector, reason: "the error that was thrown is of unknown type")
    }
    guard let owned = TypedValue.owned(value, as: info) else {
      throw .wrongResult(selector: selector, expected: info.name, found: Metadata(Swift.type(of: value as Any)).name)
    }
    let changes = made()
    changes.result?.destroy()
    changes.result = owned
  }

  /// Something else can take the place of the error that the original threw.
  private var canReplaceError: Bool {
    guard let typed = plan.thrownValue else {
      // A getter that throws a typed error, which its name does not tell, has 1 there.
      return view.frame.pointee.results.error != 1
    }
    return typed.info != nil && typed.location.isWhole
  }

  // MARK: The original

  /// Runs the handlers inside and the original, with the arguments as they are now. Results are in the frame then.
  mutating func runOriginal() throws(HandlerError) {
    try prepareOriginal()
    hkt_call_proceed(view.call)
  }

  /// The frame holds what the next run of the original is to see.
  mutating func prepareOriginal() throws(HandlerError) {
    let consumes = view.withPlan { $0.consumesArguments || $0.selfUse == .consumed }
    words.dropResult()
    guard originalRuns > 0 || ownedChanges != nil || consumes else {
      putWords()
      originalRuns = 1
      return
    }
    let plan = plan
    let owned = plan.arguments.indices.filter { plan.arguments[$0].isConsumed }
    if originalRuns == 0, !owned.isEmpty { hold(owned, plan) }
    let writer = ValueWriter(view.call)
    if originalRuns == 0, let kept = KeptSelf(view.call, plan) { made().keptSelf = kept }
    if originalRuns > 0 {
      // The argument area of an async function is taken apart when the thread is left.
      guard plan.canRunAgain, !plan.isAsync || plan.stack.isKnown, !view.didThrow || canReplaceError,
        (changes?.held?.count ?? 0) == owned.count
      else {
        throw .runsOnce(selector: selector)
      }
      changes?.keptSelf?.lendAgain()
      retireOutcome(plan)
    }
    changes?.result?.destroy()
    changes?.result = nil
    applyArguments(plan)
    for (index, value) in changes?.held ?? [:] {
      let copy = value.copy()
      writer.overwrite(plan.arguments[index], with: copy)
      copy.forget()
    }
    originalRuns += 1
  }

  /// Puts arguments that are words.
  private mutating func putWords() {
    if words.isEmpty { return }
    view.withPlan { plan in
      for index in StagedWords.arguments where words.has(index) { plan.straightArguments[index].put(words[index], in: view.frame) }
    }
    words.forget()
  }

  /// Staged arguments go where the next run finds them.
  private mutating func applyArguments(_ plan: CallPlan) {
    putWords()
    guard let changes, !changes.staged.isEmpty else { return }
    let writer = ValueWriter(view.call)
    for (index, value) in changes.staged {
      if changes.held?[index] != nil {
        if let old = changes.held?.updateValue(value, forKey: index) { writer.keepForCaller(old, borrowedBy: .giver) }
      } else {
        writer.replace(plan.arguments[index], with: value)
      }
    }
    changes.staged = [:]
  }

  /// Takes over what the original consumes; the frame's bits are overwritten by a copy for each run.
  private mutating func hold(_ owned: [Int], _ plan: CallPlan, copyable: Bool = true) {
    var held: [Int: OwnedValue] = [:]
    for index in owned {
      let argument = plan.arguments[index]
      guard let info = argument.info, info.metadata.isCopyable || !copyable else { continue }
      _ = view.reader.withMemory(argument.location, info, isResult: false) {
        // The value itself, moved bit by bit.
        let value = OwnedValue(uninitialized: info)
        value.memory.copyMemory(from: $0, byteCount: info.size)
        held[index] = value
      }
    }
    made().held = held
  }

  /// Takes what the original returned or threw out of the caller's reach.
  private func retireOutcome(_ plan: CallPlan) {
    let writer = ValueWriter(view.call)
    guard view.didThrow else { return writer.retireResult(plan.result) }
    guard let typed = plan.thrownValue else { return writer.retireError() }
    // Callers have seen to it that this can be done.
    _ = writer.retireTypedError(typed)
  }

  // MARK: The end

  /// The handler returned and changed nothing that has not taken effect.
  @inline(__always)
  var leavesAllAsItIs: Bool { ownedChanges == nil && words.isEmpty && (phase != HKT_AROUND || originalRuns > 0) }

  /// The handler returned: what it changed takes effect.
  mutating func finish() throws(HandlerError) {
    try checkResultIsSeen()
    if phase == HKT_AROUND, originalRuns == 0 { try synthesizedMethod(needsResult: true) }
    if words.hasResult {
      // Set after the last run of the original, if there was one, and that returned: there is nothing to end.
      view.withPlan { $0.straightResult.put(words[StagedWords.result], in: view.frame) }
    }
    if phase == HKT_ENTER { putWords() }
    words.forget()
    guard let changes else { return }
    let plan = plan
    if phase == HKT_ENTER { applyArguments(plan) } else { settleArguments(plan) }
    if let value = changes.result {
      changes.result = nil
      if hasRun { retireOutcome(plan) }
      ValueWriter(view.call).setResult(plan.result, to: value)
    }
    dropHeld()
  }

  /// Refuses a new result that the caller would not go on with. Where nobody reads it at all, only that the original has run is refused.
  private mutating func checkResultIsSeen() throws(HandlerError) {
    guard words.hasResult || changes?.result != nil else { return }
    if words.hasResult, view.withPlan({ OutcomeReach.isRead($0.resultSlot, view.call) }) { return }
    settleWords()
    guard let value = changes?.result else { return }
    let former: OutcomeReach.Former = !hasRun ? .none : view.didThrow ? .error : .result
    guard let reach = OutcomeReach.ofResult(value, plan.result, view.call, former: former) else { return }
    if case .unread = reach, !hasRun { return }
    throw .resultNotReplaceable(selector: selector, reason: "the result " + reach.reason(selector: selector))
  }

  /// The original never runs: what it would have consumed ends here.
  private mutating func synthesizedMethod(needsResult: Bool) throws(HandlerError) {
    let plan = plan
    if needsResult, !plan.resultIsVoid, changes?.result == nil, !words.hasResult {
      throw .leftOut(selector: selector, returning: plan.result.info?.name ?? "a value")
    }
    let owned = plan.arguments.indices.filter { plan.arguments[$0].isConsumed }
    guard owned.allSatisfy({ plan.arguments[$0].isReplaceable }), !plan.isAsync || plan.stack.isKnown else {
      throw .mustRun(selector: selector)
    }
    if ownedChanges != nil { settleArguments(plan) }
    if !owned.isEmpty { hold(owned, plan, copyable: false) }
    ValueWriter(view.call).useUpSelf(plan)
  }

  /// The original ran, or never will: new values of the caller's variables go there, all others are of no use.
  private func settleArguments(_ plan: CallPlan) {
    guard let changes else { return }
    let writer = ValueWriter(view.call)
    for (index, value) in changes.staged {
      if plan.arguments[index].isInout { writer.replace(plan.arguments[index], with: value) } else { value.destroy() }
    }
    changes.staged = [:]
  }

  private func dropHeld() {
    guard let held = changes?.held else { return }
    changes?.held = nil
    for value in held.values {
      // What no original has had the caller may use still.
      if originalRuns == 0 { DeferredReleases.keep(value, replacedBy: view.call, borrowedBy: .giver) } else { value.destroy() }
    }
  }

  /// The handler threw `error`: the call throws it, if it can.
  mutating func finish(throwing error: any Error) throws(HandlerError) {
    if let own = error as? HandlerError { throw own }
    let plan = plan
    let box = ErrorBox(error)
    guard plan.mayThrow || plan.throwsTyped || hasRun && view.didThrow, phase != HKT_ENTER else {
      throw .cannotThrow(selector: selector, error: "\(error)")
    }
    if hasRun, view.didThrow, box.isSame(as: view.errorBox()) { return finishUnchanged() }
    if !(hasRun && view.didThrow), let reach = OutcomeReach.ofError(view.call) {
      throw .resultNotReplaceable(selector: selector, reason: "the error " + reach.reason(selector: selector))
    }
    let typed = try typedError(error, plan)
    if hasRun {
      guard view.didThrow ? canReplaceError : plan.result.type.isVoid || plan.result.isReplaceable else {
        typed?.destroy()
        throw .cannotThrow(selector: selector, error: "\(error)")
      }
      retireOutcome(plan)
    } else {
      try synthesizedMethod(needsResult: false)
    }
    finishUnchanged()
    let writer = ValueWriter(view.call)
    if let typed, let thrown = plan.thrownValue { writer.setTypedError(thrown, to: typed) } else { writer.setError(box.word) }
  }

  /// The error as a function that states its type throws it; nil for all other functions.
  private func typedError(_ error: any Error, _ plan: CallPlan) throws(HandlerError) -> OwnedValue? {
    guard plan.throwsTyped else { return nil }
    guard let thrown = plan.thrownValue, let info = thrown.info, thrown.location.isWhole,
      let owned = TypedValue.owned(error as Any, as: info)
    else { throw .cannotThrow(selector: selector, error: "\(error)") }
    return owned
  }

  /// What the original left is what the call returns or throws.
  private mutating func finishUnchanged() {
    words.forget()
    guard let changes else { return }
    settleArguments(plan)
    changes.result?.destroy()
    changes.result = nil
    dropHeld()
  }

  /// The handler failed: nothing of what it changed is left.
  func abandon() -> HKTOutcome {
    if let changes {
      for value in changes.staged.values { value.destroy() }
      changes.result?.destroy()
      // Before the original's first run the registers still hold the values themselves.
      for value in (changes.held ?? [:]).values { if originalRuns == 0 { value.forget() } else { value.destroy() } }
    }
    return HKT_FAILED
  }
}
