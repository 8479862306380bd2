// HandlerCall — one Swift handler at work on one call: what it sees, in types that the compiler knows.
//
// A door of HandlerChanges, which has the rules. Words are the fast path: while nothing but words was changed there is no record of changes.
internal import CHookTrampoline
private import SwiftMangling

/// On the stack of the layer function, or owned by an async handler. Used by one thread at a time.
struct HandlerCall: ~Copyable {
  private var changes: HandlerChanges
  /// Outlives the call: the layer's context, which the layer set keeps.
  private let handler: Unmanaged<Handler>
  /// How many arguments the closure has been given.
  var taken = 0
  /// New values that are one word each, of which nothing is to be ended.
  private var words = StagedWords()

  init(_ call: UnsafeMutablePointer<HKTCall>, _ phase: HKTPhase, _ handler: Unmanaged<Handler>) {
    changes = HandlerChanges(call, phase)
    self.handler = handler
  }

  /// Nothing is asked of it any more. Of a call that left all as it is, that is nothing to do.
  mutating func end() { changes.end() }

  @inline(__always)
  var view: CallView { changes.view }
  @inline(__always)
  private var phase: HKTPhase { changes.phase }
  var selector: String { handler._withUnsafeGuaranteedRef { $0.selector } }
  private var plan: CallPlan { view.plan }
  /// The original has run, so that what it left is there.
  @inline(__always)
  var hasRun: Bool { changes.hasRun }

  // MARK: Arguments

  /// The argument as it is now: as it was passed, or as the handler or one outside of it changed it.
  mutating func argument<T>(_ index: Int) throws(HandlerError) -> T {
    // Not as an optional value: generic code would have to ask the runtime for that type, call by call.
    if let memory = straight(index, Metadata(T.self)) { return memory.assumingMemoryBound(to: T.self).pointee }
    return try argumentByPlan(index)
  }

  /// Where an argument of exactly this type lies that nobody has changed; nil where that takes more than a look.
  func straight(_ index: Int, _ wanted: Metadata) -> UnsafeRawPointer? {
    guard changes.record == nil, words.isEmpty else { return nil }
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
    let kept = changes.current(index)
    if changes.isConsumed(index) { throw notReadable("the original has consumed it") }
    if kept == nil, !argument.location.isWhole { throw notReadable(ArgumentReason.unreadable(argument) ?? "parts of it are missing") }
    let value: T?
    if info.isBorrowedFunction {
      let borrow = changes.borrowScope()
      let borrowed: (UnsafeRawPointer) -> T? = { TypedValue.borrowed($0, info, until: borrow) }
      value = kept.map { borrowed($0.memory) } ?? view.reader.withMemory(argument.location, info, isResult: false, borrowed) ?? nil
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
    if changes.record == nil, takesWord(index, Metadata(T.self)), changes.mayStage(index, forNextRun: forNextRun) {
      return words.stage(value, at: index)
    }
    settleWords()
    let argument = try plan(ofArgument: index)
    guard changes.mayStage(index, forNextRun: forNextRun) else { throw .tooLate(selector: selector) }
    if let obstacle = changes.obstacle(toStaging: index) { throw notReplaceable(index, argument, obstacle) }
    // What can be replaced is of a known type.
    let info = argument.info!
    guard let owned = TypedValue.owned(value, as: info) else {
      throw .wrongArgument(
        selector: selector, position: index, label: argument.label, expected: info.name, found: Metadata(Swift.type(of: value as Any)).name)
    }
    // Nobody else releases a context that does not escape.
    if info.isBorrowedFunction {
      ValueWriter(view.call).keepReferenceUntilEnd(owned.memory.loadUnaligned(fromByteOffset: 8, as: UInt.self))
    }
    changes.stage(owned, at: index)
  }

  private func notReplaceable(_ index: Int, _ argument: ArgumentPlan, _ obstacle: HandlerChanges.ArgumentObstacle) -> HandlerError {
    let reason =
      switch obstacle {
      case .outOfReach: ArgumentReason.unreplaceable(argument)
      case .lost(let reach): "it " + reach.reason(selector: selector)
      case .borrowed: "it is borrowed by an access that ends where nobody sees it"
      }
    return .argumentNotReplaceable(selector: selector, position: index, label: argument.label, reason: reason)
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
      if let info = plan.arguments[index].info { changes.stage(words.owned(index, info), at: index) }
    }
    if words.hasResult, let info = plan.result.info { changes.stageResult(words.owned(StagedWords.result, info)) }
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
      guard let info = value.info, changes.selfState(value).isThere, value.readable.isWhole else { return nil }
      return view.reader.withMemory(value.readable, info, isResult: false) { TypedValue.load($0, info) } ?? nil
    case .none, .object, .unknown: return nil
    }
  }

  // MARK: Result and error

  /// What the original left, or the handler made of it.
  mutating func result<T>() throws(HandlerError) -> T {
    if let memory = straightResult(Metadata(T.self)) { return memory.assumingMemoryBound(to: T.self).pointee }
    settleWords()
    let state = changes.resultState
    if case .missing = state { throw .noResult(selector: selector, reason: "the original has not run") }
    let result = plan.result
    if result.type.isVoid {
      guard let nothing = () as? T else { throw .wrongResult(selector: selector, expected: "nothing", found: Metadata(T.self).name) }
      return nothing
    }
    guard let info = result.info else { throw .resultNotReadable(selector: selector, reason: ArgumentReason.unreadable(result)) }
    let value: T?
    switch state {
    case .staged(let staged): value = TypedValue.load(staged.memory, info)
    case .threw: throw .noResult(selector: selector, reason: "the original threw")
    case .missing, .returned:
      guard result.location.isWhole else { throw .resultNotReadable(selector: selector, reason: ArgumentReason.unreadable(result)) }
      value = view.reader.withMemory(result.location, info, isResult: true) { TypedValue.load($0, info) } ?? nil
    }
    guard let value else { throw .wrongResult(selector: selector, expected: info.name, found: Metadata(T.self).name) }
    return value
  }

  /// Where a result of exactly this type lies that nobody has changed.
  func straightResult(_ wanted: Metadata) -> UnsafeRawPointer? {
    guard hasRun, changes.record == nil, words.isEmpty, !view.didThrow else { return nil }
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
    guard !words.hasResult, case .threw = changes.resultState else { return nil }
    let box = view.errorBox()
    return box == 0
      ? HandlerError.resultNotReadable(selector: selector, reason: "it threw an error of unknown type") : ErrorBox.error(in: box)
  }

  /// Makes `value` what the call returns, also where the original threw.
  mutating func setResult<T>(to value: T) throws(HandlerError) {
    if changes.record == nil, phase != HKT_ENTER, !(hasRun && view.didThrow),
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
    if hasRun, view.didThrow, !changes.canReplaceError {
      throw .resultNotReplaceable(selector: selector, reason: "the error that was thrown is of unknown type")
    }
    guard let owned = TypedValue.owned(value, as: info) else {
      throw .wrongResult(selector: selector, expected: info.name, found: Metadata(Swift.type(of: value as Any)).name)
    }
    changes.stageResult(owned)
  }

  // MARK: The original

  /// Runs the handlers inside and the original, with the arguments as they are now. Results are in the frame then.
  mutating func runOriginal() throws(HandlerError) {
    try prepareOriginal()
    hkt_call_proceed(view.call)
  }

  /// Says of new arguments, which take effect now, where callers do not go on with them, and where the function may not.
  @inline(__always)
  private func noteArguments() {
    guard !words.isEmpty || changes.record != nil else { return }
    handler._withUnsafeGuaranteedRef { handler in
      for (index, reach) in changes.argumentsKeptByCaller(words: words.changedArguments) {
        handler.note("argument \(index + 1) " + reach.reason(selector: handler.selector))
      }
      if handler.isOnPrivate, words.changedArguments != 0 || changes.hasStagedArguments { handler.notePrivate() }
    }
  }

  /// The frame holds what the next run of the original is to see.
  mutating func prepareOriginal() throws(HandlerError) {
    noteArguments()
    if changes.originalRuns == 0, changes.record == nil, view.withPlan({ !$0.consumesArguments && $0.selfUse != .consumed }) {
      words.dropResult()
      putWords()
      changes.originalRuns = 1
      return
    }
    settleWords()
    do throws(HandlerProblem) { try changes.prepareOriginal() } catch { throw self.error(error) }
  }

  /// Puts arguments that are words.
  private mutating func putWords() {
    if words.isEmpty { return }
    ValueWriter(view.call).noteArguments()
    view.withPlan { plan in
      for index in StagedWords.arguments where words.has(index) { plan.straightArguments[index].put(words[index], in: view.frame) }
    }
    words.forget()
  }

  // MARK: The end

  /// The handler returned and changed nothing that has not taken effect.
  @inline(__always)
  var leavesAllAsItIs: Bool { changes.record == nil && words.isEmpty && (phase != HKT_AROUND || changes.originalRuns > 0) }

  /// The handler returned: what it changed takes effect.
  mutating func finish() throws(HandlerError) {
    if phase == HKT_ENTER { noteArguments() }
    if changes.record != nil { settleWords() }
    try checkResultIsSeen()
    do throws(HandlerProblem) { try changes.finish(hasResult: words.hasResult) } catch { throw self.error(error) }
    if words.hasResult {
      // Set after the last run of the original, if there was one, and that returned: there is nothing to end.
      view.withPlan { $0.straightResult.put(words[StagedWords.result], in: view.frame) }
    }
    if phase == HKT_ENTER { putWords() }
    words.forget()
  }

  /// Refuses a new result that the caller would not go on with. Where nobody reads it at all, only that the original has run is refused.
  private mutating func checkResultIsSeen() throws(HandlerError) {
    if words.hasResult {
      if view.withPlan({ OutcomeReach.isRead($0.resultSlot, view.call) }) { return noteUnproven() }
      settleWords()
    }
    switch changes.resultFate {
    case .seen: if changes.stagedResult != nil { noteUnproven() }
    case .unread(let reach):
      if reach.isFirst { handler._withUnsafeGuaranteedRef { $0.note("the result " + reach.reason(selector: $0.selector)) } }
    case .lost(let reach): throw .resultNotReplaceable(selector: selector, reason: "the result " + reach.reason(selector: selector))
    }
  }

  @inline(__always)
  private func noteUnproven() { handler._withUnsafeGuaranteedRef { $0.noteUnproven(view) } }

  /// The handler threw: the call throws it, if it can.
  mutating func finish(throwing thrown: any Error) throws(HandlerError) {
    if let own = thrown as? HandlerError { throw own }
    words.forget()
    if let reach = changes.errorLoss, changes.mayThrow {
      throw .resultNotReplaceable(selector: selector, reason: "the error " + reach.reason(selector: selector))
    }
    do throws(HandlerProblem) { try changes.finish(throwingAny: thrown) } catch { throw self.error(error, thrown) }
  }

  /// A problem in the words of this door.
  /// - Parameter thrown: what the handler wants the call to throw.
  private func error(_ problem: HandlerProblem, _ thrown: (any Error)? = nil) -> HandlerError {
    switch problem {
    case .runsOnce: .runsOnce(selector: selector)
    case .leftOut: .leftOut(selector: selector, returning: plan.result.info?.name ?? "a value")
    case .mustNotReturn: .mustNotReturn(selector: selector)
    case .mustRun: .mustRun(selector: selector)
    case .stackUnknown: .argumentsUnknown(selector: selector)
    case .cannotThrow: .cannotThrow(selector: selector, error: thrown.map { "\($0)" } ?? "an error")
    }
  }

  /// The handler failed: nothing of what it changed is left.
  mutating func abandon() -> HKTOutcome {
    words.forget()
    changes.abandon()
    return HKT_FAILED
  }
}
