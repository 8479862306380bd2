// HookBatch — the hooks that one statement of a patch led to, now or when an image brings what it waits for.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import Journal
internal import LuaBridge
private import Synchronization

/// A function of a script, kept for as long as somebody may call it.
final class HandlerFunction: Sendable {
  // The state forgets references from any thread.
  let patch: Environment
  let ref: SHLRef
  let info: SHLFunctionInfo

  /// Nil when memory ran out.
  init?(_ callback: LuaCallback, argument: Int, of patch: Environment) {
    var info = SHLFunctionInfo()
    ref = shl_arg_function_ref(callback.raw, Int32(argument), &info)
    self.patch = patch
    self.info = info
    if ref == 0 { return nil }
  }

  /// - Parameter ref: a reference that is given back with this object.
  init(_ ref: SHLRef, _ info: SHLFunctionInfo, of patch: Environment) {
    self.patch = patch
    self.ref = ref
    self.info = info
  }

  /// One function that fails in a handler of many is that function's failure; many of them are the handler's.
  let breaker = Breaker(limit: 25)

  deinit { shl_forget(patch.state, ref) }
}

/// Made while the patch runs; grows on any thread.
final class HookBatch: Sendable {
  private let position: LuaHook.Position
  private let handler: HandlerFunction
  private let options: HookOptions
  private let selector: ResolvedSelector
  private let scope: HookScope
  /// How many traps a containment takes before it lets calls pass; 0: any number.
  private let limit: Int
  private let answers: FailureAnswers
  private let state = Mutex(State())

  private struct State {
    var tokens: [HookToken] = []
    var refused: [(selector: String, reason: HookRefusal)] = []
    var wait: WaitToken?
  }

  init(
    _ position: LuaHook.Position, _ handler: HandlerFunction, _ options: HookOptions, selector: ResolvedSelector, scope: HookScope,
    limit: Int = 0, answers: FailureAnswers = FailureAnswers()
  ) {
    self.position = position
    self.answers = answers
    self.limit = limit
    self.handler = handler
    self.options = options
    self.selector = selector
    self.scope = scope
    shl_outside(handler.patch.state, HeldMemory.ofBatch)
  }

  deinit { shl_outside(handler.patch.state, -HeldMemory.ofBatch) }

  private var patch: Environment { handler.patch }

  /// The layer for one function.
  func layer(_ family: Family) -> LayerSpec {
    let hook = LuaHook(position: position, handler: handler, family: family, options: options, answers: answers)
    if position == .contain { return containing(hook) }
    return LayerSpec(
      hook.mayWait ? asyncLuaLayer : luaLayer, keeping: hook, phases: hook.phases,
      priority: options.priority, canWait: hook.mayWait, readsValues: readsValues(hook), owner: patch.id, group: options.group,
      isOnce: options.isOnce, startsDisabled: patch.installation.startsDisabled, facts: hook)
  }

  /// How the function is called is found out now, not at its first call, where that may wait on an event loop: but for the many that a
  /// pattern matches and that are never called.
  private func readsValues(_ hook: LuaHook) -> Bool { hook.readsValues || hook.takesCall && selector.families.count <= Self.few }
  private static let few = 256

  private func containing(_ hook: LuaHook) -> LayerSpec {
    LayerSpec(
      containLayer, keeping: ContainLayer(hook, limit: limit), phases: hook.phases,
      priority: options.priority, readsValues: true, owner: patch.id, group: options.group, isOnce: options.isOnce,
      startsDisabled: patch.installation.startsDisabled, facts: hook)
  }

  /// Takes note of what was installed.
  func add(_ report: HookEngine.Report) {
    state.withLock { state in
      state.tokens += report.tokens.map(\.token)
      state.refused += report.refused.map { ($0.0, $0.1) }
    }
    // Of an object's hooks nobody waits for calls: it may be gone at once.
    patch.add(report.tokens.map(\.token), areExact: !selector.isGlob && options.object == nil)
  }

  /// Hooks what images bring of the selector from now on.
  func wait() {
    let request = WaitRequest(
      selector: selector.text, owner: patch.id, group: options.group, scope: scope, backEnd: options.backEnd, mayChoose: true,
      known: Set(selector.families.map { FamilyName($0) })
    ) { [weak self] family in
      self.flatMap { $0.patch.installation.isRemoved ? nil : $0.layer(family) }
    } landed: { [weak self] in
      self?.landed($0)
    }
    let token = HookEngine.shared.wait(request)
    state.withLock { $0.wait = token }
    patch.installation.add(token)
  }

  private func landed(_ report: HookEngine.Report) {
    add(report)
    let rest = report.refused.isEmpty && report.partialCount == 0 ? "" : report.rest
    patch.log.note("hook landed", "\(patch.fileName): '\(selector.text)' appeared: \(report.tokens.count) hooked\(rest)")
    if !selector.isGlob { report.tellReach(patch) }
    for (name, reason) in report.refused where !selector.isGlob {
      patch.log.say("\(patch.fileName): cannot hook '\(name)', which appeared: \(reason)")
    }
  }

  /// All hooks it led to.
  var tokens: [HookToken] { state.withLock { $0.tokens } }
  /// What it meant and could not hook.
  var refused: [(selector: String, reason: HookRefusal)] { state.withLock { $0.refused } }
  var isWaiting: Bool { state.withLock { $0.wait != nil } }

  /// Nothing lands any more. False when it did not wait.
  func stopWaiting() -> Bool {
    let wait = state.withLock { state in
      defer { state.wait = nil }
      return state.wait
    }
    return wait.map { HookEngine.shared.stopWaiting($0) } ?? false
  }
}
