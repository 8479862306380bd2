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
  fileprivate let handOver: HandOver
  /// Of it, apart: these two answer nearly always, and copy nothing.
  fileprivate let isReached: Bool, passesAddresses: Bool
  let site: UnsafeMutablePointer<HKTSite>
  /// Other selectors use this body too; switching the site off would take it from them.
  let isShared: Bool
  let record: UnsafeMutablePointer<HKTBodyRecord>
  let thunk: MergeThunk?
  let isAsync: Bool
  /// It may get one from another thread at any time.
  var hasPlan: Bool { record.pointee.plan != nil }
  /// Its calls tell whom they are on. Once there is a plan.
  var knowsSelf: Bool { record.pointee.self_at != UInt16(HKT_SELF_UNKNOWN) }

  /// Calls of the site are for this selector.
  var hasSite: Bool { site.pointee.owner == UnsafeMutableRawPointer(record) }

  /// How calls come to the site: by the body's entry, or through a word of that kind.
  let backEnd: BackEnd

  /// - Parameter declaration: whose calls enter the body.
  init(
    body: Body, site: UnsafeMutablePointer<HKTSite>, as declaration: Declaration, guardedBy thunk: MergeThunk? = nil,
    by backEnd: BackEnd = .entry
  ) {
    self.body = body
    handOver = HandOver(body)
    (isReached, passesAddresses) = (handOver.isReached, handOver.passesAddresses)
    self.backEnd = backEnd
    isShared = thunk != nil
    self.thunk = thunk
    self.site = site
    isAsync = declaration.functionType.isAsync
    record = .allocate(capacity: 1)
    // Sites and records are never freed: a thread may be about to enter one.
    memset(record, 0, MemoryLayout<HKTBodyRecord>.size)
    record.pointee.flags = UInt32(body.isLeftByJump ? HKT_BODY_ENTER_ONLY : 0)
    record.pointee.route = backEnd.route.rawValue
    if backEnd != .entry { becomeSlotRecord() }
    record.pointee.self_at = UInt16(HKT_SELF_UNKNOWN)
    if isAsync { site.pointee.flags |= UInt64(HKT_SITE_ASYNC) }
    if let thunk {
      // Never freed, as the record that reads them.
      let guards = UnsafeMutableBufferPointer<HKTGuard>.allocate(capacity: thunk.constants.count)
      _ = guards.initialize(from: thunk.guards)
      record.pointee.guard = UnsafePointer(guards.baseAddress)
      record.pointee.guard_count = UInt32(guards.count)
    }
  }

  func give(_ plan: CallPlan) {
    let retained = Unmanaged.passRetained(plan)
    var flags = UInt32((plan.stack.isKnown ? HKT_BODY_STACK_KNOWN : 0) | (plan.mayUseX87 ? HKT_BODY_X87 : 0))
    if plan.selfWord?.isClass == true { flags |= UInt32(HKT_BODY_SELF_IS_CLASS) }
    if plan.endsObject { flags |= UInt32(HKT_BODY_ENDS_SELF) }
    let selfAt = plan.selfWord?.inFrame ?? UInt16(HKT_SELF_UNKNOWN)
    if !hkt_record_plan(record, retained.toOpaque(), UInt32(plan.stack.bytes), selfAt, flags) { retained.release() }
  }
}

extension MergeThunk {
  fileprivate var guards: [HKTGuard] {
    constants.map { HKTGuard(place: UInt32($0.place), reserved: 0, mask: $0.mask, value: $0.value) }
  }
}

extension HookedBody {
  /// A base that hands its calls on to a clone, and an allocating initialiser that calls the initialising one, wherever its
  /// image: the second entry is the same call. Recognised by the return address lying in the first body, or by a tail call.
  fileprivate func link(from others: HandingOn) {
    let sources = others.candidates(for: self).filter {
      (isReached || $0.passesAddresses) && $0.site != site && $0.handOver.goes(to: handOver)
    }
    if sources.isEmpty { return }
    for source in sources { hkt_record_add_flags(source.record, UInt32(HKT_BODY_FORWARDS)) }
    let forwarders = sources.map { source in
      let caller = source.callerCode(of: handOver)
      return HKTForwarder(begin: caller.lowerBound, end: caller.upperBound, record: source.record)
    }
    // Without memory for the list a call is seen twice.
    _ = hkt_record_add_forwarders(record, forwarders, UInt32(forwarders.count))
  }

  /// Where calls of `other` return to when this body hands them on.
  private func callerCode(of other: HandOver) -> Range<UInt64> {
    if let passage = handOver.passage, handOver.passes(other) { return passage.code }
    return body.address..<body.address + UInt64(body.size)
  }
}

/// Bodies of a selector that may hand their calls on to others: a generic function may have hundreds, of which few do.
private struct HandingOn {
  private let all: [HookedBody]
  private let passing: [HookedBody]
  /// Those of families that are large; empty for others.
  private let byName: [String: [HookedBody]]

  init(_ bodies: [HookedBody]) {
    all = bodies
    passing = bodies.filter(\.passesAddresses)
    byName = bodies.count > 8 ? Dictionary(grouping: bodies, by: \.body.mangledName) : [:]
  }

  /// All that HandOver.goes can be true for, and others.
  func candidates(for target: HookedBody) -> [HookedBody] {
    if byName.isEmpty || target.handOver.isReachedByOtherNames { return all }
    return passing + target.handOver.origins.flatMap { byName[$0] ?? [] }.filter { !$0.passesAddresses }
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
  /// What is written for hooks that are installed.
  var diversions: [SlotDiversion] = []
  let sets: LayerSets
  var wasHooked = false
  /// Of a C function: who imports it, as far as hooks asked.
  private(set) lazy var importers = ImporterBits()
  /// What was found out of classes: nil for those that hooks can be for.
  var checkedScopes: [ScopeKey: ScopeRefusal?] = [:]
  /// Bodies and arrivals, for callers that make a plan without the lock.
  private let everyBody = Mutex<[HookedBody]>([])

  /// The same selector's families in other images.
  var hasSiblings: Bool { !siblings.isEmpty }
  private var siblings: [HookedFamily]  // families are never freed, so cycles are no loss
  /// What the calls of the selector have in common, in whatever image: it only stands for itself.
  private let identity: UnsafeMutableRawPointer

  /// - Parameter siblings: the same selector's families in other images.
  init(family: Family, image: ImageCatalog, siblings: [HookedFamily]) {
    self.family = family
    self.image = image
    self.siblings = siblings
    sets = LayerSets([])
    identity = siblings.first?.identity ?? .allocate(byteCount: 1, alignment: 1)
  }

  /// Hooks are made on it from now on: it is never freed. Without this it leaves nothing.
  func join() { for other in siblings { other.siblings.append(self) } }

  deinit { if siblings.isEmpty { identity.deallocate() } }

  /// Bodies that can be diverted at their entries, and those that cannot: to be said once, or again with more bodies.
  func add(_ bodies: [HookedBody], refused: [(body: Body, reason: HookRefusal)]) {
    let known = self.bodies + siblings.flatMap(\.bodies)
    self.refused += refused
    self.bodies += bodies
    for each in bodies { adopt(each) }
    // Alone it has nobody to hand calls on to.
    if known.count + bodies.count < 2 { return }
    let all = HandingOn(known + bodies), new = HandingOn(bodies)
    for target in bodies { target.link(from: all) }
    for target in known { target.link(from: new) }
  }

  /// Their bodies are looked at again.
  func forgetRefusals(where isOver: (HookRefusal) -> Bool) { refused.removeAll { isOver($0.reason) } }

  /// The site of a word that the selector's calls come through.
  func add(arrival: HookedBody) {
    arrivals.append(arrival)
    adopt(arrival)
    for each in bodies { hkt_record_add_flags(each.record, UInt32(HKT_BODY_HAS_SLOTS)) }
  }

  private func adopt(_ body: HookedBody) {
    body.record.pointee.family = identity
    body.record.pointee.owner = Unmanaged.passUnretained(self).toOpaque()
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
      let guards = UnsafeBufferPointer(start: record.pointee.guard, count: Int(record.pointee.guard_count))
      let isSame = guards.elementsEqual(thunk.guards) { $0.place == $1.place && $0.mask == $1.mask && $0.value == $1.value }
      // Families are never freed, so the record's is there.
      if isSame { return Unmanaged<HookedFamily>.fromOpaque(record.pointee.owner).takeUnretainedValue() }
      next = record.pointee.next
    }
    return nil
  }

  // MARK: Plans

  /// Makes the plans of records at their first call.
  static func planAtFirstCall() {
    hkt_set_planner { record in
      // Families are never freed, so the record's is there.
      let family = Unmanaged<HookedFamily>.fromOpaque(record!.pointee.owner).takeUnretainedValue()
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
