// ClosureHook — hooks written as Swift closures.
//
//     let hook = try HookEngine.shared.around("Shop.Cart.total(tax:)") { call in
//       call.proceed()
//       call.setResult(call.result(as: Double.self)! * 2)
//     }
//     hook.remove()
private import CHookTrampoline

extension HookEngine {
  public typealias Handler = @Sendable (borrowing HookedCall) -> Void

  /// Runs `body` before each call of the selector, on the caller's thread.
  public func before(_ selector: String, priority: Int = 0, _ body: @escaping Handler) throws(HookError) -> Hook {
    try install(selector, UInt32(HKT_ON_ENTER), priority, body)
  }
  /// Runs `body` instead; `HookedCall.proceed()` runs the original.
  public func around(_ selector: String, priority: Int = 0, _ body: @escaping Handler) throws(HookError) -> Hook {
    try install(selector, UInt32(HKT_ON_AROUND), priority, body)
  }
  /// Runs `body` after each call.
  public func after(_ selector: String, priority: Int = 0, _ body: @escaping Handler) throws(HookError) -> Hook {
    try install(selector, UInt32(HKT_ON_EXIT), priority, body)
  }

  private func install(_ selector: String, _ phases: UInt32, _ priority: Int, _ body: @escaping Handler) throws(HookError) -> Hook {
    let found: [(ImageCatalog, Family)]
    switch SelectorLookup.resolve(selector) {
    case .success(let families): found = families
    case .failure(let problem): throw HookError(problem)
    }
    let report = install(found.map { HookRequest(image: $0, family: $1) }) { _ in .closure(phases, priority: priority, body) }
    if let (name, reason) = report.refused.first { throw HookError(name, reason) }
    let record = HookRecord(HookPosition(phases), site: "")
    record.become(report.tokens.map(\.token), report)
    return Hook(record: record)
  }
}

extension LayerSpec {
  /// A layer that runs a Swift closure. What it throws the call throws, if it can.
  static func closure(
    _ phases: UInt32, priority: Int = 0, _ body: @escaping @Sendable (borrowing HookedCall) throws -> Void
  ) -> LayerSpec {
    LayerSpec(
      function: closureLayer, context: Unmanaged.passRetained(ClosureBox(body)).toOpaque(), phases: phases, priority: priority,
      isHostWork: false, owner: "swift"
    ) { Unmanaged<ClosureBox>.fromOpaque($0!).release() }
  }
}

/// A closure with an address of its own.
private final class ClosureBox: Sendable {
  let body: @Sendable (borrowing HookedCall) throws -> Void
  init(_ body: @escaping @Sendable (borrowing HookedCall) throws -> Void) { self.body = body }

  /// Runs the closure, and lets what it changed take effect.
  func run(_ changes: UnsafeMutablePointer<HandlerChanges>) -> HKTOutcome {
    var thrown: (any Error)?
    do { try body(HookedCall(changes)) } catch { thrown = error }
    do throws(HandlerProblem) {
      if let thrown { try changes.pointee.finish(throwingAny: thrown) } else { try changes.pointee.finish(hasResult: false) }
      return HKT_HANDLED
    } catch {
      // What it wants cannot be: the original runs in its place, or its outcome stands.
      changes.pointee.abandon()
      return HKT_FAILED
    }
  }
}

private let closureLayer: HKTLayerFunction = { call, context, phase in
  var changes = HandlerChanges(call!, phase)
  return withUnsafeMutablePointer(to: &changes) { changes in
    defer { changes.pointee.end() }
    // The context is the box that `install` retained for this layer.
    return Unmanaged<ClosureBox>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.run(changes) }
  }
}
