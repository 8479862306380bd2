// ClosureHook — hooks whose closures name no types, for cases that are about the engine: they get a HookedCall, as members that a closure
// overrides do.
import CHookTrampoline
package import HookRuntime

/// The hooks of one selector.
package struct ClosureHook: Sendable {
  fileprivate let tokens: [HookToken]

  /// False when it was removed before.
  @discardableResult
  package func remove() -> Bool { HookEngine.shared.remove(tokens) > 0 }
}

extension HookEngine {
  /// Runs `body` before each call of the selector, on the caller's thread.
  package func before(_ selector: String, priority: Int = 0, _ body: @escaping HookedCall.Handler) throws(HookError) -> ClosureHook {
    try install(selector, HKT_ON_ENTER, priority, body)
  }
  /// Runs `body` instead; `HookedCall.proceed()` runs the original.
  package func around(_ selector: String, priority: Int = 0, _ body: @escaping HookedCall.Handler) throws(HookError) -> ClosureHook {
    try install(selector, HKT_ON_AROUND, priority, body)
  }
  /// Runs `body` after each call.
  package func after(_ selector: String, priority: Int = 0, _ body: @escaping HookedCall.Handler) throws(HookError) -> ClosureHook {
    try install(selector, HKT_ON_EXIT, priority, body)
  }

  private func install(_ selector: String, _ phases: Int, _ priority: Int, _ body: @escaping HookedCall.Handler) throws(HookError) -> ClosureHook {
    let found: [(ImageCatalog, Family)]
    switch SelectorLookup.resolve(selector) {
    case .success(let families): found = families
    case .failure(let problem): throw HookError(problem)
    }
    let report = install(found.map { HookRequest(image: $0, family: $1) }) { _ in .closure(UInt32(phases), priority: priority, body) }
    if let (name, reason) = report.refused.first { throw HookError(name, reason) }
    return ClosureHook(tokens: report.tokens.map(\.token))
  }
}
