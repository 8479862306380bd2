// HookEngine — the one owner of every installed hook.
//
// A selector may be hooked many times; its bodies are diverted once and stay diverted (switching is a pointer swap).
// Invariants:
//   1. A site is enabled exactly while its family has at least one enabled layer.
//   2. Published layer sets hold the family's layers in nesting order, outermost first.
//   3. A refused request leaves nothing: no code is written before every layer of it was accepted.
//
// Installing is here; looking selectors up and writing in HookEngine+Bodies, switching, removing and listing in
// HookEngine+Hooks, the ends of objects and of hooks that run once in HookEngine+Endings.
internal import CHookTrampoline
private import SwiftMangling
internal import Synchronization

/// Finds and hooks functions of this process. Any thread.
public final class HookEngine: @unchecked Sendable {
  // All state is behind `lock`; calls read published layer sets only, never this object.
  public static let shared = HookEngine()

  let lock = RecursiveLock()
  var families: [FamilyKey: HookedFamily] = [:]
  /// C functions that were hooked without a prototype before they were hooked with one: families are never freed.
  var replacedFamilies: [HookedFamily] = []
  /// One selector may have bodies in several images: specialisations that each of them needed.
  var familiesByName: [String: [HookedFamily]] = [:]
  var hooks: [HookToken: InstalledHook] = [:]
  private var nextToken: UInt64 = 1
  /// References that were taken under the lock; dropping one may run the program's code.
  var kept: [AnyObject] = []
  /// Object hooks made since the last sweep, and those it left.
  var objectsSinceSweep = 0
  /// Where they are.
  var objectFamilies: [ObjectIdentifier: HookedFamily] = [:]
  var objectsAfterSweep = 0
  /// Installed hooks that take part in one call.
  var onceHooks: Set<HookToken> = []
  /// What closures on words of tables are checked with.
  let tablePlans = TablePlans()
  /// Wishes for what is not there yet, in the order in which they were made.
  var waiting: [WaitingHook] = []
  var nextWait: UInt64 = 1
  /// One at a time lands what images brought. Taken before `lock`, never within it.
  let landing = RecursiveLock()
  /// Wishes were made by threads that could not wait for `landing`.
  let isMoreToLand = Atomic<Bool>(false)

  private init() {
    ValueWriter.installReleaseHandler()
    HookedFamily.planAtFirstCall()
    hkt_watch_forks()
    RecursiveLock.watchForks()
    hkt_set_spent { HookEngine.shared.removeSpent() }
  }

  /// A hook and where it is.
  struct InstalledHook {
    let layer: InstalledLayer
    let family: HookedFamily
    /// Calls that its selector had delivered before.
    var callsBefore: UInt64 = 0
  }

  /// Runs `body` alone, then frees what no call uses any more and what was kept meanwhile.
  func locked<R>(_ body: () -> R) -> R {
    var kept: [AnyObject] = []
    let result = lock.withLock {
      defer { swap(&kept, &self.kept) }
      return body()
    }
    hkt_reclaim()
    return result
  }

  // MARK: Installing

  /// A request that nothing speaks against so far.
  private final class Candidate {
    // An object: candidates of a thousand hooks go from list to list.
    let request: HookRequest
    let hooked: HookedFamily
    /// As it was asked for.
    var selector: String { request.family.selector }
    let scope: LayerScope
    let backEnd: BackEnd
    let diversion: (any Diversion)?
    let spec: LayerSpec
    /// Why the entries are not used, where nobody asked for another back end.
    let instead: HookRefusal?

    init(_ request: HookRequest, _ place: Place, _ spec: LayerSpec) {
      self.request = request
      (hooked, scope, backEnd, diversion, instead) = (place.hooked, place.scope, place.backEnd, place.diversion, place.instead)
      self.spec = spec
    }
  }

  /// What diverts the calls that a request is for.
  private struct Place {
    let hooked: HookedFamily
    let scope: LayerScope
    let backEnd: BackEnd
    let diversion: (any Diversion)?
    var instead: HookRefusal?
  }

  /// Hooks every family for which it is possible. The code changes are one transaction.
  /// - Parameters:
  ///   - atomically: install nothing when one request is refused.
  ///   - layer: makes the layer for a family; called once for each whose code and scope allow it.
  package func install(_ requests: [HookRequest], atomically: Bool = false, layer: (Family) -> LayerSpec) -> Report {
    installWanted(requests, atomically: atomically, layer: layer)
  }

  /// The same where some families may be left out: those for which there is no layer.
  func installWanted(_ requests: [HookRequest], atomically: Bool = false, layer: (Family) -> LayerSpec?) -> Report {
    let hasImports = requests.contains { $0.family.isImported }
    if hasImports || requests.contains(where: { $0.backEnd?.hasMoreLater == true }) { watchImages() }
    var requests = HookRequest.byTable(requests)
    // Before the lock is taken: an image's constructors may hook, too, while the loader waits for them.
    let gone = pinImages(of: requests)
    if hasImports { for index in requests.indices { requests[index].family.pinImporters() } }
    // Images that appeared since they were looked for.
    defer { if hasImports { divertNewImports() } }
    let report = installNow(requests, gone, atomically: atomically, layer: layer)
    if report.chosen.contains(where: \.backEnd.hasMoreLater) {
      watchImages()
      tablesAppeared()
    }
    return report
  }

  /// Keeps the images of the requests in memory; answers the requests of those that are gone.
  private func pinImages(of requests: [HookRequest]) -> [HookRequest] {
    var last: (image: ImageCatalog, isThere: Bool)?
    return requests.filter { request in
      if let last, last.image === request.image { return !last.isThere }
      let isThere = ImagePins.pin(request.image)
      last = (request.image, isThere)
      return !isThere
    }
  }

  private func installNow(
    _ requests: [HookRequest], _ gone: [HookRequest], atomically: Bool, layer: (Family) -> LayerSpec?
  ) -> Report {
    locked {
      var report = Report()
      if let reason = processRefusal() {
        report.refused = requests.map { ($0.family.selector, reason) }
        return report
      }
      takeSpent()
      report.refused = gone.map { ($0.family.selector, .imageGone($0.image.path)) }
      var candidates: [Candidate] = []
      var taken = TakenEntries(requests.count)
      candidates.reserveCapacity(requests.count)
      for request in requests where gone.isEmpty || !gone.contains(where: { $0.image === request.image }) {
        switch check(request, taken, { if let own = request.layer { own($0) } else { layer($0) } }) {
        case .success(let candidate):
          guard let candidate else { continue }
          if candidate.backEnd == .entry { taken.add(candidate.hooked) }
          candidates.append(candidate)
        case .failure(let reason): report.refused.append((request.family.selector, reason))
        }
      }
      if !(atomically && !report.refused.isEmpty) { divert(&candidates, atomically, &report) }
      if atomically, !report.refused.isEmpty {
        candidates.forEach(drop)
        return report
      }
      var places = OrderPlaces()
      if candidates.count > 1 {
        hooks.reserveCapacity(hooks.count + candidates.count)
        report.tokens.reserveCapacity(candidates.count)
      }
      for candidate in candidates { add(candidate, &places, &report) }
      if atomically, !report.refused.isEmpty {
        for (token, _) in report.tokens { _ = take(token) }
        report.tokens = []
        report.partial = []
        report.chosen = []
        report.mayMiss = []
      }
      return report
    }
  }

  /// Asks everything that can speak against a request; changes nothing of the program.
  private func check(_ request: HookRequest, _ taken: TakenEntries, _ layer: (Family) -> LayerSpec?) -> Result<Candidate?, HookRefusal> {
    if request.family.isImported { return checkImport(request, layer) }
    let place: Place
    switch choose(request, taken) {
    case .success(let found): place = found
    case .failure(let reason): return .failure(reason)
    }
    guard let spec = layer(place.hooked.family) else {
      if case .object(let object) = place.scope { place.hooked.sets.forget(object) }
      return .success(nil)
    }
    let candidate = Candidate(request, place, spec)
    if let reason = place.hooked.refusal(of: spec) {
      drop(candidate)
      return .failure(reason)
    }
    return .success(candidate)
  }

  /// Where a request's calls can be diverted: by the back end that was asked for; otherwise by the entries, or by what reaches
  /// most of those that are possible.
  private func choose(_ request: HookRequest, _ taken: TakenEntries) -> Result<Place, HookRefusal> {
    let entries = place(request, by: request.backEnd ?? .entry, taken)
    guard case .failure(let reason) = entries, request.backEnd == nil else { return entries }
    return places(request, insteadOfEntriesBecause: reason).first { _ in true }.map { .success($0) } ?? entries
  }

  /// What else can divert a request's calls where the entries cannot be used, what reaches most first.
  private func places(_ request: HookRequest, insteadOfEntriesBecause reason: HookRefusal) -> some Sequence<Place> {
    let backEnds = request.mayChoose && reason.isOfEntries ? BackEnd.besideEntry(for: request.scope) : []
    return backEnds.lazy.compactMap { backEnd -> Place? in
      guard case .success(var place) = self.place(request, by: backEnd, TakenEntries()) else { return nil }
      place.instead = reason
      return place
    }
  }

  private func place(_ request: HookRequest, by backEnd: BackEnd, _ taken: TakenEntries) -> Result<Place, HookRefusal> {
    let hooked: HookedFamily
    switch prepare(request.family, in: request.image, by: backEnd) {
    case .success(let prepared): hooked = prepared
    case .failure(let reason): return .failure(reason)
    }
    var diversion: (any Diversion)?
    if backEnd == .entry {
      if let other = taken.user(besides: hooked) { return .failure(.sharedBody(with: other.family.selector)) }
    } else {
      switch hooked.diversion(backEnd, request.scope) {
      case .success(let made): diversion = made
      case .failure(let reason): return .failure(reason)
      }
    }
    switch hooked.scope(request.scope, by: backEnd, { entry(of: $0, in: hooked) }) {
    case .success(let scope): return .success(Place(hooked: hooked, scope: scope, backEnd: backEnd, diversion: diversion))
    case .failure(let reason): return .failure(.scope(reason))
    }
  }

  /// The same for a C function, whose words depend on what the layer does.
  private func checkImport(_ request: HookRequest, _ layer: (Family) -> LayerSpec?) -> Result<Candidate?, HookRefusal> {
    guard case .type = request.scope else { return .failure(.scope(.noObject)) }
    if let backEnd = request.backEnd, backEnd != .importSlot { return .failure(.backEnd(backEnd, .notBuilt)) }
    let hooked: HookedFamily
    switch prepareImport(request.family, in: request.image) {
    case .success(let prepared): hooked = prepared
    case .failure(let reason): return .failure(reason)
    }
    guard let spec = layer(request.family) else { return .success(nil) }
    var reason = hooked.refusal(of: spec)
    if reason == nil {
      switch hooked.importDiversion(request.family, for: spec) {
      case .success(let diversion):
        return .success(Candidate(request, Place(hooked: hooked, scope: .type, backEnd: .importSlot, diversion: diversion), spec))
      case .failure(let refusal): reason = refusal
      }
    }
    spec.release?(spec.context)
    return .failure(reason ?? .noBody)
  }

  /// What was made for a request that is not carried out.
  private func drop(_ candidate: Candidate) {
    candidate.spec.release?(candidate.spec.context)
    if case .object(let object) = candidate.scope { candidate.hooked.sets.forget(object) }
  }

  /// Writes the words and the code of all candidates; takes those out that cannot be written. Nothing is written in the end
  /// when one cannot and none should be then.
  private func divert(_ candidates: inout [Candidate], _ atomically: Bool, _ report: inout Report) {
    var written: [Candidate] = []
    for candidate in candidates {
      guard let reason = candidate.diversion?.acquire() else {
        written.append(candidate)
        continue
      }
      report.refused.append((candidate.selector, .code(reason)))
      drop(candidate)
    }
    candidates = written
    // Code comes last: its bytes stay as they are written.
    if !(atomically && !report.refused.isEmpty) { divertEntries(&candidates, atomically, &report) }
    if atomically, !report.refused.isEmpty { for candidate in candidates { candidate.diversion?.release() } }
  }

  private func divertEntries(_ candidates: inout [Candidate], _ atomically: Bool, _ report: inout Report) {
    while let (reason, culprits) = write(candidates.filter { $0.diversion == nil }.map(\.hooked)) {
      let isCulprit = { (candidate: Candidate) in
        candidate.diversion == nil && (culprits.isEmpty || culprits.contains { $0 === candidate.hooked })
      }
      let others = candidates.filter(isCulprit)
      candidates.removeAll(where: isCulprit)
      for candidate in others {
        if let other = redirected(candidate, reason) {
          candidates.append(other)
        } else {
          report.refused.append((candidate.selector, reason))
          drop(candidate)
        }
      }
      if atomically, !report.refused.isEmpty { return }
    }
  }

  /// The candidate with its words written, where its code cannot be and nobody asked for that; nil where no other back end can.
  private func redirected(_ candidate: Candidate, _ reason: HookRefusal) -> Candidate? {
    guard candidate.request.backEnd == nil else { return nil }
    return places(candidate.request, insteadOfEntriesBecause: reason).first { place in
      place.hooked.refusal(of: candidate.spec) == nil && place.diversion?.acquire() == nil
    }.map { Candidate(candidate.request, $0, candidate.spec) }
  }

  private func add(_ candidate: Candidate, _ places: inout OrderPlaces, _ report: inout Report) {
    let hooked = candidate.hooked
    if candidate.spec.readsValues { hooked.planAll() }
    let token = HookToken(id: nextToken, selector: candidate.selector)
    nextToken += 1
    let layer = InstalledLayer(
      candidate.spec, scope: candidate.scope, backEnd: candidate.backEnd, diversion: candidate.diversion, instead: candidate.instead,
      token: token,
      sequence: hooked.hasSiblings ? places.take(hooked, token) : nil)
    let change = hooked.sets.insert(layer)
    guard hooked.publish(change) else {
      _ = hooked.sets.remove(layer)
      _ = candidate.diversion?.release()
      if case .object(let object) = candidate.scope { hooked.sets.forget(object) }
      report.refused.append((hooked.family.selector, .noMemory))
      return
    }
    hooked.updateSites()
    let installed = InstalledHook(layer: layer, family: hooked)
    // Of a selector that was never hooked there were none.
    hooks[token] = hooked.wasHooked ? InstalledHook(layer: layer, family: hooked, callsBefore: calls(installed)) : installed
    hooked.wasHooked = true
    if candidate.spec.isOnce { onceHooks.insert(token) }
    report.tokens.append((token, hooked.family.key))
    if let reason = candidate.instead {
      report.chosen.append(.init(selector: hooked.family.selector, backEnd: candidate.backEnd, instead: reason))
    }
    for sentence in candidate.diversion?.mayMiss ?? [] { report.mayMiss.append((hooked.family.selector, sentence)) }
    if candidate.diversion != nil { return }
    let reached = hooked.reach(of: candidate.scope)
    let bodies = hooked.bodies.count + hooked.refused.count
    if reached < bodies { report.partial.append((hooked.family.selector, reached, bodies)) }
  }
}

/// The code that requests of one installation are going to divert: two selectors of the same code cannot both have it.
private struct TakenEntries {
  private var users: [CodePatcher.Site: (family: HookedFamily, isTold: Bool)] = [:]

  init(_ count: Int = 0) { if count > 1 { users.reserveCapacity(2 * count) } }

  /// Who has an entry of the family's, whose calls nothing tells from the family's own.
  func user(besides hooked: HookedFamily) -> HookedFamily? {
    if users.isEmpty { return nil }
    for body in hooked.bodies {
      if let user = users[body.site], user.family !== hooked, !(user.isTold && body.isShared) { return user.family }
    }
    return nil
  }

  mutating func add(_ hooked: HookedFamily) { for body in hooked.bodies { users[body.site] = (hooked, body.isShared) } }
}

/// What a selector means in several images is one hook, and has one place in the order.
private struct OrderPlaces {
  private var known: [String: UInt64] = [:]
  private var requests: [ObjectIdentifier: Int] = [:]

  mutating func take(_ hooked: HookedFamily, _ token: HookToken) -> UInt64 {
    // A selector may be asked for several times.
    let number = requests[ObjectIdentifier(hooked), default: 0]
    requests[ObjectIdentifier(hooked)] = number + 1
    let key = "\(hooked.family.key)\0\(number)"
    defer { known[key] = known[key] ?? token.id }
    return known[key] ?? token.id
  }
}

/// Why nothing can be hooked in this process now; nil when things can.
private func processRefusal() -> HookRefusal? {
  if let reason = ForkedCopy.refusal { return .forked(reason) }
  return OtherCopy.refusal.map { .otherCopy($0) }
}
