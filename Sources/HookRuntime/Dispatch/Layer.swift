// Layer — one hook's place in the nest around a selector (object hooks outside type hooks, within a scope
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
  /// It is installed switched off.
  package var startsDisabled: Bool
  /// It neither allocates memory nor waits for a lock, also not in the Swift runtime: it may stand before `malloc`.
  package var isSafeInAllocator = false
  /// What its handler knows of its own runs; nil: nothing.
  package var facts: (any LayerFacts)?
  /// Called once when no call in flight can use the layer any more, on any thread.
  package var release: (@Sendable (UnsafeMutableRawPointer?) -> Void)?
  /// The layer may return with a result or error of its own, or needs to see them.
  package var needsResult: Bool { phases & UInt32(HKT_ON_AROUND | HKT_ON_EXIT) != 0 }

  package init(
    function: @escaping HKTLayerFunction, context: UnsafeMutableRawPointer?, phases: UInt32, priority: Int = 0,
    isHostWork: Bool = true, canWait: Bool = false, readsValues: Bool = true, owner: String, group: String? = nil, isOnce: Bool = false,
    startsDisabled: Bool = false, facts: (any LayerFacts)? = nil, release: (@Sendable (UnsafeMutableRawPointer?) -> Void)? = nil
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
    self.startsDisabled = startsDisabled
    self.facts = facts
    self.release = release
  }
}

extension LayerSpec {
  /// A layer whose context is an object, kept as long as a call may be in it.
  package init(
    _ function: @escaping HKTLayerFunction, keeping object: AnyObject, phases: UInt32, priority: Int = 0, isHostWork: Bool = true,
    canWait: Bool = false, readsValues: Bool = true, owner: String, group: String? = nil, isOnce: Bool = false, startsDisabled: Bool = false,
    facts: (any LayerFacts)? = nil
  ) {
    self.init(
      function: function, context: Unmanaged.passRetained(object).toOpaque(), phases: phases, priority: priority, isHostWork: isHostWork,
      canWait: canWait, readsValues: readsValues, owner: owner, group: group, isOnce: isOnce, startsDisabled: startsDisabled, facts: facts
      // The object that was retained, once.
    ) { Unmanaged<AnyObject>.fromOpaque($0!).release() }
  }
}

/// Keeps a layer's context alive: one reference while installed, one for every published set that holds it.
final class LayerLifetime: @unchecked Sendable {
  // `spec` and `state` never change, `meter` is guarded by the engine's lock, what `state` points at is atomic; the release closure runs in
  // deinit, when the last set is gone.
  let spec: LayerSpec
  /// What calls note of a layer that does not see all of its selector's calls; nil for others.
  let state: UnsafeMutablePointer<HKTLayerState>?

  init(_ spec: LayerSpec, countsCalls: Bool) {
    self.spec = spec
    state = countsCalls || spec.isOnce ? .allocate(capacity: 1) : nil
    // Where calls allocate memory, no call can be the occasion to take a layer out.
    let once = !spec.isOnce ? HKT_ONCE_NOT : spec.isSafeInAllocator ? HKT_ONCE_QUIET : HKT_ONCE_ARMED
    if let state { hkt_layer_state_init(state, UInt32(once)) }
  }
  /// Made when somebody measures it for the first time, and kept.
  private(set) var meter: Meter?

  /// Under the engine's lock. Nil when memory ran out.
  func makeMeter(_ measuring: HKTMeasuring) -> Meter? {
    meter = meter ?? Meter()
    if measuring == HKT_MEASURE_ALL { meter?.countBuckets() }
    return meter
  }

  deinit {
    if let state {
      hkt_layer_state_end(state)
      state.deallocate()
    }
    spec.release?(spec.context)
  }

  var isSpent: Bool { state.map { hkt_layer_is_spent($0) } ?? false }
}

/// Whose calls a layer sees, as the dispatcher tells it.
enum LayerScope {
  case type
  case subclass(Metadata)
  case object(HookedObject)
}

/// How calls come to a layer that does not see all of its selector's, or not by the entries: of most layers there is nothing to say.
final class Detour {
  let scope: LayerScope
  let backEnd: BackEnd
  /// The words that are written for it; nil where it needs none.
  let diversion: (any Diversion)?
  /// Why it is not by the entries, which nobody asked to leave alone.
  let instead: HookRefusal?

  init(scope: LayerScope, backEnd: BackEnd, diversion: (any Diversion)?, instead: HookRefusal?) {
    (self.scope, self.backEnd, self.diversion, self.instead) = (scope, backEnd, diversion, instead)
  }

  /// Where calls have to be distinguished by the layer, they are counted for it.
  var countsCalls: Bool {
    if case .type = scope { return diversion?.importers != nil }
    return true
  }
}

/// A layer in its place. Guarded by the engine's lock.
final class InstalledLayer {
  let token: HookToken
  let lifetime: LayerLifetime
  let order: LayerOrder
  /// Nil: every call that comes by the entries.
  private let detour: Detour?
  /// Another back end's site sees the calls that it is for.
  var isFolded = false
  /// Set through the sets that it is in.
  var isEnabled: Bool
  /// There was no memory for a set with it.
  var isLeftOut = false
  /// Which runs of its handler are measured.
  var measuring = HKT_MEASURE_NONE
  /// It takes part in one of so many calls.
  var oneIn: UInt32 = 1
  /// Why it is off, or takes part in some calls only, where the host decided that.
  var limitation: String?

  var spec: LayerSpec { lifetime.spec }
  var scope: LayerScope { detour?.scope ?? .type }
  var backEnd: BackEnd { detour?.backEnd ?? .entry }
  var diversion: (any Diversion)? { detour?.diversion }
  var instead: HookRefusal? { detour?.instead }
  /// The object it is for alone.
  var object: HookedObject? {
    if case .object(let object)? = detour?.scope { object } else { nil }
  }

  /// - Parameter sequence: its place among layers of the same priority; the token's when nil.
  init(_ lifetime: LayerLifetime, by detour: Detour?, token: HookToken, sequence: UInt64? = nil) {
    self.token = token
    self.lifetime = lifetime
    self.detour = detour
    isEnabled = !lifetime.spec.startsDisabled
    var isObject = false
    if case .object? = detour?.scope { isObject = true }
    order = LayerOrder(isObject: isObject, priority: lifetime.spec.priority, sequence: sequence ?? token.id)
  }

  /// The layer as the dispatcher reads it.
  var entry: HKTLayer {
    var filter = HKT_FILTER_NONE
    var value: UInt64 = 0
    if case .subclass(let metadata)? = detour?.scope {
      filter = HKT_FILTER_CLASS
      value = UInt64(UInt(bitPattern: metadata.pointer))
    }
    if let importers = detour?.diversion?.importers {
      filter = HKT_FILTER_IMPORTER
      value = importers
    }
    return HKTLayer(
      function: lifetime.spec.function, context: lifetime.spec.context, phases: lifetime.spec.phases,
      is_host_work: lifetime.spec.isHostWork ? 1 : 0, special: 0, filter: filter.rawValue,
      route: (isFolded ? .entry : backEnd).route.rawValue, state: lifetime.state, filter_value: value, order: order.rawValue,
      meter: measuring == HKT_MEASURE_NONE ? nil : lifetime.makeMeter(measuring)?.counts, one_in: oneIn, measuring: measuring.rawValue)
  }
}

/// A layer's place in the nest: greater is further out.
struct LayerOrder: Comparable {
  let rawValue: UInt64

  private static let priorityBits: UInt64 = 24
  private static let sequenceBits: UInt64 = 39

  /// - Parameters:
  ///   - priority: beyond 2^23 either way it counts as that.
  ///   - sequence: grows with each installation.
  init(isObject: Bool, priority: Int, sequence: UInt64) {
    let bound = 1 << (Self.priorityBits - 1)
    let level = UInt64(max(-bound, min(bound - 1, priority)) + bound)
    rawValue = (isObject ? HKT_ORDER_OBJECT : 0) | level << Self.sequenceBits | sequence & (1 << Self.sequenceBits - 1)
  }

  static func < (a: LayerOrder, b: LayerOrder) -> Bool { a.rawValue < b.rawValue }
}

/// An installed hook. Removing it twice answers false.
package struct HookToken: Hashable, Sendable {
  package let id: UInt64
  package let selector: String

  /// - Parameter selector: for messages; tokens are distinguished by their ids.
  package init(id: UInt64, selector: String = "") {
    self.id = id
    self.selector = selector
  }

  package static func == (a: HookToken, b: HookToken) -> Bool { a.id == b.id }
  package func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
