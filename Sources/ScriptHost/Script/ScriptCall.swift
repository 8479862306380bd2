// ScriptCall — one handler at work on this thread, and what it may still change.
internal import CHookTrampoline
internal import CLuaShim
private import Glibc
internal import HookRuntime
private import SwiftMangling

/// Lives on the stack of the layer function, and is plain: what it owns the layer function ends. Handles that scripts got from it
/// carry its serial and are valid while it is in the chain of its thread: no lock, no dangling.
struct ScriptCall {
  /// First, where C looks for it: what the arguments are, as long as there is no record of changes, and new ones that are bits alone.
  var arguments: SHLArguments
  let view: CallView
  /// The handler's hook; nil where a closure of ours is called, which no script sees as `call`.
  unowned(unsafe) let hook: LuaHook!
  /// Whose function runs; kept alive by the hook, or by who called the closure.
  private let owner: Unmanaged<Environment>?
  var patch: Environment? { owner?.takeUnretainedValue() }
  let phase: HKTPhase
  /// A number no other call's handler has.
  var serial: UInt64 { arguments.serial }
  var up: UnsafeMutablePointer<ScriptCall>?
  var originalRuns = 0
  /// The original trapped and was left: what it consumes is lost, there is no result, and it cannot run again.
  var didTrap = false
  /// The box the handler got for the typed error the original's last run threw; 0 for none, and for one that
  /// cannot be boxed.
  var typedErrorBox: UInt = 0
  /// Of an `around` handler of an async call, which owns this.
  unowned(unsafe) var async: AsyncHandler?
  /// Made at the first change that is more, released by LuaHook: most calls make none, and this struct then owns nothing.
  private(set) var changes: UnsafeMutablePointer<CallChanges>?
  /// What the handler was borrowed beyond its arguments; made at first use, given back by LuaHook when the handler ended.
  private(set) var borrows: Unmanaged<BorrowScope>?

  init(
    view: CallView, hook: LuaHook?, patch: Unmanaged<Environment>?, phase: HKTPhase, serial: UInt64, up: UnsafeMutablePointer<ScriptCall>?
  ) {
    arguments = SHLArguments(view, phase, serial: serial)
    owner = patch
    self.view = view
    self.hook = hook
    self.phase = phase
    self.up = up
  }

  var plan: CallPlan { view.plan }
  /// The original ran and threw a typed error: it lies where the result would, and stays there.
  var threwTyped: Bool {
    guard originalRuns > 0 || phase == HKT_EXIT, case .typed = plan.thrown else { return false }
    return view.frame.pointee.results.error != 0
  }
  /// There is no record of changes: no more than bits was changed.
  var hasNoRecord: Bool { changes == nil }
  var changesNothing: Bool { changes == nil && !arguments.isChanged }
  /// The frame holds the arguments that `arguments` has not anew: none else was changed by the handler, or consumed by the original.
  var argumentsAreInFrame: Bool {
    changes == nil && ((phase != HKT_EXIT && originalRuns == 0 && !didTrap) || !view.withPlan { $0.consumesArguments })
  }

  /// The record of changes, made at first use; what was staged as bits is in it.
  mutating func record() -> UnsafeMutablePointer<CallChanges> {
    if let changes { return changes }
    let made = UnsafeMutablePointer<CallChanges>.allocate(capacity: 1)
    made.initialize(to: CallChanges())
    changes = made
    if arguments.isChanged { settleBits(in: made) }
    arguments.close()
    return made
  }

  private func settleBits(in changes: UnsafeMutablePointer<CallChanges>) {
    let plan = plan
    for index in 0..<SHLArguments.room where arguments.hasStaged(index) {
      guard let info = plan.arguments[index].info else { continue }
      let value = OwnedValue(uninitialized: info)
      // Nothing but bits, of a type that has at most sixteen bytes.
      value.memory.storeBytes(of: arguments.stagedBits(index), as: StagedBits.self)
      changes.pointee.staged[index] = value
    }
  }

  /// The result the handler set.
  var stagedResult: OwnedValue? { changes?.pointee.stagedResult }

  mutating func borrowScope() -> BorrowScope {
    if let borrows { return borrows.takeUnretainedValue() }
    let made = BorrowScope()
    borrows = .passRetained(made)
    return made
  }

  /// Self, where the original uses it up: from before its first run until the handler ends.
  var keptSelf: KeptSelf? { borrows?.takeUnretainedValue().keptSelf }
  mutating func keepSelf() {
    if let kept = KeptSelf(view.call, plan) { borrowScope().keptSelf = kept }
  }

  var hasBorrowScope: Bool { borrows != nil }

  /// Gives back what the handler was borrowed: no handle to it is valid any more.
  mutating func endBorrows() {
    borrows?.release()
    borrows = nil
  }

  /// Ends the record of changes; the values in it were given away or destroyed before.
  mutating func forgetChanges() {
    changes?.pointee.freeCopies()
    changes?.deinitialize(count: 1)
    changes?.deallocate()
    changes = nil
  }

  /// Where handles to an argument look once the frame holds another.
  func original(_ index: Int) -> UnsafeRawPointer? { changes?.pointee.originals[index] }
  /// Of the result in the frame, among those of this call.
  var resultNumber: Int { max(0, originalRuns - 1) & 0x7F }
  /// Lets handles to the result go on showing it, before the original runs again.
  mutating func rememberResult() {
    guard let info = plan.result.info, !info.isPlain else { return }
    let changes = record()
    let run = resultNumber
    _ = view.reader.withMemory(plan.result.location, info, isResult: true) { changes.pointee.rememberBits($0, info, ofResult: run) }
  }
  /// Lets handles to an argument go on showing what was borrowed, before the frame gets another.
  mutating func remember(_ index: Int) {
    guard phase == HKT_AROUND, arguments.isLent(index), original(index) == nil,
      let info = plan.arguments[index].info,
      !plan.arguments[index].isInout
    else { return }
    let changes = record()
    if let held = changes.pointee.held[index] { return changes.pointee.originals[index] = UnsafeRawPointer(held.memory) }
    if case .address(let place) = plan.arguments[index].location {
      changes.pointee.originals[index] = UnsafeRawPointer(bitPattern: UInt(view.reader.argumentWord(place)))
    } else {
      _ = view.reader.withParts(plan.arguments[index].location, info, isResult: false) { changes.pointee.rememberBits($0, info, of: index) }
    }
  }

  /// The value of an argument that is no longer, or not only, in the frame.
  func current(_ index: Int) -> OwnedValue? { changes.flatMap { $0.pointee.staged[index] ?? $0.pointee.held[index] } }

  /// The original took the argument over, and nobody kept a copy: what the frame still holds may be gone.
  func isConsumed(_ index: Int) -> Bool {
    guard phase == HKT_EXIT || originalRuns > 0 || didTrap, plan.arguments.indices.contains(index) else { return false }
    return plan.arguments[index].isConsumed && current(index) == nil
  }

  /// How to read an argument that is as it was passed, and not consumed.
  @inline(__always)
  func recipe(_ index: Int) -> ValueRecipe? {
    guard changes == nil else { return nil }
    return view.withPlan { plan in
      guard index < plan.argumentCount else { return nil }
      let recipe = plan.recipes[index]
      if case .none = recipe.kind { return nil }
      return recipe.isConsumed && (phase == HKT_EXIT || originalRuns > 0 || didTrap) ? nil : recipe
    }
  }

  /// Gives `body` the memory of a borrowed value, as it is now.
  func withMemory<R>(of borrowed: BorrowedValue, _ body: (UnsafeRawPointer) -> R) -> R? {
    switch borrowed.root {
    case .memory(let address): return UnsafeRawPointer(bitPattern: address + UInt(borrowed.offset)).map(body)
    case .argument(let index):
      if let recipe = recipe(index) { return recipe.withMemory(view.call) { body($0 + borrowed.offset) } }
      if isConsumed(index) { return nil }
      if let memory = original(index) { return body(memory + borrowed.offset) }
      if let value = changes?.pointee.held[index] { return body(UnsafeRawPointer(value.memory) + borrowed.offset) }
      guard plan.arguments.indices.contains(index) else { return nil }
      return read(plan.arguments[index].location, plan.arguments[index].info, borrowed, body)
    case .selfValue:
      guard case .value(let plan) = plan.selfPlan else { return nil }
      // The callee ended what it owned, or may have.
      if plan.access == .owned || plan.access == .unknown, !(plan.info?.isTrivial ?? false), phase == HKT_EXIT || originalRuns > 0 || didTrap {
        return nil
      }
      return read(plan.location, plan.info, borrowed, body)
    case .result(let run):
      if run != resultNumber { return changes?.pointee.results[run].map { body($0 + borrowed.offset) } }
      guard let info = plan.result.info, originalRuns > 0 || phase == HKT_EXIT else { return nil }
      return view.reader.withMemory(plan.result.location, info, isResult: true) { body($0 + borrowed.offset) }
    }
  }

  /// The part of a value in the frame that `borrowed` is, if the optimiser left it there.
  private func read<R>(_ location: Location, _ info: TypeInfo?, _ borrowed: BorrowedValue, _ body: (UnsafeRawPointer) -> R) -> R? {
    guard let info, location.has(offset: borrowed.offset, size: borrowed.info.size) else { return nil }
    return view.reader.withParts(location, info, isResult: false) { body($0 + borrowed.offset) }
  }
}

/// What this module keeps per thread, in HKTThread.local.
struct ScriptThread {
  var top: UnsafeMutablePointer<ScriptCall>?
  var counter: UInt64 = 0
  fileprivate var text: OwnedValue?
  /// The last one that went on, or may: see Containment.
  var trap: UnsafeMutablePointer<HKTTrap>?
  /// Counts calls of rules: now and then one is measured.
  var ruleTurn: UInt32 = 0
  /// What calls of this thread lend to those below them.
  var scopes = ThreadScopes()
  /// Calls of rules on trees of classes: which of a chain of overrides is the leaf.
  var open = OpenCalls()
  /// Where rules build their records, one at a time: rules run no program code, and no hook fires while one runs.
  let recordBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)

  /// This thread's record; made on first use, never freed (thread records are reused).
  static func current() -> UnsafeMutablePointer<ScriptThread>? {
    guard let thread = hkt_thread() else { return nil }
    return of(thread)
  }

  @inline(__always)
  static func of(_ thread: UnsafeMutablePointer<HKTThread>) -> UnsafeMutablePointer<ScriptThread> {
    if let known = thread.pointee.local { return known.assumingMemoryBound(to: ScriptThread.self) }
    let made = UnsafeMutablePointer<ScriptThread>.allocate(capacity: 1)
    made.initialize(to: ScriptThread())
    thread.pointee.local = UnsafeMutableRawPointer(made)
    return made
  }

  /// The running call with this serial on this thread.
  static func call(_ serial: UInt64) -> UnsafeMutablePointer<ScriptCall>? {
    var each = current()?.pointee.top
    while let call = each {
      if call.pointee.serial == serial { return call }
      each = call.pointee.up
    }
    return nil
  }

  static func isCurrent(_ serial: UInt64) -> Bool { call(serial) != nil }

  /// Keeps a text until the thread has another: it is pushed before.
  static func hold(_ text: OwnedValue) {
    guard let thread = current() else { return }
    thread.pointee.text?.destroy()
    thread.pointee.text = text
  }
}
