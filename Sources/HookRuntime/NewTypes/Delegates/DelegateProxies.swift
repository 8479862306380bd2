// DelegateProxies — the proxies that stand in one property of all its objects, and the chains they are part of.
//
// A proxy points at its target; the slot of the owner holds the proxy. Where the slot is weak the proxy points weakly, too,
// and lives exactly as long as its target and its owner do: it is kept here, and let go when the first of them ends, so that
// the slot reads nil when it would have without us. A strong slot keeps the proxy, and the proxy its target.
internal import CHookTrampoline
private import Synchronization

final class DelegateProxies: Sendable {
  let property: DelegateProperty
  private let watch: @Sendable (UnsafeMutablePointer<HKTCall>, RequirementEntry, Behaviour) -> Void
  private let state = Mutex(State())

  private struct State: @unchecked Sendable {
    // Objects are native; references are counted atomically.
    var byOwner: [UInt: Link] = [:]
    var types: [Metadata: Result<ConformingClass, NewTypeError>] = [:]
    /// Proxies that stand in their owners' slots no more, and to which others refer weakly: by target, with which they end.
    var displaced: [UInt: [AnyObject]] = [:]
    /// Targets whose end is waited for.
    var watched: Set<UInt> = []
    var cycles = 0
    /// By owner: the object that was last left as it is. Only compared.
    var refused: [UInt: UInt] = [:]
  }

  /// One owner's proxy.
  private struct Link {
    let behaviour: Behaviour
    /// Kept where the owner's slot does not.
    let kept: AnyObject?
    private weak var other: AnyObject?
    /// What it stands for; only compared.
    let target: UInt

    init(_ proxy: AnyObject, _ behaviour: Behaviour, isKept: Bool, target: UInt) {
      self.behaviour = behaviour
      self.target = target
      // Weak references are counted: one kind of reference for each.
      kept = isKept ? proxy : nil
      other = isKept ? nil : proxy
    }

    var proxy: AnyObject? { kept ?? other }
  }

  /// - Parameter watch: sees every call through a proxy before it goes on.
  init(_ property: DelegateProperty, _ watch: @escaping @Sendable (UnsafeMutablePointer<HKTCall>, RequirementEntry, Behaviour) -> Void) {
    self.property = property
    self.watch = watch
  }

  /// Owners that have a proxy now.
  var count: Int { state.withLock { $0.byOwner.count } }
  /// Values that were left as they are because a proxy before them would have been behind them as well.
  var cycles: Int { state.withLock { $0.cycles } }

  // MARK: Setting

  /// What is to be put in the owner's slot instead of `object`: its proxy, or nil to leave it.
  func proxy(for object: AnyObject, of owner: AnyObject) -> AnyObject? {
    let ownerAddress = address(owner)
    let known = state.withLock { $0.byOwner[ownerAddress] }
    if let proxy = known?.proxy, proxy === object { return nil }
    // A proxy that was for another owner, or of another time: what counts is what it stands for.
    var target = object
    while let behaviour = Behaviour.of(Unmanaged.passUnretained(target).toOpaque()), behaviour.isProxy {
      guard let next = behaviour.target else { return nil }
      target = next
    }
    if isCycle(target) {
      state.withLock { state in
        state.cycles += 1
        state.refused[ownerAddress] = address(target)
      }
      return nil
    }
    if let known, let proxy = known.proxy, known.behaviour.target === target { return proxy }
    known?.behaviour.silence()
    if let known { displace(known, of: owner) }
    guard let made = make(target) else { return nil }
    state.withLock { $0.refused[ownerAddress] = nil }
    keep(made.proxy, made.behaviour, target, owner)
    return made.proxy
  }

  private func make(_ target: AnyObject) -> (proxy: AnyObject, behaviour: Behaviour)? {
    guard case .success(let type) = conformingClass(for: target),
      let behaviour = try? Behaviour(type, target: target, weakly: property.isWeak, isProxy: true, observer: watch)
    else { return nil }
    return (behaviour.object(), behaviour)
  }

  private func keep(_ proxy: AnyObject, _ behaviour: Behaviour, _ target: AnyObject, _ owner: AnyObject) {
    let (ownerAddress, targetAddress) = (address(owner), address(target))
    let link = Link(proxy, behaviour, isKept: property.isWeak, target: targetAddress)
    let (isNew, isFirst) = state.withLock { state in
      defer { state.byOwner[ownerAddress] = link }
      return (state.byOwner[ownerAddress] == nil, property.isWeak && state.watched.insert(targetAddress).inserted)
    }
    if isFirst { _ = ObjectEndings.watch(target) { [weak self] in self?.ended(targetAddress) } }
    if isNew {
      _ = ObjectEndings.watch(owner) { [weak self] in
        // At the beginning of its end: its memory is there still.
        if let link = self?.state.withLock({ $0.byOwner[ownerAddress] }), let place = UnsafeRawPointer(bitPattern: ownerAddress) {
          self?.displace(link, of: Unmanaged<AnyObject>.fromOpaque(place).takeUnretainedValue())
        }
        self?.forget(ownerAddress)
      }
    }
  }

  /// The proxy leaves its owner's slot. The owner may have handed it on, to a forwarder that refers to it weakly: then it lives as
  /// long as its target, as what it stands for would.
  private func displace(_ link: Link, of owner: AnyObject) {
    guard let proxy = link.kept, link.behaviour.target != nil, hasOtherReferences(proxy, besides: owner) else { return }
    state.withLock { state in
      // Those that nobody refers to any more go; a weak reference to one that is in no slot is somebody else's.
      let others = (state.displaced[link.target] ?? []).filter { $0 !== proxy && _getWeakRetainCount($0) > 1 }
      state.displaced[link.target] = others + [proxy]
    }
  }

  /// More refer to the proxy weakly than its owner's slot. The runtime counts one for the object itself.
  private func hasOtherReferences(_ proxy: AnyObject, besides owner: AnyObject) -> Bool {
    var own: UInt = 1
    if let field = property.field ?? property.backing {
      let slot = Unmanaged.passUnretained(owner).toOpaque() + field.offset
      if let held = RuntimeReferences.loadWeak(slot) {
        if held == Unmanaged.passUnretained(proxy).toOpaque() { own += 1 }
        ProgramCall.release(UInt(bitPattern: held))
      }
    }
    return _getWeakRetainCount(proxy) > own
  }

  /// The object was left in the owner's slot as it is.
  func wasRefused(_ object: AnyObject, for owner: AnyObject) -> Bool { state.withLock { $0.refused[address(owner)] == address(object) } }

  /// The target ended.
  private func ended(_ target: UInt) {
    // The references go when this returns: outside the lock.
    _ = state.withLock { state -> ([Link], [AnyObject]) in
      state.watched.remove(target)
      let owners = state.byOwner.filter { $0.value.target == target }.map(\.key)
      return (owners.compactMap { state.byOwner.removeValue(forKey: $0) }, state.displaced.removeValue(forKey: target) ?? [])
    }
  }

  /// The owner's slot was emptied.
  func forget(_ owner: AnyObject) {
    if let link = state.withLock({ $0.byOwner[address(owner)] }) { displace(link, of: owner) }
    forget(address(owner))
  }
  /// The owner ended.
  private func forget(_ owner: UInt) {
    _ = state.withLock { state in
      state.refused[owner] = nil
      return state.byOwner.removeValue(forKey: owner)
    }
  }

  /// All proxies go on calling their targets, and nobody sees it.
  func silence() {
    let all = state.withLock { Array($0.byOwner.values) }
    for link in all { link.behaviour.silence() }
  }

  /// Owners whose slots can be given their targets back.
  func owners() -> [(owner: UInt, proxy: AnyObject, target: AnyObject?)] {
    state.withLock { state in
      state.byOwner.compactMap { owner, link in link.proxy.map { (owner, $0, link.behaviour.target) } }
    }
  }

  private func address(_ object: AnyObject) -> UInt { UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()) }

  // MARK: Cycles

  /// The target forwards, itself or by way of others like it, to a proxy that stands before it.
  private func isCycle(_ target: AnyObject) -> Bool {
    var seen: Set<ObjectIdentifier> = [ObjectIdentifier(target)]
    var queue = [target]
    for _ in 0..<Self.longestChain {
      guard let next = queue.popLast() else { return false }
      for other in StoredReferences.objects(in: next) {
        if let behaviour = Behaviour.of(Unmanaged.passUnretained(other).toOpaque()), behaviour.isProxy {
          guard let behind = behaviour.target else { continue }
          if behind === target { return true }
          if seen.insert(ObjectIdentifier(behind)).inserted { queue.append(behind) }
        } else if conforms(other), seen.insert(ObjectIdentifier(other)).inserted {
          queue.append(other)
        }
      }
    }
    return false
  }
  private static let longestChain = 32

  /// The object could be in the property.
  private func conforms(_ object: AnyObject) -> Bool {
    let type = Metadata(Unmanaged.passUnretained(object).toOpaque().load(as: UnsafeRawPointer.self))
    return property.protocols.allSatisfy { type.conformance(to: $0) != nil }
  }

  // MARK: Classes of proxies

  /// The class of proxies for targets of this one's class.
  func conformingClass(for target: AnyObject) -> Result<ConformingClass, NewTypeError> {
    let type = Metadata(Unmanaged.passUnretained(target).toOpaque().load(as: UnsafeRawPointer.self))
    if let known = state.withLock({ $0.types[type] }) { return known }
    let made: Result<ConformingClass, NewTypeError>
    do throws(NewTypeError) {
      made = .success(try ConformingClass.forwarding(property.protocols, besides: ConformanceScan.protocols(of: type)))
    } catch { made = .failure(error) }
    state.withLock { $0.types[type] = made }
    return made
  }
}

/// The objects that an object's stored properties hold.
private enum StoredReferences {
  private struct Place {
    let offset: Int
    let isWeak: Bool
  }
  private static let known = Mutex<[Metadata: [Place]]>([:])

  static func objects(in object: AnyObject) -> [AnyObject] {
    let memory = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    return places(in: Metadata(memory.load(as: UnsafeRawPointer.self))).compactMap { place in
      if place.isWeak { return weak(memory + place.offset) }
      guard let word = UnsafeRawPointer(bitPattern: (memory + place.offset).load(as: UInt.self)) else { return nil }
      // A stored reference to a native object, which its owner keeps.
      return Unmanaged<AnyObject>.fromOpaque(word).takeUnretainedValue()
    }
  }

  private static func places(in type: Metadata) -> [Place] {
    if let known = known.withLock({ $0[type] }) { return known }
    let found = type.storedFields.compactMap { field -> Place? in
      guard field.reference == .value || field.reference == .weak, case .success(let info) = field.type, holdsObject(info) else {
        return nil
      }
      return Place(offset: field.offset, isWeak: field.reference == .weak)
    }
    known.withLock { $0[type] = found }
    return found
  }

  private static func holdsObject(_ info: TypeInfo) -> Bool {
    switch info.kind {
    case .object: true
    case .optional(let payload): holdsObject(payload)
    case .existential: info.metadata.existentialForm == .reference
    default: false
    }
  }

  /// The object that the weak slot names, retained; nil where it has ended.
  private static func weak(_ place: UnsafeRawPointer) -> AnyObject? {
    guard let word = RuntimeReferences.loadWeak(UnsafeMutableRawPointer(mutating: place)) else { return nil }
    return Unmanaged<AnyObject>.fromOpaque(word).takeRetainedValue()
  }
}
