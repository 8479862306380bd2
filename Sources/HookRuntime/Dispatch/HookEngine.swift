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
  let families = HookedFamilies()
  /// C functions, by name.
  var importFamilies: [String: HookedFamily] = [:]
  /// C functions that were hooked without a prototype before they were hooked with one: families are never freed.
  var replacedFamilies: [HookedFamily] = []
  /// The keys are their tokens' ids.
  private(set) var hooks: [UInt64: InstalledHook] = [:]
  /// How many of them each owner has.
  private var counts: [String: Int] = [:]
  private var nextToken: UInt64 = 1
  /// What owners have from these numbers on is in the making.
  private var unsettled: [String: (hook: UInt64, wait: UInt64)] = [:]
  private var round: UInt64 = 0
  /// References that were taken under the lock; dropping one may run the program's code.
  var kept: [AnyObject] = []
  /// Object hooks made since the last sweep, and those it left.
  var objectsSinceSweep = 0
  /// Where they are.
  var objectFamilies: [ObjectIdentifier: HookedFamily] = [:]
  var objectsAfterSweep = 0
  /// Asked of each hook, under the lock: why the owner, who has so many, may not have one on that function; nil: all may.
  private var rule: (@Sendable (_ owner: String, _ count: Int, Family) -> String?)?
  package var policy: (@Sendable (_ owner: String, _ count: Int, Family) -> String?)? {
    get { lock.withLock { rule } }
    set { lock.withLock { rule = newValue } }
  }
  /// Whose handlers are watched.
  var watched = Watched()
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

  /// What the owner adds from now on is in the making until `settle`: whoever asks for what is settled sees what was there before.
  package func unsettle(_ owner: String) { lock.withLock { unsettled[owner] = (nextToken, nextWait) } }
  package func settle(_ owner: String) { lock.withLock { unsettled[owner] = nil } }
  func isUnsettled(_ owner: String, hook: UInt64 = 0, wait: UInt64 = 0) -> Bool {
    unsettled[owner].map { hook >= $0.hook || wait >= $0.wait } ?? false
  }

  private init() {
    ValueWriter.installReleaseHandler()
    DeferredReleases.install()
    CallSites.install()
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

    /// Its handler never runs again.
    var hasEnded: Bool { layer.spec.facts?.ended != nil }
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

  /// All selectors that hooks were made on. To be called under the lock.
  var everyFamily: [HookedFamily] { families.all + importFamilies.values }

  /// Tells what families note now from what they noted before. To be called under the lock.
  func nextRound() -> UInt64 {
    round += 1
    return round
  }

  /// A request that nothing speaks against so far.
  private struct Candidate {
    /// Which of the requests.
    let request: Int
    let hooked: HookedFamily
    let detour: Detour?
    let layer: LayerLifetime

    var object: HookedObject? {
      if case .object(let object)? = detour?.scope { object } else { nil }
    }
  }

  /// What diverts the calls that a request is for.
  private struct Place {
    let hooked: HookedFamily
    /// Nil: every call, by the entries.
    var detour: Detour?
  }

  /// Hooks every family for which it is possible. The code changes are one transaction.
  /// - Parameters:
  ///   - atomically: install nothing when one request is refused.
  ///   - layer: makes the layer for a family; called once for each whose code and scope allow it.
  package func install(
    _ requests: [HookRequest], atomically: Bool = false, doubts: DoubtDepth = .quick, layer: (Family) -> LayerSpec
  ) -> Report {
    installWanted(requests, atomically: atomically, doubts: doubts, layer: layer)
  }

  /// Installs where some families may be left out: those for which there is no layer.
  func installWanted(
    _ requests: [HookRequest], atomically: Bool = false, doubts: DoubtDepth = .quick, layer: (Family) -> LayerSpec?
  ) -> Report {
    let hasImports = requests.indices.contains { requests[$0].family.isImported }
    if hasImports || requests.indices.contains(where: { requests[$0].backEnd?.hasMoreLater == true }) { watchImages() }
    var requests = HookRequest.byTable(requests)
    // Before the lock is taken: an image's constructors may hook, too, while the loader waits for them.
    let gone = pinImages(of: requests)
    if hasImports { for index in requests.indices { requests[index].family.pinImporters() } }
    // Images that appeared since they were looked for.
    defer { if hasImports { divertNewImports() } }
    let report = LimitedWork.doing(.hooks, Self.named(requests)) { [requests] in
      var report = installNow(requests, gone, atomically: atomically, layer: layer)
      report.addDoubts(about: requests, doubts)
      return report
    }
    if report.chosen.contains(where: \.backEnd.hasMoreLater) {
      watchImages()
      tablesAppeared()
    }
    return report
  }

  /// For the message where the work is given up.
  private static func named(_ requests: [HookRequest]) -> String {
    "hooking '\(requests.first?.family.selector ?? "")'" + (requests.count > 1 ? " and \(requests.count - 1) more functions" : "")
  }

  /// Keeps the images of the requests in memory; answers those that are gone.
  private func pinImages(of requests: [HookRequest]) -> [ImageCatalog] {
    var gone: [ImageCatalog] = []
    var last: ImageCatalog?
    for index in requests.indices {
      let image = requests[index].image
      if image === last { continue }
      last = image
      if !ImagePins.pin(image) { gone.append(image) }
    }
    return gone
  }

  private func installNow(
    _ requests: [HookRequest], _ gone: [ImageCatalog], atomically: Bool, layer: (Family) -> LayerSpec?
  ) -> Report {
    locked {
      var report = Report()
      if let reason = processRefusal() {
        report.refused = requests.map { ($0.family.selector, reason) }
        return report
      }
      takeSpent()
      var candidates: [Candidate] = []
      candidates.reserveCapacity(requests.count)
      let round = nextRound()
      if requests.count > 1 { families.reserve(requests.count) }
      let isGone = { index in !gone.isEmpty && gone.contains { $0 === requests[index].image } }
      for index in requests.indices where isGone(index) {
        report.refused.append((requests[index].family.selector, .imageGone(requests[index].image.path)))
      }
      for index in requests.indices where !isGone(index) {
        if LimitedWork.isOver { break }
        switch check(requests[index], index, candidates.count, round, layer) {
        case .success(let candidate):
          guard let candidate else { continue }
          if candidate.detour?.backEnd ?? .entry == .entry { candidate.hooked.take(in: round, at: candidates.count) }
          candidates.append(candidate)
        case .failure(let reason): report.refused.append((requests[index].family.selector, reason))
        }
      }
      // Whoever asked for them is being stopped.
      if LimitedWork.isOver {
        candidates.forEach(drop)
        report.refused = []
        return report
      }
      if !(atomically && !report.refused.isEmpty) { divert(&candidates, requests, atomically, &report) }
      if atomically, !report.refused.isEmpty {
        candidates.forEach(drop)
        return report
      }
      add(candidates, requests, &report)
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
  /// - Parameter beside: candidates of the same installation, which have one owner.
  private func check(
    _ request: HookRequest, _ index: Int, _ beside: Int, _ round: UInt64, _ layer: (Family) -> LayerSpec?
  ) -> Result<Candidate?, HookRefusal> {
    if request.family.isImported { return checkImport(request, index, beside, layer) }
    let place: Place
    switch choose(request, round) {
    case .success(let found): place = found
    case .failure(let reason): return .failure(reason)
    }
    guard let spec = request.layer.map({ $0(place.hooked.family) }) ?? layer(place.hooked.family) else {
      if case .object(let object)? = place.detour?.scope { place.hooked.sets.forget(object) }
      return .success(nil)
    }
    let candidate = Candidate(
      request: index, hooked: place.hooked, detour: place.detour,
      layer: LayerLifetime(spec, countsCalls: place.detour?.countsCalls ?? false))
    if let reason = place.hooked.refusal(of: spec) ?? policyRefusal(spec, beside, request.family) {
      drop(candidate)
      return .failure(reason)
    }
    return .success(candidate)
  }

  private func policyRefusal(_ spec: LayerSpec, _ beside: Int, _ family: Family) -> HookRefusal? {
    rule?(spec.owner, counts[spec.owner, default: 0] + beside, family).map { .policy($0) }
  }

  /// Enters a hook in the books.
  private func enter(_ hook: InstalledHook) {
    hooks[hook.layer.token.id] = hook
    counts[hook.layer.spec.owner, default: 0] += 1
  }

  /// Strikes a hook out of the books; nil when it is not there.
  func strike(_ token: HookToken) -> InstalledHook? {
    guard let hook = hooks.removeValue(forKey: token.id) else { return nil }
    let owner = hook.layer.spec.owner
    counts[owner] = counts[owner].flatMap { $0 > 1 ? $0 - 1 : nil }
    onceHooks.remove(token)
    return hook
  }

  /// Where a request's calls can be diverted: by the back end that was asked for; otherwise by the entries, or by what reaches
  /// most of those that are possible.
  private func choose(_ request: HookRequest, _ round: UInt64) -> Result<Place, HookRefusal> {
    let entries = place(request, by: request.backEnd ?? .entry, round)
    guard case .failure(let reason) = entries, request.backEnd == nil else { return entries }
    return places(request, insteadOfEntriesBecause: reason).first { _ in true }.map { .success($0) } ?? entries
  }

  /// What else can divert a request's calls where the entries cannot be used, what reaches most first.
  private func places(_ request: HookRequest, insteadOfEntriesBecause reason: HookRefusal) -> some Sequence<Place> {
    let backEnds = request.mayChoose && reason.isOfEntries ? BackEnd.besideEntry(for: request.scope) : []
    return backEnds.lazy.compactMap { backEnd -> Place? in
      guard case .success(let place) = self.place(request, by: backEnd, nil, instead: reason) else { return nil }
      return place
    }
  }

  /// - Parameter round: of an installation that may have taken entries already.
  private func place(
    _ request: HookRequest, by backEnd: BackEnd, _ round: UInt64?, instead: HookRefusal? = nil
  ) -> Result<Place, HookRefusal> {
    let hooked: HookedFamily
    switch prepare(request.family, in: request.image, by: backEnd) {
    case .success(let prepared): hooked = prepared
    case .failure(let reason): return .failure(reason)
    }
    var diversion: (any Diversion)?
    if backEnd == .entry {
      if let round, let other = hooked.rival(in: round) { return .failure(.sharedBody(with: other.family.selector)) }
      if case .type = request.scope { return .success(Place(hooked: hooked)) }
    } else {
      switch hooked.diversion(backEnd, request.scope) {
      case .success(let made): diversion = made
      case .failure(let reason): return .failure(reason)
      }
    }
    switch hooked.scope(request.scope, by: backEnd, { entry(of: $0, in: hooked) }) {
    case .success(let scope):
      return .success(Place(hooked: hooked, detour: Detour(scope: scope, backEnd: backEnd, diversion: diversion, instead: instead)))
    case .failure(let reason): return .failure(.scope(reason))
    }
  }

  /// Checks a hook of a C function, whose words depend on what the layer does.
  private func checkImport(_ request: HookRequest, _ index: Int, _ beside: Int, _ layer: (Family) -> LayerSpec?) -> Result<Candidate?, HookRefusal> {
    guard case .type = request.scope else { return .failure(.scope(.noObject)) }
    if let backEnd = request.backEnd, backEnd != .importSlot { return .failure(.backEnd(backEnd, .notBuilt)) }
    let hooked: HookedFamily
    switch prepareImport(request.family, in: request.image) {
    case .success(let prepared): hooked = prepared
    case .failure(let reason): return .failure(reason)
    }
    guard let spec = request.layer.map({ $0(request.family) }) ?? layer(request.family) else { return .success(nil) }
    var reason = hooked.refusal(of: spec) ?? policyRefusal(spec, beside, request.family)
    if reason == nil {
      switch hooked.importDiversion(request.family, for: spec) {
      case .success(let diversion):
        let detour = Detour(scope: .type, backEnd: .importSlot, diversion: diversion, instead: nil)
        return .success(
          Candidate(request: index, hooked: hooked, detour: detour, layer: LayerLifetime(spec, countsCalls: detour.countsCalls)))
      case .failure(let refusal): reason = refusal
      }
    }
    spec.release?(spec.context)
    return .failure(reason ?? .noBody)
  }

  /// What was made for a request that is not carried out; its layer ends with the candidate.
  private func drop(_ candidate: Candidate) {
    if let object = candidate.object { candidate.hooked.sets.forget(object) }
  }

  /// Writes the words and the code of all candidates; takes those out that cannot be written. Nothing is written in the end
  /// when one cannot and none should be then.
  private func divert(_ candidates: inout [Candidate], _ requests: [HookRequest], _ atomically: Bool, _ report: inout Report) {
    candidates.removeAll { candidate in
      guard let reason = candidate.detour?.diversion?.acquire() else { return false }
      report.refused.append((requests[candidate.request].family.selector, .code(reason)))
      drop(candidate)
      return true
    }
    // Code comes last: its bytes stay as they are written.
    if !(atomically && !report.refused.isEmpty) { divertEntries(&candidates, requests, atomically, &report) }
    if atomically, !report.refused.isEmpty { for candidate in candidates { candidate.detour?.diversion?.release() } }
  }

  private func divertEntries(_ candidates: inout [Candidate], _ requests: [HookRequest], _ atomically: Bool, _ report: inout Report) {
    while let (reason, culprits) = write(candidates.compactMap { $0.detour?.diversion == nil ? $0.hooked : nil }) {
      let isCulprit = { (candidate: Candidate) in
        candidate.detour?.diversion == nil && (culprits.isEmpty || culprits.contains { $0 === candidate.hooked })
      }
      let others = candidates.filter(isCulprit)
      candidates.removeAll(where: isCulprit)
      for candidate in others {
        let request = requests[candidate.request]
        if let other = redirected(candidate, request, reason) {
          candidates.append(other)
        } else {
          report.refused.append((request.family.selector, reason))
          drop(candidate)
        }
      }
      if atomically, !report.refused.isEmpty { return }
    }
  }

  /// The candidate with its words written, where its code cannot be and nobody asked for that; nil where no other back end can.
  private func redirected(_ candidate: Candidate, _ request: HookRequest, _ reason: HookRefusal) -> Candidate? {
    guard request.backEnd == nil else { return nil }
    return places(request, insteadOfEntriesBecause: reason).first { place in
      place.hooked.refusal(of: candidate.layer.spec) == nil && place.detour?.diversion?.acquire() == nil
    }.map { Candidate(request: candidate.request, hooked: $0.hooked, detour: $0.detour, layer: candidate.layer) }
  }

  // MARK: Adding

  /// Puts the candidates' layers in their places, then lets calls run through them: a selector's all at once.
  private func add(_ candidates: [Candidate], _ requests: [HookRequest], _ report: inout Report) {
    if candidates.count > 1 {
      hooks.reserveCapacity(hooks.count + candidates.count)
      report.tokens.reserveCapacity(candidates.count)
    }
    let round = nextRound()
    var places = OrderPlaces()
    var layers: [InstalledLayer] = []
    layers.reserveCapacity(candidates.count)
    // Of the first of those candidates that are published together: of these none is in the books before.
    var changes: [LayerSets.Change?] = []
    changes.reserveCapacity(candidates.count)
    // By their numbers: a candidate that is taken out of the list is three references more.
    for index in candidates.indices {
      let hooked = candidates[index].hooked, lifetime = candidates[index].layer
      if lifetime.spec.readsValues { hooked.planAll() }
      let token = HookToken(id: nextToken, selector: requests[candidates[index].request].family.selector)
      nextToken += 1
      let sequence = hooked.hasSiblings ? places.take(hooked, token) : nil
      let layer = InstalledLayer(lifetime, by: candidates[index].detour, token: token, sequence: sequence)
      layer.measuring = watched.measuring(lifetime.spec)
      layers.append(layer)
      changes.append(hooked.sets.insert(layer).first(in: round, of: hooked))
    }
    for index in candidates.indices {
      if let change = changes[index] {
        let hooked = candidates[index].hooked
        if !hooked.publish(change) { leaveOut(hooked, change, candidates, layers) }
        hooked.updateSites()
      }
      enter(candidates[index], layers[index], round, &report)
    }
  }

  /// There is no memory for what the selector's layers are with the new ones: without those that came last there may be.
  private func leaveOut(_ hooked: HookedFamily, _ change: LayerSets.Change, _ candidates: [Candidate], _ layers: [InstalledLayer]) {
    for (candidate, layer) in zip(candidates, layers).reversed() where candidate.hooked === hooked {
      switch change {
      case .type: if layer.object != nil { continue }
      case .object(let object): if layer.object !== object { continue }
      }
      _ = hooked.sets.remove(layer)
      // An object's set may have it and be published.
      hooked.sets.mute(layer)
      layer.isLeftOut = true
      if hooked.publish(change) { return }
    }
  }

  /// Enters a layer that calls run through in the books.
  private func enter(_ candidate: Candidate, _ layer: InstalledLayer, _ round: UInt64, _ report: inout Report) {
    let hooked = candidate.hooked
    if layer.isLeftOut {
      _ = candidate.detour?.diversion?.release()
      drop(candidate)
      report.refused.append((hooked.family.selector, .noMemory))
      return
    }
    // Of a selector that was never hooked there were none; others count for themselves.
    let wasHooked = hooked.noteHook(in: round)
    let before = wasHooked && candidate.layer.state == nil ? hooked.deliveredCalls : 0
    enter(InstalledHook(layer: layer, family: hooked, callsBefore: before))
    if candidate.layer.spec.isOnce { onceHooks.insert(layer.token) }
    report.tokens.append((layer.token, hooked.family.key))
    if let detour = candidate.detour { tell(detour, of: hooked, &report) }
    // All calls of all bodies, mostly.
    if candidate.detour == nil, hooked.refused.isEmpty { return }
    if candidate.detour?.diversion != nil { return }
    let reached = hooked.reach(of: layer.scope)
    let bodies = hooked.bodies.count + hooked.refused.count
    if reached < bodies { report.partial.append((hooked.family.selector, reached, bodies)) }
  }

  private func tell(_ detour: Detour, of hooked: HookedFamily, _ report: inout Report) {
    if let reason = detour.instead {
      report.chosen.append(.init(selector: hooked.family.selector, backEnd: detour.backEnd, instead: reason))
    }
    for sentence in detour.diversion?.mayMiss ?? [] { report.mayMiss.append((hooked.family.selector, sentence)) }
  }
}

extension LayerSets.Change {
  /// The change where nobody was notified of it in that round; nil later.
  fileprivate func first(in round: UInt64, of hooked: HookedFamily) -> LayerSets.Change? {
    switch self {
    case .type:
      if hooked.installing.changed == round { return nil }
      hooked.installing.changed = round
    case .object(let object):
      if object.changed == round { return nil }
      object.changed = round
    }
    return self
  }
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
