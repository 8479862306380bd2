// BodyForwards — which bodies of a selector hand their calls on to others: what such a one calls is the same call.
//
// A base forwards its calls to a clone, and an allocating initialiser to the initialising one, wherever its image: recognised by
// the return address lying in the first body, or by a tail call. A generic function may have hundreds of bodies, of which few do;
// a generic initialiser may have hundreds of either form, each of which may go to each.
internal import CHookTrampoline
internal import SwiftMangling

/// Bodies that may hand their calls on.
final class BodyForwards {
  private let all: [HookedBody]
  /// Those that pass a target's address, by the address.
  private let passing: [UInt64: [HookedBody]]
  /// The keys are the numbers of their names.
  private lazy var byName = Dictionary(grouping: all) { NameHash.of($0.body.mangledName) }
  /// What conformances' tables have awaits a body that carries it out.
  private lazy var asyncWitnesses = all.filter { $0.body.isWitness && $0.isAsync }
  private lazy var initialisers = EndingBodies(all) { $0 == .allocatingInit }
  private lazy var deinitialisers = EndingBodies(all) { $0 == .deallocatingDeinit || $0 == .isolatedDeinit }

  /// Notes what of the bodies forwards its calls to each of the targets.
  static func link(_ bodies: [HookedBody], to targets: [HookedBody]) {
    let all = BodyForwards(bodies, targets)
    for target in targets { all.link(to: target) }
  }

  private init(_ bodies: [HookedBody], _ targets: [HookedBody]) {
    all = bodies
    let sources = bodies.filter { $0.body.passesAddresses }
    passing = sources.isEmpty ? [:] : Self.passing(sources, Set(targets.map(\.body.address)))
  }

  /// What bodies pass is mostly other things than addresses of targets.
  private static func passing(_ sources: [HookedBody], _ targets: Set<UInt64>) -> [UInt64: [HookedBody]] {
    var passing: [UInt64: [HookedBody]] = [:]
    for source in sources {
      source.body.forEachPassedValue { value in
        guard targets.contains(value), passing[value]?.last !== source else { return }
        passing[value, default: []].append(source)
      }
    }
    return passing
  }

  private func link(to target: HookedBody) {
    if !target.body.isReached {
      let passing = passing.isEmpty ? [] : passing[target.body.address] ?? []
      if !passing.isEmpty || target.isAsync && !asyncWitnesses.isEmpty { link(passing + asyncWitnesses, to: target) }
      return
    }
    switch target.body.declaration.kind {
    case .`init`: initialisers.link(to: target)
    case .`deinit`: deinitialisers.link(to: target)
    default: break
    }
    link(candidates(for: target), to: target)
  }

  /// All that ForwardFacts.goes can be true for but for those that end in the body, and others.
  private func candidates(for target: HookedBody) -> [HookedBody] {
    if all.count <= Self.few { return all }
    var found = (passing[target.body.address] ?? []) + (target.isAsync ? asyncWitnesses : [])
    for number in ForwardFacts.sources(of: target.body) {
      for each in byName[number] ?? [] where !found.contains(where: { $0 === each }) { found.append(each) }
    }
    return found
  }

  private func link(_ candidates: [HookedBody], to target: HookedBody) {
    if candidates.isEmpty { return }
    let sources = candidates.filter {
      $0.site != target.site && !$0.forwardFacts.ends(in: target.forwardFacts) && $0.forwardFacts.goes(to: target.forwardFacts)
    }
    if sources.isEmpty { return }
    for source in sources { hkt_record_add_flags(source.record, UInt32(HKT_BODY_FORWARDS)) }
    let forwarders = sources.flatMap { $0.forwarders(to: target) }
    // Without memory for the list a call is seen twice.
    _ = hkt_record_add_forwarders(target.record, forwarders, UInt32(forwarders.count))
  }

  /// So many are looked at one by one.
  private static let few = 8
}

/// Those that end in any body of the other form.
private struct EndingBodies {
  private let bodies: [HookedBody]
  private let sites: Set<UnsafeMutablePointer<HKTSite>>
  /// Forwarders of every body that they end in. Never freed; empty where the target matters.
  private let shared: UnsafeBufferPointer<HKTForwarder>
  private var isReported = false

  init(_ all: [HookedBody], _ isEnding: (EntityKind) -> Bool) {
    bodies = all.filter { isEnding($0.body.declaration.kind) }
    sites = Set(bodies.map(\.site))
    let isAlike = bodies.count > 1 && bodies.allSatisfy { $0.body.passage == nil }
    let list = UnsafeMutableBufferPointer<HKTForwarder>.allocate(capacity: isAlike ? bodies.count : 0)
    if isAlike { _ = list.initialize(from: bodies.flatMap { $0.forwarders(to: $0) }) }
    shared = UnsafeBufferPointer(list)
  }

  mutating func link(to target: HookedBody) {
    if bodies.isEmpty { return }
    let isApart = !sites.contains(target.site)
    if !isReported {
      for body in bodies where body.site != target.site { hkt_record_add_flags(body.record, UInt32(HKT_BODY_FORWARDS)) }
      isReported = isApart
    }
    if isApart, !shared.isEmpty, hkt_record_share_forwarders(target.record, shared.baseAddress, UInt32(shared.count)) {
      return
    }
    let forwarders = bodies.filter { $0.site != target.site }.flatMap { $0.forwarders(to: target) }
    if forwarders.isEmpty { return }
    // Without memory for the list a call is seen twice.
    _ = hkt_record_add_forwarders(target.record, forwarders, UInt32(forwarders.count))
  }
}

extension HookedBody {
  /// Where calls of `other` return to when this body hands them on: to itself, to what the runtime runs to carry the call on, and where it
  /// goes through a merged body that calls, to that one; such a body may also jump.
  fileprivate func forwarders(to other: HookedBody) -> [HKTForwarder] {
    var code = [body.address..<body.address + UInt64(body.size)] + body.way.continuesIn
    if let passage = body.passage, forwardFacts.passes(other.forwardFacts) { code.append(passage.code) }
    return code.map { HKTForwarder(begin: $0.lowerBound, end: $0.upperBound, record: record) }
  }
}
