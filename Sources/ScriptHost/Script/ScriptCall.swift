// ScriptCall — one handler at work on this thread, and what it may still change.
internal import CHandler
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
  /// What the handler changed that is more than bits, and the rules of when it takes effect.
  var changes: HandlerChanges
  private var heldHook: Unmanaged<LuaHook>?
  /// The handler's hook; nil where a closure of ours is called, which no script sees as `call`. The layer keeps it alive.
  var hook: LuaHook! { heldHook?.takeUnretainedValue() }
  /// Whose function runs; kept alive by the hook, or by who called the closure.
  private var owner: Unmanaged<Environment>?
  var patch: Environment? { owner?.takeUnretainedValue() }
  /// A number no other call's handler has.
  var serial: UInt64 { arguments.serial }
  var up: UnsafeMutablePointer<ScriptCall>?
  /// The box the handler got for the typed error the original's last run threw; 0 for none, and for one that
  /// cannot be boxed.
  var typedErrorBox: UInt = 0
  /// Of an `around` handler of an async call, which owns this.
  unowned(unsafe) var async: AsyncHandler?
  /// What the handler was borrowed beyond its arguments; made at first use, given back by LuaHook when the handler ended.
  private(set) var borrows: Unmanaged<BorrowScope>?

  init(
    _ changes: HandlerChanges, hook: LuaHook?, patch: Unmanaged<Environment>?, serial: UInt64, up: UnsafeMutablePointer<ScriptCall>?
  ) {
    arguments = SHLArguments(changes, serial: serial)
    owner = patch
    self.changes = changes
    heldHook = hook.map { .passUnretained($0) }
    self.up = up
  }

  /// Ends the program where C has another picture of the record: CHandlerCall, which `chandler_run` fills in.
  static func checkLayout() {
    typealias Other = MemoryLayout<CHandlerCall>
    precondition(
      MemoryLayout<Self>.size == Other.size && offset(\.arguments) == Other.offset(of: \.arguments)
        && offset(\.changes.view.call) == Other.offset(of: \.call) && offset(\.changes.phase) == Other.offset(of: \.phase)
        && offset(\.changes.originalRuns) == Other.offset(of: \.original_runs) && offset(\.changes.didTrap) == Other.offset(of: \.did_trap)
        && offset(\.changes.record) == Other.offset(of: \.changes) && offset(\.heldHook) == Other.offset(of: \.hook)
        && offset(\.owner) == Other.offset(of: \.patch) && offset(\.up) == Other.offset(of: \.up)
        && offset(\.typedErrorBox) == Other.offset(of: \.typed_error_box) && offset(\.borrows) == Other.offset(of: \.borrows),
      "CHandlerCall is not laid out as ScriptCall")
  }

  private static func offset<Value>(_ path: KeyPath<Self, Value>) -> Int? { MemoryLayout<Self>.offset(of: path) }

  /// Gives `body` the hook without counting a reference, which two calls of a small handler would feel; nothing where there is none.
  @inline(__always)
  func withHook(_ body: (LuaHook) -> Void) { heldHook?._withUnsafeGuaranteedRef(body) }

  @inline(__always)
  var hasNoHook: Bool { heldHook == nil }

  @inline(__always)
  var view: CallView { changes.view }
  @inline(__always)
  var phase: HKTPhase { changes.phase }
  @inline(__always)
  var originalRuns: Int { changes.originalRuns }
  @inline(__always)
  var didTrap: Bool { changes.didTrap }
  var plan: CallPlan { view.plan }
  // Asking another module for what it computes is a call: these two are spelled out, and read the fields in place.
  /// The original has run, so that what it left is there.
  @inline(__always)
  var hasRun: Bool { changes.originalRuns > 0 }
  /// The original ran or trapped: what it consumes it has taken over.
  @inline(__always)
  private var hasTaken: Bool { changes.originalRuns > 0 || changes.didTrap }
  /// The original ran and threw a typed error: it lies where the result would, and stays there.
  var threwTyped: Bool {
    guard hasRun, case .typed = plan.thrown else { return false }
    return view.frame.pointee.results.error != 0
  }
  /// No more than bits was changed.
  @inline(__always)
  var hasNoRecord: Bool { changes.record == nil }
  /// The frame holds the arguments that `arguments` has not anew: none else was changed by the handler, or consumed by the original.
  var argumentsAreInFrame: Bool { changes.record == nil && (!hasTaken || !view.withPlan { $0.consumesArguments }) }

  /// The original trapped and was left: what it consumes is lost, and nothing passes it new arguments.
  mutating func noteTrap() {
    changes.didTrap = true
    arguments.originalRuns()
  }

  /// To be called before the first change that is more than bits: what was staged as bits is a change like that from now on.
  mutating func settleBits() {
    defer { arguments.close() }
    guard arguments.isChanged else { return }
    let plan = plan
    for index in 0..<SHLArguments.room where arguments.hasStaged(index) {
      guard let info = plan.arguments[index].info else { continue }
      let value = OwnedValue(uninitialized: info)
      // Nothing but bits, of a type that has at most sixteen bytes.
      value.memory.storeBytes(of: arguments.stagedBits(index), as: StagedBits.self)
      changes.stage(value, at: index)
    }
  }

  mutating func borrowScope() -> BorrowScope {
    if let borrows { return borrows.takeUnretainedValue() }
    let made = BorrowScope()
    borrows = .passRetained(made)
    return made
  }

  /// The handler ended, and what it changed was given away or destroyed: no handle to what it was borrowed is valid any more.
  @inline(__always)
  mutating func end() {
    if changes.record != nil { changes.end() }
    if let borrows {
      borrows.release()
      self.borrows = nil
    }
  }

  /// How to read an argument that is as it was passed, and not consumed.
  @inline(__always)
  func recipe(_ index: Int) -> ValueRecipe? {
    guard changes.record == nil else { return nil }
    return view.withPlan { plan in
      guard index < plan.argumentCount else { return nil }
      let recipe = plan.recipes[index]
      if case .none = recipe.kind { return nil }
      return recipe.isConsumed && hasTaken ? nil : recipe
    }
  }

  /// Gives `body` the memory of a borrowed value, as it is now.
  func withMemory<R>(of borrowed: BorrowedValue, _ body: (UnsafeRawPointer) -> R) -> R? {
    switch borrowed.root {
    case .memory(let address): return UnsafeRawPointer(bitPattern: address + UInt(borrowed.offset)).map(body)
    case .argument(let index):
      if let recipe = recipe(index) { return recipe.withMemory(view.call) { body($0 + borrowed.offset) } }
      if changes.isConsumed(index) { return nil }
      if let memory = changes.original(index) { return body(memory + borrowed.offset) }
      if let value = changes.held(index) { return body(UnsafeRawPointer(value.memory) + borrowed.offset) }
      guard plan.arguments.indices.contains(index) else { return nil }
      return read(plan.arguments[index].location, plan.arguments[index].info, borrowed, body)
    case .selfValue:
      guard case .value(let plan) = plan.selfPlan else { return nil }
      // The callee ended what it owned, or may have.
      guard changes.selfState(plan).isThere else { return nil }
      return read(plan.readable, plan.info, borrowed, body)
    case .result(let run):
      if run != changes.resultNumber { return changes.formerResult(run).map { body($0 + borrowed.offset) } }
      guard let info = plan.result.info, hasRun else { return nil }
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
  /// What calls of this thread pass on to those below them.
  var scopes = ThreadScopes()
  /// Calls of rules on trees of classes: which of a chain of overrides is the leaf.
  var open = OpenCalls()
  /// Where rules build their records, one at a time: rules run no program code, and no hook fires while one runs.
  let recordBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)

  /// Ends the program where C has another picture of the first fields: CHandlerThread.
  static func checkLayout() {
    precondition(
      MemoryLayout<Self>.offset(of: \.top) == MemoryLayout<CHandlerThread>.offset(of: \.top)
        && MemoryLayout<Self>.offset(of: \.counter) == MemoryLayout<CHandlerThread>.offset(of: \.counter),
      "CHandlerThread is not laid out as ScriptThread")
  }

  /// This thread's record; made on first use, never freed (thread records are reused).
  static func current() -> UnsafeMutablePointer<ScriptThread>? {
    guard let thread = hkt_thread() else { return nil }
    return of(thread)
  }

  /// The record of that thread, which is this one; made on first use.
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
