// ClosureLayer — layers that are Swift closures which name no types: overridden members, requirements that are answered for.
private import CHookTrampoline

extension LayerSpec {
  /// A layer that runs a Swift closure. What it throws the call throws, if it can.
  package static func closure(
    _ phases: UInt32, priority: Int = 0, _ body: @escaping @Sendable (borrowing HookedCall) throws -> Void
  ) -> LayerSpec {
    LayerSpec(closureLayer, keeping: ClosureBox(body), phases: phases, priority: priority, isHostWork: false, owner: "swift")
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
