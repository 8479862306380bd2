// HookBatch — the hooks that one statement of a patch led to, now or when an image brings what it waits for.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge
internal import SwiftMangling
private import Synchronization

/// A function of a script, kept for as long as somebody may call it.
final class HandlerFunction: Sendable {
  // The state forgets references from any thread.
  let patch: Patch
  let ref: SHLRef
  let info: SHLFunctionInfo

  /// Nil when memory ran out.
  init?(_ callback: LuaCallback, argument: Int, of patch: Patch) {
    var info = SHLFunctionInfo()
    ref = shl_arg_function_ref(callback.raw, Int32(argument), &info)
    self.patch = patch
    self.info = info
    if ref == 0 { return nil }
  }

  deinit { shl_forget(patch.state, ref) }
}

/// Made while the patch runs; grows on any thread.
final class HookBatch: Sendable {
  let patch: Patch
  private let position: LuaHook.Position
  private let handler: HandlerFunction
  private let options: HookOptions
  private let selector: String
  private let isGlob: Bool
  private let state = Mutex(State())

  private struct State {
    var hooks: [String: LuaHook] = [:]
    var tokens: [HookToken] = []
    var wait: WaitToken?
  }

  init(_ patch: Patch, _ position: LuaHook.Position, _ handler: HandlerFunction, _ options: HookOptions, selector: String) {
    self.patch = patch
    self.position = position
    self.handler = handler
    self.options = options
    self.selector = selector
    isGlob = SelectorPattern(selector).isGlob
  }

  /// The layer for one function.
  func layer(_ family: Family) -> LayerSpec {
    let hook = LuaHook(patch: patch, position: position, handler: handler, family: family, options: options)
    state.withLock { $0.hooks[family.imagePath + "\0" + family.key] = hook }
    return LayerSpec(
      function: hook.mayWait ? asyncLuaLayer : luaLayer, context: Unmanaged.passRetained(hook).toOpaque(), phases: hook.phases,
      priority: options.priority, canWait: hook.mayWait, readsValues: hook.readsValues, owner: patch.id
    ) { Unmanaged<LuaHook>.fromOpaque($0!).release() }
  }

  /// Takes note of what was installed.
  func add(_ report: HookEngine.Report) {
    state.withLock { state in
      state.tokens += report.tokens.map(\.token)
      for (token, key) in report.tokens {
        for (name, hook) in state.hooks where name.hasSuffix("\0" + key) && hook.token == nil { hook.token = token }
      }
    }
    patch.add(report.tokens.map(\.token), isExact: !isGlob)
  }

  /// Hooks what images bring of the selector from now on.
  func wait(besides known: [Family]) {
    let token = HookEngine.shared.wait(
      WaitRequest(selector: selector, owner: patch.id, backEnd: options.backEnd, known: Set(known.map { FamilyName($0) })) { [weak self] family in
        self.flatMap { $0.patch.isLive ? $0.layer(family) : nil }
      } landed: { [weak self] in self?.landed($0) })
    state.withLock { $0.wait = token }
  }

  private func landed(_ report: HookEngine.Report) {
    add(report)
    patch.log.note(
      "hook landed",
      "\(patch.fileName): '\(selector)' appeared: \(report.tokens.count) hooked" + (report.refused.isEmpty ? "" : ", \(report.refused.count) refused"))
    for (name, reason) in report.refused where !isGlob { patch.log.say("\(patch.fileName): cannot hook '\(name)', which appeared: \(reason)") }
  }

  /// Takes out what was installed, and waits no more. True when there was something.
  func remove() -> Bool {
    let (tokens, wait) = state.withLock { state in
      defer { state.wait = nil }
      return (state.tokens, state.wait)
    }
    var removed = wait.map { HookEngine.shared.stopWaiting($0) } ?? false
    for token in tokens { removed = HookEngine.shared.remove(token) || removed }
    return removed
  }

  /// `hook (2 installed, 1 refused)`
  func description(refused: Int) -> String {
    let (installed, waits) = state.withLock { ($0.tokens.count, $0.wait != nil) }
    return "hook (\(installed) installed, \(refused) refused\(waits ? ", waiting" : ""))"
  }
}
