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

/// Finds and hooks functions of this process. Any thread.
public final class HookEngine: @unchecked Sendable {
  // All state is behind `lock`; calls read published layer sets only, never this object.
  public static let shared = HookEngine()

  let lock = RecursiveLock()
  var families: [String: HookedFamily] = [:]
  /// One selector may have bodies in several images: specialisations that each of them needed.
  var familiesByName: [String: [HookedFamily]] = [:]
  var hooks: [HookToken: InstalledHook] = [:]
  private var nextToken: UInt64 = 1
  /// References that were taken under the lock; dropping one may run the program's code.
  var kept: [AnyObject] = []
  /// Object hooks made since the last sweep, and those it left.
  var objectsSinceSweep = 0
  var objectsAfterSweep = 0
  /// Installed hooks that take part in one call.
  var onceHooks: Set<HookToken> = []
  /// Wishes for what is not there yet, in the order in which they were made.
  var waiting: [WaitingHook] = []
  var nextWait: UInt64 = 1
  /// One at a time lands what images brought. Taken before `lock`, never within it.
  let landing = RecursiveLock()
  /// Images whose import slots were looked at, by path and place.
  var knownImporters: Set<String> = []
  var missedWords: [(selector: String, reason: HookRefusal)] = []

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
  private struct Candidate {
    let hooked: HookedFamily
    /// As it was asked for.
    let family: Family
    let scope: LayerScope
    let backEnd: BackEnd
    let diversion: (any Diversion)?
    let spec: LayerSpec
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
    if requests.contains(where: { $0.family.imported != nil || $0.backEnd?.hasMoreLater == true }) { watchImages() }
    let requests = HookRequest.byTable(requests)
    // Before the lock is taken: an image's constructors may hook, too, while the loader waits for them.
    let gone = requests.filter { !ImagePins.pin($0.image) }
    return locked {
      var report = Report()
      if let reason = processRefusal() {
        report.refused = requests.map { ($0.family.selector, reason) }
        return report
      }
      report.refused = gone.map { ($0.family.selector, .imageGone($0.image.path)) }
      var candidates: [Candidate] = []
      for request in requests where gone.isEmpty || !gone.contains(where: { $0.image === request.image }) {
        switch check(request, layer) {
        case .success(let candidate): if let candidate { candidates.append(candidate) }
        case .failure(let reason): report.refused.append((request.family.selector, reason))
        }
      }
      if !(atomically && !report.refused.isEmpty) { divert(&candidates, atomically, &report) }
      if atomically, !report.refused.isEmpty {
        candidates.forEach(drop)
        return report
      }
      var places = OrderPlaces()
      for candidate in candidates { add(candidate, &places, &report) }
      if atomically, !report.refused.isEmpty {
        for (token, _) in report.tokens { _ = take(token) }
        report.tokens = []
        report.partial = []
      }
      return report
    }
  }

  /// Asks everything that can speak against a request; changes nothing of the program.
  private func check(_ request: HookRequest, _ layer: (Family) -> LayerSpec?) -> Result<Candidate?, HookRefusal> {
    if request.family.imported != nil { return checkImport(request, layer) }
    let backEnd = request.backEnd ?? .entry
    let hooked: HookedFamily
    switch prepare(request.family, in: request.image, by: backEnd) {
    case .success(let prepared): hooked = prepared
    case .failure(let reason): return .failure(reason)
    }
    var diversion: (any Diversion)?
    if backEnd != .entry {
      switch hooked.diversion(backEnd, request.scope) {
      case .success(let made): diversion = made
      case .failure(let reason): return .failure(reason)
      }
    }
    let scope: LayerScope
    switch hooked.scope(request.scope, by: backEnd, { entry(of: $0, in: hooked) }) {
    case .success(let found): scope = found
    case .failure(let reason): return .failure(.scope(reason))
    }
    guard let spec = layer(hooked.family) else {
      if case .object(let object) = scope { hooked.sets.forget(object) }
      return .success(nil)
    }
    let candidate = Candidate(hooked: hooked, family: hooked.family, scope: scope, backEnd: backEnd, diversion: diversion, spec: spec)
    if let reason = hooked.refusal(of: candidate.spec) {
      drop(candidate)
      return .failure(reason)
    }
    return .success(candidate)
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
    noteImporters()
    guard let spec = layer(request.family) else { return .success(nil) }
    var reason = hooked.refusal(of: spec)
    if reason == nil {
      switch hooked.importDiversion(request.family, for: spec) {
      case .success(let diversion):
        return .success(
          Candidate(hooked: hooked, family: request.family, scope: .type, backEnd: .importSlot, diversion: diversion, spec: spec))
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
      report.refused.append((candidate.family.selector, .code(reason)))
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
      for candidate in candidates where isCulprit(candidate) {
        report.refused.append((candidate.family.selector, reason))
        drop(candidate)
      }
      candidates.removeAll(where: isCulprit)
      if atomically { return }
    }
  }

  private func add(_ candidate: Candidate, _ places: inout OrderPlaces, _ report: inout Report) {
    let hooked = candidate.hooked
    if candidate.spec.readsValues { hooked.planAll() }
    let token = HookToken(id: nextToken, selector: candidate.family.selector)
    nextToken += 1
    let layer = InstalledLayer(
      candidate.spec, scope: candidate.scope, backEnd: candidate.backEnd, diversion: candidate.diversion, token: token,
      sequence: (familiesByName[hooked.family.key]?.count ?? 0) > 1 ? places.take(hooked, token) : nil)
    let change = hooked.sets.insert(layer)
    guard hooked.publish(change) else {
      _ = hooked.sets.remove(layer)
      _ = candidate.diversion?.release()
      if case .object(let object) = candidate.scope { hooked.sets.forget(object) }
      report.refused.append((hooked.family.selector, .noMemory))
      return
    }
    hooked.updateSites()
    hooks[token] = InstalledHook(layer: layer, family: hooked)
    if candidate.spec.isOnce { onceHooks.insert(token) }
    report.tokens.append((token, hooked.family.key))
    if candidate.diversion != nil { return }
    let reached = hooked.reach(of: candidate.scope)
    let bodies = hooked.bodies.count + hooked.refused.count
    if reached < bodies { report.partial.append((hooked.family.selector, reached, bodies)) }
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
