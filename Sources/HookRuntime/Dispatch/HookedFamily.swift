// HookedFamily — a selector whose bodies are diverted.
//
// A body's plan is made when a layer that reads values is added, otherwise at the first call that runs through layers:
// of everything that a pattern matches, most is never called.
internal import CHookTrampoline
private import Glibc
internal import SwiftMangling

/// One diverted body.
final class HookedBody {
  let body: Body
  let site: UnsafeMutablePointer<HKTSite>
  /// Other selectors use this body too; switching the site off would take it from them.
  let isShared: Bool
  let record: UnsafeMutablePointer<HKTBodyRecord>
  let thunk: MergeThunk?
  let isEnterOnly: Bool
  let isAsync: Bool
  /// It may get one from another thread at any time.
  var hasPlan: Bool { record.pointee.plan != nil }
  /// Its calls tell whom they are on. Once there is a plan.
  var knowsSelf: Bool { record.pointee.self_at != UInt16(HKT_SELF_UNKNOWN) }

  /// - Parameter declaration: whose calls enter the body.
  init(body: Body, site: UnsafeMutablePointer<HKTSite>, as declaration: Declaration, guardedBy thunk: MergeThunk? = nil) {
    self.body = body
    isShared = thunk != nil
    self.thunk = thunk
    self.site = site
    isEnterOnly = declaration.yieldsInCaller
    isAsync = declaration.functionType.isAsync
    record = .allocate(capacity: 1)
    // Sites and records are never freed: a thread may be about to enter one.
    memset(record, 0, MemoryLayout<HKTBodyRecord>.size)
    record.pointee.flags = UInt32(isEnterOnly ? HKT_BODY_ENTER_ONLY : 0)
    record.pointee.self_at = UInt16(HKT_SELF_UNKNOWN)
    if isAsync { site.pointee.flags |= UInt64(HKT_SITE_ASYNC) }
    if let thunk {
      record.pointee.guard_mask = thunk.mask
      withUnsafeMutableBytes(of: &record.pointee.guard_value) { values in
        for (index, value) in thunk.values.enumerated() { values.storeBytes(of: value, toByteOffset: 8 * index, as: UInt64.self) }
      }
    }
  }

  func give(_ plan: CallPlan) {
    let retained = Unmanaged.passRetained(plan)
    var flags = UInt32((plan.stack.isKnown ? HKT_BODY_STACK_KNOWN : 0) | (plan.mayUseX87 ? HKT_BODY_X87 : 0))
    // Whoever else makes the plan finds the same.
    if let offset = plan.selfWord { record.pointee.self_at = offset.inFrame }
    if plan.selfWord?.isClass == true { flags |= UInt32(HKT_BODY_SELF_IS_CLASS) }
    if !hkt_record_plan(record, retained.toOpaque(), UInt32(plan.stack.bytes), flags) { retained.release() }
  }
}

/// Guarded by the engine's lock, but for `family`, `image` and `bodies`, which never change.
final class HookedFamily {
  let family: Family
  let image: ImageCatalog
  let bodies: [HookedBody]
  let refused: [(body: Body, reason: HookRefusal)]
  let sets: LayerSets
  /// What was found out of classes: nil for those that hooks can be for.
  var checkedScopes: [ScopeKey: ScopeRefusal?] = [:]

  init(family: Family, image: ImageCatalog, bodies: [HookedBody], refused: [(body: Body, reason: HookRefusal)]) {
    self.family = family
    self.image = image
    self.bodies = bodies
    self.refused = refused
    sets = LayerSets(bodies.map(\.record))
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
      let isSame =
        record.pointee.guard_mask == thunk.mask
        && withUnsafeBytes(of: record.pointee.guard_value) { values in
          thunk.values.indices.allSatisfy {
            thunk.mask & 1 << $0 == 0 || values.load(fromByteOffset: 8 * $0, as: UInt64.self) == thunk.values[$0]
          }
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

  // MARK: Plans

  /// Makes the plans of records at their first call.
  static func planAtFirstCall() {
    hkt_set_planner { record in
      // Families are never freed, so the record's is there.
      let family = Unmanaged<HookedFamily>.fromOpaque(record!.pointee.family).takeUnretainedValue()
      if let body = family.bodies.first(where: { $0.record == record }) { family.plan(body) }
    }
  }

  func planAll() {
    for body in bodies where !body.hasPlan { plan(body) }
  }

  /// Of all bodies, made now where nobody asked before.
  var plans: [CallPlan] {
    planAll()
    // A record's plan is retained for ever.
    return bodies.compactMap { $0.record.pointee.plan.map { Unmanaged<CallPlan>.fromOpaque($0).takeUnretainedValue() } }
  }

  private func plan(_ body: HookedBody) { body.give(image.plan(of: body.body, in: family, guardedBy: body.thunk)) }
}
