// HookEngine — the one owner of every installed hook.
//
// A selector may be hooked many times; its bodies are diverted once and stay diverted (switching is a pointer swap).
// Invariants:
//   1. A site is enabled exactly while its family has at least one layer.
//   2. Published layer sets hold the family's layers in nesting order, outermost first.
//   3. Nothing is changed when an install throws.
private import CHookTrampoline
private import SwiftMangling

/// Finds and hooks functions of this process. Any thread.
public final class HookEngine: @unchecked Sendable {
  // All state is behind `lock`; calls read published layer sets only, never this object.
  public static let shared = HookEngine()

  private let lock = RecursiveLock()
  private var families: [String: HookedFamily] = [:]
  private var tokens: [HookToken: HookedFamily] = [:]
  private var nextToken: UInt64 = 1

  private init() {
    ValueWriter.installReleaseHandler()
    HookedFamily.planAtFirstCall()
  }

  /// What installing on one or many selectors led to.
  package struct Report: Sendable {
    /// What was installed, with the family's key.
    package var tokens: [(token: HookToken, key: String)] = []
    package var refused: [(selector: String, reason: HookRefusal)] = []
    /// Selectors hooked in some but not all bodies.
    package var partial: [(selector: String, hooked: Int, of: Int)] = []
    package var matched: Int { tokens.count + refused.count }
  }

  /// Hooks every family for which it is possible. The code changes are one transaction.
  /// - Parameters:
  ///   - atomically: install nothing when one request is refused.
  ///   - layer: makes the layer for a family; called once for each that can be hooked.
  package func install(
    _ requests: [HookRequest], atomically: Bool = false, layer: (Family) -> LayerSpec
  ) -> Report {
    lock.withLock {
      var report = Report()
      var ready: [HookedFamily] = []
      for request in requests {
        switch prepare(request.family, in: request.image) {
        case .success(let hooked): ready.append(hooked)
        case .failure(let reason): report.refused.append((request.family.selector, reason))
        }
      }
      if let reason = write(ready.flatMap { $0.bodies.map(\.site) }) {
        report.refused += ready.map { ($0.family.selector, reason) }
        return report
      }
      for hooked in ready { add(layer(hooked.family), to: hooked, &report) }
      return report
    }
  }

  private func add(_ spec: LayerSpec, to hooked: HookedFamily, _ report: inout Report) {
    if let reason = hooked.refusal(of: spec) {
      spec.release?(spec.context)
      report.refused.append((hooked.family.selector, reason))
      return
    }
    if spec.readsValues { hooked.planAll() }
    let token = HookToken(id: nextToken, selector: hooked.family.selector)
    nextToken += 1
    hooked.add(spec, token: token)
    guard hooked.publish() else {
      _ = hooked.remove(token)
      report.refused.append((hooked.family.selector, .noMemory))
      return
    }
    for body in hooked.bodies { CodePatcher.enable(body.site) }
    families[hooked.key] = hooked
    tokens[token] = hooked
    report.tokens.append((token, hooked.family.key))
    if !hooked.refused.isEmpty {
      report.partial.append((hooked.family.selector, hooked.bodies.count, hooked.bodies.count + hooked.refused.count))
    }
  }

  /// Calls that start later do not see the hook; calls in flight finish with it. Never waits.
  @discardableResult
  package func remove(_ token: HookToken) -> Bool {
    lock.withLock {
      guard let hooked = tokens.removeValue(forKey: token), hooked.remove(token) else { return false }
      if hooked.layers.isEmpty { for body in hooked.bodies where !body.isShared { CodePatcher.disable(body.site) } }
      return hooked.publish()
    }
  }

  /// Calls that entered a hooked body with a `self` of another type, by selector; they passed through unseen.
  package func foreignCalls() -> [(selector: String, calls: UInt64)] {
    lock.withLock {
      families.values.compactMap { hooked in
        let calls = hooked.bodies.reduce(0) { $0 + hkt_record_foreign($1.record) }
        return calls == 0 ? nil : (hooked.family.selector, calls)
      }.sorted { $0.selector < $1.selector }
    }
  }

  /// Calls of the hooked selector that were delivered to its layers so far; nil when the hook was removed.
  package func deliveredCalls(_ token: HookToken) -> UInt64? {
    lock.withLock { tokens[token].map { hooked in hooked.bodies.reduce(0) { $0 + hkt_record_calls($1.record) } } }
  }

  /// Removed layer sets that calls in flight still use.
  public var setsInUse: Int { Int(hkt_layers_waiting()) }

  /// The plans of the bodies that a hook on the selector diverts, so that a handler can be held against them beforehand.
  func plans(of family: Family, in image: ImageCatalog) -> Result<[CallPlan], HookRefusal> {
    lock.withLock { prepare(family, in: image).map { $0.plans } }
  }

  // MARK: Preparing

  /// Nothing of the program changes: a family that was prepared and could not be written is written at the next try.
  private func prepare(_ family: Family, in image: ImageCatalog) -> Result<HookedFamily, HookRefusal> {
    if let known = families[family.imagePath + "\0" + family.key] { return .success(known) }
    if let reason = Policy.refusal(family, image: image) { return .failure(reason) }
    var bodies: [HookedBody] = []
    var refused: [(Body, HookRefusal)] = []
    for body in family.bodies {
      if body.isUntold { refused.append((body, .mergedBody)) }
      if body.form == .merged, body.thunks.isEmpty { continue }
      switch CodePatcher.prepare(
        body: body.address, size: body.size, available: body.available,
        fileBytes: image.fileBytes(of: body, count: body.size))
      {
      case .success(let site):
        if let record = site.pointee.owner?.assumingMemoryBound(to: HKTBodyRecord.self), body.thunks.isEmpty {
          // The same code under another selector: equal addresses. Families are never freed, so the record's is there.
          let other = Unmanaged<HookedFamily>.fromOpaque(record.pointee.family).takeUnretainedValue()
          refused.append((body, .sharedBody(with: other.family.selector)))
          continue
        }
        if body.thunks.isEmpty {
          bodies.append(HookedBody(body: body, site: site, as: body.declaration))
        }
        for thunk in body.thunks {
          if let other = HookedFamily.owner(of: site, guardedLike: thunk) {
            refused.append((body, .sharedBody(with: other.family.selector)))
            continue
          }
          bodies.append(HookedBody(body: body, site: site, as: thunk.source(in: family)?.declaration ?? body.declaration, guardedBy: thunk))
        }
      case .failure(let reason): refused.append((body, HookRefusal.code(reason)))
      }
    }
    guard !bodies.isEmpty else { return .failure(refused.first?.1 ?? .noBody) }
    let hooked = HookedFamily(family: family, image: image, bodies: bodies, refused: refused)
    families[hooked.key] = hooked
    return .success(hooked)
  }

  /// Diverts the bodies, all or none.
  private func write(_ sites: [UnsafeMutablePointer<HKTSite>]) -> HookRefusal? {
    // A merged body serves several selectors.
    let sites = Array(Set(sites))
    guard !sites.isEmpty else { return nil }
    do throws(InterceptRefusal) {
      _ = try CodePatcher.install(sites)
      return nil
    } catch { return .code(error) }
  }
}

extension HookedFamily {
  var key: String { family.imagePath + "\0" + family.key }

  /// Why a layer cannot take part in this selector's calls.
  func refusal(of spec: LayerSpec) -> HookRefusal? {
    if spec.phases & UInt32(HKT_ON_AROUND) != 0 {
      if family.declaration.kind.isDeinit { return .aroundDeinit }
      if family.declaration.isCoroutine { return .aroundCoroutine }
      if !spec.canWait, bodies.contains(where: \.isAsync) { return .cannotWait }
    }
    if spec.needsResult || spec.phases & UInt32(HKT_ON_AROUND) != 0, family.declaration.functionType.isAsync,
      family.declaration.returnsExtendedFloat
    {
      return .resultNotObservable("an async function passes a Float80 on the stack")
    }
    guard spec.needsResult, bodies.contains(where: \.isEnterOnly) else { return nil }
    return .resultNotObservable("it yields within its caller's frame")
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
