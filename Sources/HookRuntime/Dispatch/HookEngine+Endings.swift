// HookEngine+Endings — hooks that end by themselves: with their object, or after the one call they take part in.
private import CHookTrampoline

extension HookEngine {
  // MARK: Objects

  /// The object's entry in the family, made when there is none; nil when the object is ending. Under the lock.
  func entry(of object: AnyObject, in hooked: HookedFamily) -> HookedObject? {
    let address = UInt64(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
    if let known = hooked.sets.objects[address] {
      if known.alive(&kept) === object { return known }
      // Another one was here before.
      end(known)
    }
    guard let entry = HookedObject(object) else { return nil }
    objectsSinceSweep += 1
    if objectsSinceSweep > max(Self.fewObjects, objectsAfterSweep) { sweep() }
    hooked.sets.adopt(entry)
    objectFamilies[ObjectIdentifier(hooked)] = hooked
    return entry
  }

  /// Below this many the dead are not worth looking for.
  private static let fewObjects = 256

  /// Ends the hooks of objects that are gone. Costs a look at every hooked object, so it is done when as many were added as
  /// the last time were left.
  private func sweep() {
    let dead = objectFamilies.values.flatMap { $0.sets.objects.values.filter { $0.isOver(&kept) } }
    dead.forEach(end)
    objectFamilies = objectFamilies.filter { !$0.value.sets.objects.isEmpty }
    objectsSinceSweep = 0
    objectsAfterSweep = objectFamilies.values.reduce(0) { $0 + $1.sets.objects.count }
  }

  private func end(_ object: HookedObject) {
    for layer in object.layers { _ = take(layer.token) }
  }

  /// It had its one call, or its object is gone, and it was not taken out yet. Under the lock.
  func isOver(_ hook: InstalledHook) -> Bool {
    if hook.layer.lifetime.isSpent { return true }
    guard let object = hook.layer.object else { return false }
    return object.alive(&kept) == nil
  }

  // MARK: Once

  /// Removes hooks that had their call. On the thread of that call: when another one has the lock, that one or the next sees
  /// to it, and until then the layer takes part in nothing.
  func removeSpent() {
    _ = lock.tryWithLock { takeSpent() }
    hkt_reclaim()
  }

  /// Takes them out. To be called under the lock.
  func takeSpent() {
    for token in onceHooks where hooks[token.id]?.layer.lifetime.isSpent == true { _ = take(token) }
  }
}
