// ScriptCall — one handler at work on this thread, and what it may still change.
internal import CHookTrampoline
internal import CLuaShim
private import Glibc
internal import HookRuntime
private import SwiftMangling

/// Lives on the stack of the layer function, and is plain: what it owns the layer function ends. Handles that scripts got from it
/// carry its serial and are valid while it is in the chain of its thread: no lock, no dangling.
struct ScriptCall {
  let view: CallView
  /// The handler's hook; nil where a closure of ours is called, which no script sees as `call`.
  unowned(unsafe) let hook: LuaHook!
  /// Whose function runs; kept alive by the hook, or by who called the closure.
  private let owner: Unmanaged<Patch>?
  var patch: Patch? { owner?.takeUnretainedValue() }
  let phase: HKTPhase
  let serial: UInt64
  var up: UnsafeMutablePointer<ScriptCall>?
  var originalRuns = 0
  /// The box the handler got for the typed error the original's last run threw; 0 for none, and for one that
  /// cannot be boxed.
  var typedErrorBox: UInt = 0
  /// Of an `around` handler of an async call, which owns this.
  unowned(unsafe) var async: AsyncHandler?
  /// Made at the first change, released by LuaHook: most calls change nothing, and this struct then owns nothing.
  private(set) var changes: Unmanaged<CallChanges>?
  /// What the handler was lent beyond its arguments; made at first use, given back by LuaHook when the handler ended.
  private(set) var loans: Unmanaged<Loans>?

  init(
    view: CallView, hook: LuaHook?, patch: Unmanaged<Patch>?, phase: HKTPhase, serial: UInt64, up: UnsafeMutablePointer<ScriptCall>?
  ) {
    owner = patch
    self.view = view
    self.hook = hook
    self.phase = phase
    self.serial = serial
    self.up = up
  }

  var plan: CallPlan { view.plan }
  /// The original ran and threw a typed error: it lies where the result would, and stays there.
  var threwTyped: Bool {
    guard originalRuns > 0 || phase == HKT_EXIT, case .typed = plan.thrown else { return false }
    return view.frame.pointee.results.error != 0
  }
  var changesNothing: Bool { changes == nil }
  /// The frame holds the arguments as they are: none was changed by the handler or consumed by the original.
  var argumentsAreInFrame: Bool {
    changes == nil && ((phase != HKT_EXIT && originalRuns == 0) || !view.withPlan { $0.consumesArguments })
  }

  /// Arguments the handler changed, applied when it succeeds or calls the original.
  var staged: [Int: OwnedValue] {
    get { changes?.takeUnretainedValue().staged ?? [:] }
    set { if changes != nil || !newValue.isEmpty { made().staged = newValue } }
  }
  /// The result the handler set.
  var stagedResult: OwnedValue? {
    get { changes?.takeUnretainedValue().stagedResult }
    set { if changes != nil || newValue != nil { made().stagedResult = newValue } }
  }
  /// Owned arguments of an `around`, kept so that the original can be called several times.
  var held: [Int: OwnedValue]? {
    get { changes?.takeUnretainedValue().held }
    set { if changes != nil || newValue != nil { made().held = newValue } }
  }

  private mutating func made() -> CallChanges {
    if let changes { return changes.takeUnretainedValue() }
    let made = CallChanges()
    changes = .passRetained(made)
    return made
  }

  mutating func lend() -> Loans {
    if let loans { return loans.takeUnretainedValue() }
    let made = Loans()
    loans = .passRetained(made)
    return made
  }

  /// Self, where the original uses it up: from before its first run until the handler ends.
  var keptSelf: KeptSelf? { loans?.takeUnretainedValue().keptSelf }
  mutating func keepSelf() {
    if let kept = KeptSelf(view.call, plan) { lend().keptSelf = kept }
  }

  var lends: Bool { loans != nil }

  /// Gives back what the handler was lent: no handle to it is valid any more.
  mutating func endLoans() {
    loans?.release()
    loans = nil
  }

  /// Ends the record of changes; the values in it were given away or destroyed before.
  mutating func forgetChanges() {
    changes?.release()
    changes = nil
  }

  /// Where handles to an argument look once the frame holds another.
  func original(_ index: Int) -> UnsafeRawPointer? { changes?.takeUnretainedValue().originals[index] }
  /// Of the result in the frame, among those of this call.
  var resultNumber: Int { max(0, originalRuns - 1) & 0x7F }
  /// Lets handles to the result go on showing it, before the original runs again.
  mutating func rememberResult() {
    guard let info = plan.result.info, !info.isPlain else { return }
    let changes = made()
    let run = resultNumber
    _ = view.reader.withMemory(plan.result.location, info, isResult: true) { changes.rememberBits($0, info, ofResult: run) }
  }
  /// Bit i: a handle to argument i was given out.
  var lentArguments: UInt64 = 0

  /// Lets handles to an argument go on showing what was lent, before the frame gets another.
  mutating func remember(_ index: Int) {
    guard phase == HKT_AROUND, index < 64, lentArguments & 1 << UInt64(index) != 0, original(index) == nil,
      let info = plan.arguments[index].info,
      !plan.arguments[index].isInout
    else { return }
    let changes = made()
    if let held = changes.held?[index] { changes.originals[index] = UnsafeRawPointer(held.memory); return }
    if case .address(let place) = plan.arguments[index].location {
      changes.originals[index] = UnsafeRawPointer(bitPattern: UInt(view.reader.argumentWord(place)))
    } else {
      _ = view.reader.withParts(plan.arguments[index].location, info, isResult: false) { changes.rememberBits($0, info, of: index) }
    }
  }

  /// The value of an argument that is no longer, or not only, in the frame.
  func current(_ index: Int) -> OwnedValue? { staged[index] ?? held?[index] }

  /// The original took the argument over, and nobody kept a copy: what the frame still holds may be gone.
  func isConsumed(_ index: Int) -> Bool {
    guard phase == HKT_EXIT || originalRuns > 0, plan.arguments.indices.contains(index) else { return false }
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
      return recipe.isConsumed && (phase == HKT_EXIT || originalRuns > 0) ? nil : recipe
    }
  }

  /// Gives `body` the memory of a lent value, as it is now.
  func withMemory<R>(of lent: LentValue, _ body: (UnsafeRawPointer) -> R) -> R? {
    switch lent.root {
    case .memory(let address): return UnsafeRawPointer(bitPattern: address + UInt(lent.offset)).map(body)
    case .argument(let index):
      if let recipe = recipe(index) { return recipe.withMemory(view.call) { body($0 + lent.offset) } }
      if isConsumed(index) { return nil }
      if let memory = original(index) { return body(memory + lent.offset) }
      if let value = held?[index] { return body(UnsafeRawPointer(value.memory) + lent.offset) }
      guard plan.arguments.indices.contains(index) else { return nil }
      return read(plan.arguments[index].location, plan.arguments[index].info, lent, body)
    case .selfValue:
      guard case .value(let plan) = plan.selfPlan else { return nil }
      // The callee ended what it owned, or may have.
      if plan.access == .owned || plan.access == .unknown, !(plan.info?.isTrivial ?? false), phase == HKT_EXIT || originalRuns > 0 {
        return nil
      }
      return read(plan.location, plan.info, lent, body)
    case .result(let run):
      if run != resultNumber { return changes?.takeUnretainedValue().results[run].map { body($0 + lent.offset) } }
      guard let info = plan.result.info, originalRuns > 0 || phase == HKT_EXIT else { return nil }
      return view.reader.withMemory(plan.result.location, info, isResult: true) { body($0 + lent.offset) }
    }
  }

  /// The part of a value in the frame that `lent` is, if the optimiser left it there.
  private func read<R>(_ location: Location, _ info: TypeInfo?, _ lent: LentValue, _ body: (UnsafeRawPointer) -> R) -> R? {
    guard let info, location.has(offset: lent.offset, size: lent.info.size) else { return nil }
    return view.reader.withParts(location, info, isResult: false) { body($0 + lent.offset) }
  }
}

/// What a handler changed, or holds, until it returns.
final class CallChanges {
  /// Arguments as they were lent, by index, once the frame holds others; their owners keep them alive.
  var originals: [Int: UnsafeRawPointer] = [:]
  /// Bits of such arguments that were in registers.
  private var copies: [UnsafeMutableRawPointer] = []

  /// The value keeps its owner; only where its bits are changes.
  func rememberBits(_ memory: UnsafeRawPointer, _ info: TypeInfo, of index: Int) {
    let copy = UnsafeMutableRawPointer.allocate(byteCount: max(info.size, 16), alignment: max(info.alignment, 16))
    copy.copyMemory(from: memory, byteCount: info.size)
    copies.append(copy)
    originals[index] = UnsafeRawPointer(copy)
  }
  /// Results of former runs; the call keeps them alive to its end.
  var results: [Int: UnsafeRawPointer] = [:]
  func rememberBits(_ memory: UnsafeRawPointer, _ info: TypeInfo, ofResult run: Int) {
    rememberBits(memory, info, of: -1 - run)
    results[run] = originals.removeValue(forKey: -1 - run)
  }
  deinit { for copy in copies { copy.deallocate() } }

  var staged: [Int: OwnedValue] = [:]
  var stagedResult: OwnedValue?
  var held: [Int: OwnedValue]?
}

/// What this module keeps per thread, in HKTThread.local.
struct ScriptThread {
  var top: UnsafeMutablePointer<ScriptCall>?
  var counter: UInt64 = 0
  fileprivate var text: OwnedValue?
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
