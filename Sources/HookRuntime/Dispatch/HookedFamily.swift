// HookedFamily — a selector whose bodies are diverted.
//
// A body's plan is made when a layer that reads values is added, otherwise at the first call that runs through layers:
// of everything that a pattern matches, most is never called.
internal import CHookTrampoline
private import Glibc
internal import SwiftMangling
private import Synchronization

/// One diverted body, or one word that leads to it.
final class HookedBody: @unchecked Sendable {
  // Nothing here changes; what calls read and write of the record is atomic or under a lock of C's.
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

  /// How calls come to the site: by the body's entry, or through a word of that kind.
  let backEnd: BackEnd

  /// - Parameter declaration: whose calls enter the body.
  init(
    body: Body, site: UnsafeMutablePointer<HKTSite>, as declaration: Declaration, guardedBy thunk: MergeThunk? = nil, by backEnd: BackEnd = .entry
  ) {
    self.body = body
    self.backEnd = backEnd
    isShared = thunk != nil
    self.thunk = thunk
    self.site = site
    isEnterOnly = declaration.yieldsInCaller
    isAsync = declaration.functionType.isAsync
    record = .allocate(capacity: 1)
    // Sites and records are never freed: a thread may be about to enter one.
    memset(record, 0, MemoryLayout<HKTBodyRecord>.size)
    record.pointee.flags = UInt32(isEnterOnly ? HKT_BODY_ENTER_ONLY : 0)
    record.pointee.route = backEnd.route.rawValue
    if backEnd != .entry { becomeSlotRecord() }
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

/// Guarded by the engine's lock, but for `family` and `image`, which never change, and `everyBody`.
final class HookedFamily {
  let family: Family
  let image: ImageCatalog
  /// Diverted at their entries; none while only slots divert its calls.
  private(set) var bodies: [HookedBody] = []
  private(set) var refused: [(body: Body, reason: HookRefusal)] = []
  /// Where calls arrive that come through words of data.
  private(set) var arrivals: [HookedBody] = []
  /// Those words.
  var slots: [SlotKey: Slot] = [:]
  let sets: LayerSets
  /// What was found out of classes: nil for those that hooks can be for.
  var checkedScopes: [ScopeKey: ScopeRefusal?] = [:]
  /// Bodies and arrivals, for callers that make a plan without the lock.
  private let everyBody = Mutex<[HookedBody]>([])

  init(family: Family, image: ImageCatalog) {
    self.family = family
    self.image = image
    sets = LayerSets([])
  }

  /// Bodies that can be diverted at their entries, and those that cannot: to be said once, or again with more bodies.
  func add(_ bodies: [HookedBody], refused: [(body: Body, reason: HookRefusal)]) {
    self.refused += refused
    self.bodies += bodies
    for each in bodies { adopt(each) }
    linkForwarders()
  }

  /// The site of a word that the selector's calls come through.
  func add(arrival: HookedBody) {
    arrivals.append(arrival)
    adopt(arrival)
    for each in bodies { hkt_record_add_flags(each.record, UInt32(HKT_BODY_HAS_SLOTS)) }
  }

  private func adopt(_ body: HookedBody) {
    body.record.pointee.family = Unmanaged.passUnretained(self).toOpaque()
    if !arrivals.isEmpty, body.backEnd == .entry { hkt_record_add_flags(body.record, UInt32(HKT_BODY_HAS_SLOTS)) }
    everyBody.withLock { $0.append(body) }
    hkt_site_add_record(body.site, body.record)
    body.site.pointee.handler = hkt_dispatch
    sets.add(body.record)
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
      // Never freed, as the records that read it; nor is a shorter one from before.
      if sources.count == Int(target.record.pointee.forwarder_count) { continue }
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
      if let body = family.everyBody.withLock({ $0.first { $0.record == record } }) { family.plan(body) }
    }
  }

  func planAll() {
    for body in bodies + arrivals where !body.hasPlan { plan(body) }
  }

  /// Of all bodies, made now where nobody asked before.
  var plans: [CallPlan] {
    planAll()
    // A record's plan is retained for ever.
    return (bodies + arrivals).compactMap { $0.record.pointee.plan.map { Unmanaged<CallPlan>.fromOpaque($0).takeUnretainedValue() } }
  }

  private func plan(_ body: HookedBody) { body.give(image.plan(of: body.body, in: family, guardedBy: body.thunk)) }
}
