// HookEngine+Hooks — installed hooks: switched on and off, removed, listed; one, all of an owner, or all of a group.
private import CHookTrampoline

extension HookedFamily {
  /// Calls of the selector that were delivered to layers, ever.
  var deliveredCalls: UInt64 {
    bodies.reduce(0) { $0 + hkt_record_calls($1.record) } + arrivals.reduce(0) { $0 + hkt_record_calls($1.record) }
  }
}

/// What has to be published anew of one selector.
private struct FamilyChanges {
  let family: HookedFamily
  var type = false
  var objects: [HookedObject] = []

  mutating func add(_ change: LayerSets.Change) {
    switch change {
    case .type: type = true
    case .object(let object): if !objects.contains(where: { $0 === object }) { objects.append(object) }
    }
  }

  /// False when memory ran out.
  func publish() -> Bool {
    var isComplete = !type || family.publish(.type)
    for object in objects { isComplete = family.publish(.object(object)) && isComplete }
    return isComplete
  }
}

extension HookEngine {
  // MARK: Removing

  /// Calls that start later do not see the hook; calls in flight finish with it. Never waits. False when it was removed
  /// before, or has ended with its object.
  @discardableResult
  package func remove(_ token: HookToken) -> Bool {
    remove([token]) == 1
  }

  /// Removes several; answers how many were there.
  @discardableResult
  package func remove(_ tokens: [HookToken]) -> Int {
    locked {
      tokens.count { token in
        guard let hook = hooks[token.id] else { return false }
        let wasThere = !isOver(hook)
        return take(token) && wasThere
      }
    }
  }

  /// Removes all hooks of an owner, or of one of its groups; answers how many there were.
  @discardableResult
  package func removeAll(owner: String, group: String? = nil) -> Int {
    lock.withLock { waiting.removeAll { $0.request.owner == owner && (group == nil || $0.request.group == group) } }
    return remove(tokens(owner, group))
  }

  /// Takes a hook out, under the lock.
  func take(_ token: HookToken) -> Bool {
    guard let hook = strike(token) else { return false }
    guard let change = hook.family.sets.remove(hook.layer) else { return false }
    if !hook.family.publish(change) { hook.family.sets.mute(hook.layer) }
    hook.family.updateSites()
    hook.layer.diversion?.release()
    return true
  }

  // MARK: On and off

  /// Calls that start later see the hook, or do not; it keeps its place. False when it is not installed, or memory ran out.
  @discardableResult
  package func setEnabled(_ isEnabled: Bool, _ token: HookToken) -> Bool { locked { set(isEnabled, token) } }

  /// Switches all hooks of an owner, or of one of its groups; answers how many there are.
  @discardableResult
  package func setEnabled(_ isEnabled: Bool, owner: String, group: String? = nil) -> Int {
    locked { tokens(owner, group).count { set(isEnabled, $0) } }
  }

  /// The function that the hook is on; nil where it is no more.
  package func selector(of token: HookToken) -> String? { lock.withLock { hooks[token.id]?.layer.token.selector } }

  package func isEnabled(_ token: HookToken) -> Bool? { lock.withLock { hooks[token.id]?.layer.isEnabled } }

  private func set(_ isEnabled: Bool, _ token: HookToken) -> Bool {
    guard let hook = hooks[token.id], !isOver(hook), !(isEnabled && hook.hasEnded) else { return false }
    if hook.layer.isEnabled == isEnabled { return true }
    // Who switches it on lets it begin anew.
    if isEnabled { (hook.layer.oneIn, hook.layer.limitation) = (1, nil) }
    guard hook.family.publish(hook.family.sets.set(isEnabled, hook.layer)) else {
      _ = hook.family.sets.set(!isEnabled, hook.layer)
      return false
    }
    hook.family.updateSites()
    return true
  }

  /// Switches off what an owner has of hooks whose handlers never run again. They stay in the lists, with the reason.
  package func switchOffEnded(of owner: String) {
    locked {
      for hook in hooks.values where hook.layer.isEnabled && hook.layer.spec.owner == owner && hook.hasEnded { _ = set(false, hook.layer.token) }
    }
  }

  /// Removes some hooks and switches others on. Calls of a selector that start later see all of that or nothing. Where
  /// memory runs out, the removed ones do nothing and calls go past the others.
  /// - Parameter settled: whose change is over with it.
  package func exchange(removing old: [HookToken], enabling new: [HookToken], settled owner: String? = nil) {
    locked {
      if let owner { settle(owner) }
      var changes: [FamilyChanges] = []
      var numbers: [ObjectIdentifier: Int] = [:]
      func note(_ change: LayerSets.Change, _ hook: InstalledHook) {
        let number = numbers[ObjectIdentifier(hook.family)] ?? changes.count
        if number == changes.count {
          numbers[ObjectIdentifier(hook.family)] = number
          changes.append(FamilyChanges(family: hook.family))
        }
        changes[number].add(change)
      }
      for token in new {
        guard let hook = hooks[token.id], !isOver(hook), !hook.layer.isEnabled, !hook.hasEnded else { continue }
        note(hook.family.sets.set(true, hook.layer), hook)
      }
      var removed: [InstalledHook] = []
      for token in old {
        guard let hook = strike(token) else { continue }
        removed.append(hook)
        if let change = hook.family.sets.remove(hook.layer) { note(change, hook) }
      }
      var isComplete = true
      for change in changes {
        if !change.publish() { isComplete = false }
        change.family.updateSites()
      }
      for hook in removed {
        // In sets for which there was no memory they are still there.
        if !isComplete { hook.family.sets.mute(hook.layer) }
        hook.layer.diversion?.release()
      }
    }
  }

  private func tokens(_ owner: String, _ group: String?) -> [HookToken] {
    lock.withLock {
      hooks.values.filter { $0.layer.spec.owner == owner && (group == nil || $0.layer.spec.group == group) }.map(\.layer.token)
    }
  }

  // MARK: Telling

  /// The hooks there are, in the order in which they were made; those of dead objects not.
  /// - Parameters:
  ///   - owner: whose; nil for everybody's.
  ///   - settled: without those of changes that are not over.
  package func list(owner: String? = nil, settled: Bool = false) -> [HookInfo] {
    locked {
      hooks.values.filter {
        (owner == nil || $0.layer.spec.owner == owner) && !(settled && isUnsettled($0.layer.spec.owner, hook: $0.layer.token.id)) && !isOver($0)
      }.sorted { $0.layer.token.id < $1.layer.token.id }.map(info)
    }
  }

  /// Nil when the hook is not installed any more.
  package func info(_ token: HookToken) -> HookInfo? {
    locked { hooks[token.id].flatMap { isOver($0) ? nil : info($0) } }
  }

  /// The layers on a hook's function, those of its object among them, outermost first; those that are switched off, too.
  package func order(on token: HookToken) -> [LayerPlace] {
    lock.withLock {
      guard let hook = hooks[token.id] else { return [] }
      let layers = (hook.layer.object?.layers ?? []) + hook.family.sets.layers
      return layers.map {
        LayerPlace(
          token: $0.token, owner: $0.spec.owner, priority: $0.spec.priority, isOnObject: $0.object != nil,
          // A C function is its address.
          code: unsafeBitCast($0.spec.function, to: UInt.self))
      }
    }
  }

  func info(_ hook: InstalledHook) -> HookInfo {
    let spec = hook.layer.spec
    let ended = spec.facts?.ended
    let scope: HookInfo.Scope
    switch hook.layer.scope {
    case .type: scope = .type
    case .subclass(let metadata): scope = .subclass(metadata.name)
    case .object(let object):
      let name = object.alive(&kept).map { String(describing: type(of: $0)) } ?? "object"
      scope = .object(name, object.address)
    }
    return HookInfo(
      token: hook.layer.token, key: hook.family.family.key, owner: spec.owner, group: spec.group, phases: spec.phases, scope: scope,
      backEnd: hook.layer.backEnd,
      whyNotEntry: hook.layer.instead?.description, mayMiss: hook.layer.diversion?.mayMiss ?? [],
      priority: spec.priority, isOnce: spec.isOnce, isEnabled: hook.layer.isEnabled && ended == nil, calls: calls(hook),
      isChangedElsewhere: !changes(hook).isEmpty, oneIn: Int(hook.layer.oneIn), limitation: ended ?? hook.layer.limitation)
  }

  func calls(_ hook: InstalledHook) -> UInt64 {
    if let state = hook.layer.lifetime.state { return hkt_layer_calls(state) }
    // A thread that adds its own count to the body's may be missing for a moment.
    let delivered = hook.family.deliveredCalls
    return delivered > hook.callsBefore ? delivered - hook.callsBefore : 0
  }

  /// What someone else has changed of what the hook diverts.
  private func changes(_ hook: InstalledHook) -> [InterceptRefusal] {
    if let diversion = hook.layer.diversion { return diversion.changedElsewhere }
    return hook.family.bodies.compactMap { CodePatcher.changedElsewhere($0.site) }
  }

  /// Calls of the hooked selector that were delivered to its layers since the hook was made, those that its scope lets it see; nil
  /// when the hook was removed.
  package func deliveredCalls(_ token: HookToken) -> UInt64? { lock.withLock { hooks[token.id].map(calls) } }

  /// Why calls may no longer come to the hook: someone else has changed the code it diverts, which is left as it is. Empty
  /// when all is as it was, or the hook is not installed.
  package func changesElsewhere(_ token: HookToken) -> [InterceptRefusal] {
    lock.withLock { hooks[token.id].map(changes) ?? [] }
  }

  /// Calls that entered a hooked body with a `self` of another type, by selector; they passed through unseen.
  package func receiverMismatches() -> [(selector: String, calls: UInt64)] {
    lock.withLock {
      everyFamily.compactMap { hooked in
        let calls = (hooked.bodies + hooked.arrivals).reduce(0) { $0 + hkt_record_receiver_mismatch($1.record) }
        return calls == 0 ? nil : (hooked.family.selector, calls)
      }.sorted { $0.selector < $1.selector }
    }
  }
}
