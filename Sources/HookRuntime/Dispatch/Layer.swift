// Layer — one hook's place in the nest around a selector (DESIGN: object hooks outside type hooks, within a scope
// higher priority outside, then the newer outside).
package import CHookTrampoline

/// What the dispatcher calls for each call of a hooked selector.
package struct LayerSpec {
  /// Runs on the caller's thread. Must not unwind.
  package var function: HKTLayerFunction
  /// Passed to `function`; must stay valid until `release` was called.
  package var context: UnsafeMutableRawPointer?
  /// HKT_ON_ENTER, HKT_ON_AROUND, HKT_ON_EXIT
  package var phases: UInt32
  package var priority: Int
  /// The hooks this layer makes are ScriptHost's own work: hooked functions it calls pass through unseen.
  package var isHostWork: Bool
  /// An `around` layer that answers HKT_PROCEED instead of calling hkt_call_proceed where the body is async.
  package var canWait: Bool
  /// Otherwise where the values of a call are is found out at the first one only.
  package var readsValues: Bool
  /// Who made it: shown in lists, and the key for removing all of an owner's hooks.
  package var owner: String
  /// Hooks of an owner that are enabled, disabled and removed as one.
  package var group: String?
  /// It takes part in one call, and is gone.
  package var isOnce: Bool
  /// Called once when no call in flight can use the layer any more, on any thread.
  package var release: (@Sendable (UnsafeMutableRawPointer?) -> Void)?
  /// The layer may return with a result or error of its own, or needs to see them.
  package var needsResult: Bool { phases & UInt32(HKT_ON_AROUND | HKT_ON_EXIT) != 0 }

  package init(
    function: @escaping HKTLayerFunction, context: UnsafeMutableRawPointer?, phases: UInt32, priority: Int = 0,
    isHostWork: Bool = true, canWait: Bool = false, readsValues: Bool = true, owner: String, group: String? = nil, isOnce: Bool = false,
    release: (@Sendable (UnsafeMutableRawPointer?) -> Void)? = nil
  ) {
    self.function = function
    self.context = context
    self.phases = phases
    self.priority = priority
    self.isHostWork = isHostWork
    self.canWait = canWait
    self.readsValues = readsValues
    self.owner = owner
    self.group = group
    self.isOnce = isOnce
    self.release = release
  }
}

/// Keeps a layer's context alive: one reference while installed, one for every published set that holds it.
final class LayerLifetime: @unchecked Sendable {
  // `spec` never changes; the release closure runs in deinit, when the last set is gone.
  let spec: LayerSpec
  init(_ spec: LayerSpec) { self.spec = spec }
  deinit { spec.release?(spec.context) }
}

/// An installed hook. Removing it twice answers false.
package struct HookToken: Hashable, Sendable {
  package let id: UInt64
  package let selector: String
}
