// HookEngine+Bodies — from a selector to bodies that are diverted.
private import CHookTrampoline
private import SwiftMangling
private import Synchronization

extension HookEngine {
  /// The family with what a back end diverts made ready. Nothing of the program changes: what was prepared and could not be
  /// written is written at the next try. To be called under the lock.
  func prepare(_ family: Family, in image: ImageCatalog, by backEnd: BackEnd = .entry) -> Result<HookedFamily, HookRefusal> {
    if let reason = Policy.refusal(family, image: image) { return .failure(reason) }
    let found = families.find(family)
    let hooked = found.known ?? HookedFamily(family: family, image: image, siblings: found.siblings)
    if backEnd == .entry {
      hooked.prepareEntries(family.bodies)
      if hooked.bodies.isEmpty { return .failure(hooked.refused.first?.reason ?? .noBody) }
      if let other = hooked.siteUser() { return .failure(.sharedBody(with: other.family.selector)) }
    }
    if found.known == nil { families.add(hooked, found) }
    return .success(hooked)
  }

  /// The plans of the bodies that a hook on the selector diverts, so that a handler can be held against them beforehand.
  /// - Parameter scope: where the engine may choose the back end.
  func plans(
    of family: Family, in image: ImageCatalog, by backEnd: BackEnd = .entry, orElseFor scope: HookScope? = nil
  ) -> Result<[CallPlan], HookRefusal> {
    // Importers share the prototype, and their slots are found when the hook is installed.
    if family.imported != nil { return .success(tablePlans.plans(of: family.bodies.prefix(1), in: family, image)) }
    // Code that is not to be changed is not looked at either.
    let byTables = { Result<[CallPlan], HookRefusal>.success(self.tablePlans.plans(of: family.bodies[...], in: family, image)) }
    if backEnd != .entry { return byTables() }
    return locked {
      let entries = prepare(family, in: image).map { $0.plans }
      guard case .failure(let reason) = entries, reason.isOfEntries, let scope, hasTables(family, image, scope) else { return entries }
      return byTables()
    }
  }

  /// A back end beside the entry patch can divert the selector's calls.
  private func hasTables(_ family: Family, _ image: ImageCatalog, _ scope: HookScope) -> Bool {
    BackEnd.besideEntry(for: scope).contains { backEnd in
      guard case .success(let hooked) = prepare(family, in: image, by: backEnd), case .success = hooked.diversion(backEnd, scope) else {
        return false
      }
      return true
    }
  }

  /// Diverts the bodies, all or none.
  /// - Returns: nil, or why not, and the families that stand in the way; none where it is nobody's fault.
  func write(_ families: [HookedFamily]) -> (HookRefusal, [HookedFamily])? {
    let round = nextRound()
    var sites: [CodePatcher.Site] = []
    sites.reserveCapacity(families.count)
    for hooked in families where hooked.installing.written != round {
      hooked.installing.written = round
      if let other = hooked.claimSites() { return (.sharedBody(with: other.family.selector), [hooked]) }
      // A merged body serves several selectors: the transaction takes it once.
      for body in hooked.bodies { sites.append(body.site) }
    }
    guard !sites.isEmpty else { return nil }
    do throws(InterceptRefusal) {
      _ = try CodePatcher.install(sites)
      return nil
    } catch {
      let culprits = families.filter { hooked in hooked.bodies.contains { error.bodies.contains($0.body.address) } }
      return (.code(error), culprits)
    }
  }
}

/// Plans of bodies that hooks on words of tables are held against, kept until images change: those may bring types. Any thread.
final class TablePlans: Sendable {
  private struct Key: Hashable {
    let image: ObjectIdentifier, address: UInt64
    let selector: String
  }
  private struct State {
    var known: [Key: CallPlan] = [:]
    var change: UInt64 = .max
  }
  private let state = Mutex(State())

  func plans(of bodies: ArraySlice<Body>, in family: Family, _ image: ImageCatalog) -> [CallPlan] {
    // Catalogs are kept for as long as their images are loaded.
    let change = LoadedImages.changeCount
    return bodies.map { body in
      let key = Key(image: ObjectIdentifier(image), address: body.address, selector: family.typedSelector)
      if let known = state.withLock({ $0.change == change ? $0.known[key] : nil }) { return known }
      let made = image.plan(of: body, in: family)
      state.withLock {
        if $0.change != change { $0 = State(change: change) }
        $0.known[key] = made
      }
      return made
    }
  }
}

extension HookedFamily {
  /// Makes those bodies ready that are not: a requirement's selector means witnesses besides the method's own.
  fileprivate func prepareEntries(_ wanted: [Body]) {
    if isPrepared(for: wanted) { return }
    // Who had the code may have given it back.
    if !refused.isEmpty { forgetRefusals { if case .sharedBody = $0 { true } else { false } } }
    let known = bodies.isEmpty && refused.isEmpty ? [] : Set((bodies.map(\.body) + refused.map(\.body)).map(\.address))
    var made: [HookedBody] = []
    var refusals: [(Body, HookRefusal)] = []
    made.reserveCapacity(wanted.count)
    for body in wanted where !known.contains(body.address) {
      if body.isUnidentified { refusals.append((body, .mergedBody)) }
      if body.form == .merged, body.thunks.isEmpty { continue }
      let bytes = image.fileBytes(of: body, count: body.size)
      do throws(InterceptRefusal) {
        let site = try CodePatcher.site(of: body.address, size: body.size, available: body.available, fileBytes: bytes)
        enter(body, at: site, &made, &refusals)
      } catch { refusals.append((body, HookRefusal.code(error))) }
    }
    add(made, refused: refusals)
  }

  /// All of them are ready, and none is refused.
  private func isPrepared(for wanted: [Body]) -> Bool {
    guard refused.isEmpty, bodies.count == wanted.count else { return false }
    return bodies.indices.allSatisfy { bodies[$0].body.address == wanted[$0].address }
  }

  /// The body as the selector's calls enter it: once, or, where it was merged with others, once for each thunk.
  private func enter(
    _ body: Body, at site: UnsafeMutablePointer<HKTSite>, _ made: inout [HookedBody], _ refusals: inout [(Body, HookRefusal)]
  ) {
    if body.thunks.isEmpty {
      if let other = Self.user(of: site) {
        refusals.append((body, .sharedBody(with: other.family.selector)))
      } else {
        made.append(HookedBody(body: body, site: site, isAsync: body.isAsync))
      }
      return
    }
    for thunk in body.thunks {
      if let other = Self.owner(of: site, guardedLike: thunk) {
        refusals.append((body, .sharedBody(with: other.family.selector)))
      } else {
        let source = thunk.source(in: family) ?? body
        made.append(HookedBody(body: body, site: site, isAsync: source.isAsync, guardedBy: thunk))
      }
    }
  }

  /// The selector with layers at the entry of the same code: equal addresses. Nil when it is free.
  fileprivate static func user(of site: UnsafeMutablePointer<HKTSite>, besides self: HookedFamily? = nil) -> HookedFamily? {
    guard let record = site.pointee.owner?.assumingMemoryBound(to: HKTBodyRecord.self) else { return nil }
    // Families are never freed, so the record's is there.
    let other = Unmanaged<HookedFamily>.fromOpaque(record.pointee.owner).takeUnretainedValue()
    return other === self || !other.sets.needsEntries ? nil : other
  }

  /// Makes the sites of bodies that another selector has prepared, and does not use, this family's. Answers the selector that
  /// does use one.
  fileprivate func claimSites() -> HookedFamily? {
    if let other = siteUser() { return other }
    for body in bodies where !body.isShared && body.neighbours != nil { hkt_site_give(body.site, body.record) }
    return nil
  }

  /// Another selector that uses the site of a body.
  fileprivate func siteUser() -> HookedFamily? {
    // A body that was nobody else's ever is its record's.
    for body in bodies where !body.isShared && body.neighbours != nil {
      if let other = Self.user(of: body.site, besides: self) { return other }
    }
    return nil
  }

  /// Sites take part while there is a layer for them.
  func updateSites() {
    let isOn = sets.isEnabled(.entry)
    // Switching the site of a shared body off would take it from others, and so would that of a body another selector has now.
    for body in bodies where isOn || !body.isShared && body.hasSite {
      isOn ? CodePatcher.enable(body.site) : CodePatcher.disable(body.site)
    }
    for each in arrivals {
      // The tables' hooks see an object's calls where its own class leads them.
      let isOn = sets.isEnabled(each.backEnd) || each.backEnd == .classSwitch && sets.isEnabled(.vtable)
      isOn ? CodePatcher.enable(each.site) : CodePatcher.disable(each.site)
    }
  }

  /// Why a layer cannot take part in this selector's calls.
  func refusal(of spec: LayerSpec) -> HookRefusal? {
    if let imported = family.imported { return imported.refusal(of: spec) }
    if spec.needsResult, family.declaration.neverReturns { return .beforeOnly("it \(NotContained.neverReturns)") }
    if spec.phases & UInt32(HKT_ON_AROUND) != 0, image.isKnownNotToReturn(family) { return .beforeOnly("it \(NotContained.neverReturns)") }
    if spec.phases & UInt32(HKT_ON_AROUND) != 0 {
      if let refusal = family.declaration.refusesAround { return refusal }
      if !spec.canWait, family.hasAsyncBodies { return .cannotWait }
    }
    if spec.needsResult || spec.phases & UInt32(HKT_ON_AROUND) != 0, family.hasAsyncBodies,
      family.declaration.returnsExtendedFloat
    {
      return .resultNotObservable("an async function passes a Float80 on the stack")
    }
    return nil
  }
}

extension Declaration {
  /// The result is known to hold an 80-bit float that does not go by address.
  fileprivate var returnsExtendedFloat: Bool {
    guard case .success(let info) = TypeResolver.shared.type(functionType.result), case .direct(let scalars) = info.passing else {
      return false
    }
    return scalars.contains { $0.kind == .extended }
  }
}

/// What is never hooked, whoever asks.
enum Policy {
  static func refusal(_ family: Family, image: ImageCatalog) -> HookRefusal? {
    if let name = image.forbiddenName { return .runtimeMachinery(name) }
    return nil
  }
}
