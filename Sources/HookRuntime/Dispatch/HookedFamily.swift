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
  // Nothing here changes but `forwardFacts` and `neighbours`, which the engine's lock guards; what calls read and write of the record is
  // atomic or under a lock of C's.
  let body: Body
  let site: UnsafeMutablePointer<HKTSite>
  /// Other selectors use this body too; switching the site off would take it from them.
  let isShared: Bool
  let record: UnsafeMutablePointer<HKTBodyRecord>
  let thunk: MergeThunk?
  let isAsync: Bool
  /// All records of the site; nil where this body's is the only one.
  fileprivate(set) var neighbours: Neighbours?
  /// What its code shows of self, 0 until it was asked.
  private let selfAfterCall = Atomic<UInt8>(0)
  /// Most bodies are never asked for it.
  private(set) lazy var forwardFacts = ForwardFacts(body)
  /// It may get one from another thread at any time.
  var hasPlan: Bool { record.pointee.plan != nil }
  /// Its calls tell whom they are on. Once there is a plan.
  var knowsSelf: Bool { record.pointee.self_at != UInt16(HKT_SELF_UNKNOWN) }

  /// Whose calls it takes, once it was added. Families are never freed, so the record's is there.
  var family: HookedFamily { Unmanaged<HookedFamily>.fromOpaque(record.pointee.owner).takeUnretainedValue() }

  /// Calls of the site are for this selector.
  var hasSite: Bool { site.pointee.owner == UnsafeMutableRawPointer(record) }

  /// How calls come to the site: by the body's entry, or through a word of that kind.
  let backEnd: BackEnd

  /// - Parameter declaration: whose calls enter the body.
  init(
    body: Body, site: UnsafeMutablePointer<HKTSite>, isAsync: Bool, guardedBy thunk: MergeThunk? = nil, by backEnd: BackEnd = .entry
  ) {
    self.body = body
    self.backEnd = backEnd
    isShared = thunk != nil
    self.thunk = thunk
    self.site = site
    self.isAsync = isAsync
    record = KeptRecord.make()
    record.pointee.flags = UInt32(body.isLeftByJump ? HKT_BODY_ENTER_ONLY : 0)
    record.pointee.route = backEnd.route.rawValue
    if thunk != nil || backEnd.route == HKT_ROUTE_DYNAMIC { record.pointee.flags |= UInt32(HKT_BODY_IS_ASKED) }
    if backEnd != .entry { becomeSlotRecord() }
    if backEnd == .entry, let code = body.way.through { (record.pointee.thunk_begin, record.pointee.thunk_end) = (code.lowerBound, code.upperBound) }
    record.pointee.self_at = UInt16(HKT_SELF_UNKNOWN)
    if isAsync { site.pointee.flags |= UInt64(HKT_SITE_ASYNC) }
    if let thunk {
      // Never freed, as the record that reads them.
      let guards = UnsafeMutableBufferPointer<HKTGuard>.allocate(capacity: thunk.constants.count)
      _ = guards.initialize(from: thunk.guards)
      record.pointee.guard = UnsafePointer(guards.baseAddress)
      record.pointee.guard_count = UInt32(guards.count)
    }
    KeptRecord.setBody(of: record, self)
  }

  /// What becomes of the struct or enum that it is called on, where names leave that open. Several threads may find the same.
  func selfAfterCall(by plan: CallPlan) -> SelfAfterCall {
    if let known = SelfAfterCall(rawValue: selfAfterCall.load(ordering: .relaxed)) { return known }
    HostTime.begin()
    defer { HostTime.end() }
    var found = SelfAfterCall.unknown
    if case .value(let value) = family.image.selfPlan(of: body, by: plan, presuming: false) {
      switch value.access {
      case .borrowed, .inPlace: found = .left
      case .owned: found = .gone
      case .unknown: if body.declaration.kind == .getter, value.info?.isCopyable != false { found = .presumed }
      }
    }
    selfAfterCall.store(found.rawValue, ordering: .relaxed)
    return found
  }

  func give(_ plan: CallPlan) {
    let retained = Unmanaged.passRetained(plan)
    var flags = UInt32((plan.stack.isKnown ? HKT_BODY_STACK_KNOWN : 0) | (plan.mayUseX87 ? HKT_BODY_X87 : 0))
    if plan.selfWord?.isClass == true { flags |= UInt32(HKT_BODY_SELF_IS_CLASS) }
    if plan.hasUnknownEffect { flags |= UInt32(HKT_BODY_MAY_THROW) }
    if plan.endsObject { flags |= UInt32(HKT_BODY_ENDS_SELF) }
    let selfAt = plan.selfWord?.inFrame ?? UInt16(HKT_SELF_UNKNOWN)
    if !hkt_record_plan(record, retained.toOpaque(), plan.facts, UInt32(plan.stack.bytes), selfAt, flags) { retained.release() }
  }
}

/// Selectors' bodies that are one piece of code: no two of them can be hooked whose calls nothing tells apart.
final class Neighbours {
  fileprivate(set) var all: [HookedBody]
  init(_ all: [HookedBody]) { self.all = all }
}

/// A record with the body that it is of: calls bring the record alone.
private enum KeptRecord {
  private static let size = MemoryLayout<HKTBodyRecord>.stride

  /// A record that says nothing yet. Never freed: a thread may be about to enter its site.
  static func make() -> UnsafeMutablePointer<HKTBodyRecord> {
    guard let memory = calloc(1, size + MemoryLayout<UnsafeMutableRawPointer>.size) else {
      fatalError("internal error: no memory for a record")
    }
    return memory.bindMemory(to: HKTBodyRecord.self, capacity: 1)
  }

  /// The body stays as long as the record.
  static func setBody(of record: UnsafeMutablePointer<HKTBodyRecord>, _ body: HookedBody) {
    UnsafeMutableRawPointer(record).storeBytes(
      of: Unmanaged.passRetained(body).toOpaque(), toByteOffset: size, as: UnsafeMutableRawPointer.self)
  }

  /// The Swift side of a record, whose memory ends with a reference to it.
  static func body(of record: UnsafeMutablePointer<HKTBodyRecord>) -> HookedBody {
    let body = UnsafeMutableRawPointer(record).load(fromByteOffset: size, as: UnsafeMutableRawPointer.self)
    // Retained when the record was made.
    return Unmanaged<HookedBody>.fromOpaque(body).takeUnretainedValue()
  }
}

extension MergeThunk {
  fileprivate var guards: [HKTGuard] {
    constants.map { HKTGuard(place: UInt32($0.place), reserved: 0, mask: $0.mask, value: $0.value) }
  }
}

/// What one installation notes of a selector. Numbers are of `HookEngine.nextRound`: what an earlier one noted is over.
struct Installing {
  /// It is going to divert the selector's entries.
  var taken: UInt64 = 0
  /// How many did before.
  var place = 0
  /// The entries are among those that are written.
  var written: UInt64 = 0
  /// Its layers are to be published.
  var changed: UInt64 = 0
}

/// Guarded by the engine's lock, but for `family` and `image`, which never change.
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
  /// The installation that hooked it first; 0 where none did.
  private var hookedSince: UInt64 = 0
  /// Of a C function: who imports it, as far as hooks asked.
  private(set) lazy var importers = ImporterBits()
  /// What was found out of classes: nil for those that hooks can be for.
  var checkedScopes: [ScopeKey: ScopeRefusal?] = [:]

  /// Families of this selector in other images.
  private(set) var siblings: [HookedFamily]  // families are never freed, so cycles are no loss
  var hasSiblings: Bool { !siblings.isEmpty }
  /// What the calls of the selector have in common, in whatever image: it only stands for itself.
  private var identity: UnsafeMutableRawPointer { Unmanaged.passUnretained(first ?? self).toOpaque() }
  /// The sibling that was hooked before all others; nil for that one.
  private let first: HookedFamily?
  /// What installing notes while it is at it.
  var installing = Installing()

  /// - Parameter siblings: the same selector's families in other images.
  init(family: Family, image: ImageCatalog, siblings: [HookedFamily]) {
    self.family = family
    self.image = image
    self.siblings = siblings
    first = siblings.first.map { $0.first ?? $0 }
    sets = LayerSets()
  }

  /// Hooks are made on it from now on: it is never freed. Without this it leaves nothing.
  func join() { for other in siblings { other.siblings = other.siblings + [self] } }

  /// An installation makes a hook on it. False for those of the first one that does.
  func noteHook(in round: UInt64) -> Bool {
    if hookedSince == 0 { hookedSince = round }
    return hookedSince != round
  }

  /// Bodies that can be diverted at their entries, and those that cannot: to be said once, or again with more bodies.
  func add(_ bodies: [HookedBody], refused: [(body: Body, reason: HookRefusal)]) {
    let known = siblings.isEmpty ? self.bodies : self.bodies + siblings.flatMap(\.bodies)
    // Whole values are stored: what is changed in place is checked for other accesses, each time it is read.
    if !refused.isEmpty { self.refused = self.refused + refused }
    self.bodies = self.bodies.isEmpty ? bodies : self.bodies + bodies
    for each in bodies { adopt(each) }
    for each in bodies { sets.add(each.record) }
    // Alone it has nobody to hand calls on to.
    if known.count + bodies.count < 2 { return }
    BodyForwards.link(known.isEmpty ? bodies : known + bodies, to: bodies)
    if !known.isEmpty { BodyForwards.link(bodies, to: known) }
  }

  /// Their bodies are looked at again.
  func forgetRefusals(where isOver: (HookRefusal) -> Bool) { refused = refused.filter { !isOver($0.reason) } }

  /// The site of a word that the selector's calls come through.
  func add(arrival: HookedBody) {
    arrivals = arrivals + [arrival]
    adopt(arrival)
    sets.add(arrival.record)
    for each in bodies { hkt_record_add_flags(each.record, UInt32(HKT_BODY_HAS_SLOTS)) }
  }

  private func adopt(_ body: HookedBody) {
    body.record.pointee.family = identity
    body.record.pointee.owner = Unmanaged.passUnretained(self).toOpaque()
    if !arrivals.isEmpty, body.backEnd == .entry { hkt_record_add_flags(body.record, UInt32(HKT_BODY_HAS_SLOTS)) }
    if body.backEnd == .entry { meetNeighbours(body) }
    hkt_site_add_record(body.site, body.record)
    if body.backEnd == .entry { body.site.pointee.handler = hkt_dispatch } else { body.site.pointee.handler = hkt_dispatch_asking }
  }

  /// Before the body's record is the site's first.
  private func meetNeighbours(_ body: HookedBody) {
    guard let first = body.site.pointee.owner?.assumingMemoryBound(to: HKTBodyRecord.self) else { return }
    let other = KeptRecord.body(of: first)
    let neighbours = other.neighbours ?? Neighbours([other])
    neighbours.all.append(body)
    (other.neighbours, body.neighbours) = (neighbours, neighbours)
  }

  /// The family whose calls of a merged body are known by the same constants.
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

  /// The selector's entries are going to be diverted in this round, after so many others'.
  func take(in round: UInt64, at place: Int) { (installing.taken, installing.place) = (round, place) }

  /// Who is going to divert an entry of the selector's in this round, whose calls nothing tells from its own.
  func rival(in round: UInt64) -> HookedFamily? {
    for body in bodies {
      guard let neighbours = body.neighbours else { continue }
      let rivals = neighbours.all.filter { $0.family !== self && $0.family.installing.taken == round && !($0.isShared && body.isShared) }
      if let last = rivals.max(by: { $0.family.installing.place < $1.family.installing.place }) { return last.family }
    }
    return nil
  }

  /// Makes the plans of records at their first call.
  static func planAtFirstCall() {
    hkt_set_planner { record in
      let body = KeptRecord.body(of: record!)
      HostTime.begin()
      body.family.plan(body)
      HostTime.end()
    }
  }

  func planAll() {
    for body in bodies + arrivals where !body.hasPlan { plan(body) }
  }

  /// The plans of all bodies, made now where nobody asked before.
  var plans: [CallPlan] {
    planAll()
    // A record's plan is retained for ever.
    return (bodies + arrivals).compactMap { $0.record.pointee.plan.map { Unmanaged<CallPlan>.fromOpaque($0).takeUnretainedValue() } }
  }

  private func plan(_ body: HookedBody) { body.give(image.plan(of: body.body, in: family, guardedBy: body.thunk)) }
}

/// What has become of the struct or enum that a method or a getter ran on.
package enum SelfAfterCall: UInt8 {
  /// It is as the method left it.
  case left = 1
  /// A getter whose code does not tell: all but those few that are declared `consuming get` leave it. It may be read, but the original does not run
  /// again.
  case presumed
  /// The method used it up.
  case gone
  /// One of the two.
  case unknown

  package var isThere: Bool { self == .left || self == .presumed }
}

extension CallView {
  /// What the original leaves of the value that the call is on; handlers ask `HandlerChanges.selfState`, which knows whether it has run.
  /// - Parameter value: as the plan of this call has it.
  package func selfAfterCall(_ value: ValueSelfPlan) -> SelfAfterCall {
    if value.info?.isTrivial ?? false { return .left }
    switch value.access {
    case .borrowed, .inPlace: return .left
    case .owned: return .gone
    case .unknown: return withPlan { KeptRecord.body(of: call.pointee.body).selfAfterCall(by: $0) }
    }
  }
}
