// HookedFamily — a selector whose bodies are diverted, and the set of layers its calls run through.
internal import CHookTrampoline
private import Glibc

/// One diverted body.
final class HookedBody {
  let body: Body
  let site: UnsafeMutablePointer<HKTSite>
  /// Other selectors use this body too; switching the site off would take it from them.
  let isShared: Bool
  let record: UnsafeMutablePointer<HKTBodyRecord>
  let plan: CallPlan

  init(body: Body, site: UnsafeMutablePointer<HKTSite>, plan: CallPlan, guardedBy thunk: MergeThunk? = nil) {
    self.body = body
    isShared = thunk != nil
    self.site = site
    self.plan = plan
    record = .allocate(capacity: 1)
    // Sites and records are never freed: a thread may be about to enter one.
    memset(record, 0, MemoryLayout<HKTBodyRecord>.size)
    record.pointee.plan = Unmanaged.passRetained(plan).toOpaque()
    record.pointee.stack_bytes = UInt32(plan.stack.bytes)
    record.pointee.flags = UInt32((plan.isEnterOnly ? HKT_BODY_ENTER_ONLY : 0) | (plan.stack.isKnown ? HKT_BODY_STACK_KNOWN : 0))
    if plan.isAsync { site.pointee.flags |= UInt64(HKT_SITE_ASYNC) }
    if let thunk {
      record.pointee.guard_mask = thunk.mask
      withUnsafeMutableBytes(of: &record.pointee.guard_value) { values in
        for (index, value) in thunk.values.enumerated() { values.storeBytes(of: value, toByteOffset: 8 * index, as: UInt64.self) }
      }
    }
  }
}

/// Guarded by the engine's lock.
final class HookedFamily {
  let family: Family
  let bodies: [HookedBody]
  let refused: [(body: Body, reason: HookRefusal)]
  private(set) var layers: [(token: HookToken, lifetime: LayerLifetime)] = []

  init(family: Family, bodies: [HookedBody], refused: [(body: Body, reason: HookRefusal)]) {
    self.family = family
    self.bodies = bodies
    self.refused = refused
    let identity = Unmanaged.passUnretained(self).toOpaque()
    for each in bodies {
      each.record.pointee.family = identity
      hkt_site_add_record(each.site, each.record)
      each.site.pointee.handler = hkt_dispatch
    }
    linkForwarders()
  }

  /// The family whose calls of a merged body are told by the same constants.
  static func owner(of site: UnsafeMutablePointer<HKTSite>, guardedLike thunk: MergeThunk) -> HookedFamily? {
    var next = site.pointee.owner?.assumingMemoryBound(to: HKTBodyRecord.self)
    while let record = next {
      let isSame = record.pointee.guard_mask == thunk.mask
        && withUnsafeBytes(of: record.pointee.guard_value) { values in
          thunk.values.indices.allSatisfy { thunk.mask & 1 << $0 == 0 || values.load(fromByteOffset: 8 * $0, as: UInt64.self) == thunk.values[$0] }
        }
      // Families are never freed, so the record's is there.
      if isSame { return Unmanaged<HookedFamily>.fromOpaque(record.pointee.family).takeUnretainedValue() }
      next = record.pointee.next
    }
    return nil
  }

  /// A base that hands its calls on to a clone, and an allocating initialiser that calls the initialising one: the
  /// second entry is the same call. Recognised by the return address lying in the first body, or by a tail call.
  private func linkForwarders() {
    guard bodies.count > 1 else { return }
    for target in bodies {
      let sources = bodies.filter { $0.site != target.site && $0.body.handsOn(to: target.body) }
      if sources.isEmpty { continue }
      // Never freed, as the records that read it.
      let list = UnsafeMutablePointer<HKTForwarder>.allocate(capacity: sources.count)
      for (index, source) in sources.enumerated() {
        source.record.pointee.flags |= UInt32(HKT_BODY_FORWARDS)
        let begin = source.body.address
        (list + index).initialize(to: HKTForwarder(begin: begin, end: begin + UInt64(source.body.size), record: source.record))
      }
      target.record.pointee.forwarder = UnsafePointer(list)
      target.record.pointee.forwarder_count = UInt32(sources.count)
    }
  }

  // MARK: Layers

  func add(_ spec: LayerSpec, token: HookToken) {
    let index = layers.firstIndex { $0.lifetime.spec.priority <= spec.priority } ?? layers.endIndex
    layers.insert((token, LayerLifetime(spec)), at: index)
  }

  func remove(_ token: HookToken) -> Bool {
    guard let index = layers.firstIndex(where: { $0.token == token }) else { return false }
    layers.remove(at: index)
    return true
  }

  /// Makes the current layers what later calls run through. Answers false when memory ran out; nothing changed then.
  func publish() -> Bool {
    var made: [UnsafeMutablePointer<HKTLayers>?] = []
    for _ in bodies {
      if layers.isEmpty { made.append(nil); continue }
      guard let set = makeSet() else {
        made.forEach { hkt_layers_retire($0) }
        return false
      }
      made.append(set)
    }
    for (each, set) in zip(bodies, made) {
      let old = hkt_record_publish(each.record, set)
      hkt_layers_retire(old)
    }
    return true
  }

  private func makeSet() -> UnsafeMutablePointer<HKTLayers>? {
    guard let set = hkt_layers_new(UInt32(layers.count)) else { return nil }
    var phases: UInt32 = 0
    for (index, layer) in layers.enumerated() {
      let spec = layer.lifetime.spec
      phases |= spec.phases
      hkt_layers_set(
        set, UInt32(index),
        HKTLayer(
          function: spec.function, context: spec.context, phases: spec.phases, is_host_work: spec.isHostWork ? 1 : 0))
    }
    set.pointee.phases = phases
    set.pointee.owner = Unmanaged.passRetained(LayerSetOwner(layers.map(\.lifetime))).toOpaque()
    set.pointee.on_free = { Unmanaged<LayerSetOwner>.fromOpaque($0!).release() }
    return set
  }
}

/// Keeps the layers of one published set alive.
private final class LayerSetOwner {
  private let lifetimes: [LayerLifetime]
  init(_ lifetimes: [LayerLifetime]) { self.lifetimes = lifetimes }
}
