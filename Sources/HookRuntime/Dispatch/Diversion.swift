// Diversion — the words of data that are written for hooks of one selector by one back end.
//
// A word is written while a hook wants it, and given back what it held when the last one goes. Several diversions of a
// selector may want one word: those for a class and those for a subclass of it.
internal import CHookTrampoline
private import SwiftMangling

/// What has to be written for a hook to see calls. Guarded by the engine's lock.
protocol Diversion: AnyObject {
  /// Writes for one more hook: all that it takes, or nothing and why.
  func acquire() -> InterceptRefusal?
  /// One hook less.
  func release()
  /// For a while nobody needs it, or somebody does again.
  func set(isWritten: Bool)
  /// What someone else has changed of what was written.
  var changedElsewhere: [InterceptRefusal] { get }
  /// What its hooks may miss, in whole sentences.
  var mayMiss: [String] { get }
  /// Of import slots: the bits of records whose calls are meant.
  var importers: UInt64? { get }
}

extension Diversion {
  var importers: UInt64? { nil }
}

/// Words of the program's tables.
final class SlotDiversion: Diversion {
  private let backEnd: BackEnd
  private let family: HookedFamily
  private var slots: [Slot]
  let mayMiss: [String]
  let importers: UInt64?
  /// Of import slots: the images whose words were looked for, as `Importer.place`.
  var lookedAt: Set<String> = []

  /// What the words are now; nil for those that do not become more by themselves.
  private let replan: (() -> Result<[Slot], HookRefusal>)?

  init(
    _ backEnd: BackEnd, _ family: HookedFamily, _ slots: [Slot], mayMiss: [String], importers: UInt64? = nil,
    replan: (() -> Result<[Slot], HookRefusal>)? = nil
  ) {
    self.replan = replan
    self.importers = importers
    self.backEnd = backEnd
    self.family = family
    self.slots = slots
    self.mayMiss = mayMiss
  }

  func acquire() -> InterceptRefusal? {
    if !family.isFolded(backEnd), let reason = write() { return reason }
    for slot in slots { slot.users += 1 }
    family.diversions.append(self)
    return nil
  }

  /// Writes more words, in images that appeared after the hook.
  func extend(by new: [Slot]) -> InterceptRefusal? {
    do throws(InterceptRefusal) {
      try SlotPatcher.write(new)
      try SlotPatcher.confirm(new)
    } catch { return error }
    for slot in new { slot.users += 1 }
    slots += new
    return nil
  }

  /// Words that nobody wants any more get back what they held; what someone else has changed stays as it is.
  func release() {
    family.diversions.removeAll { $0 === self }
    // A word that came to be later may be one of theirs, though this one wrote it.
    for other in family.diversions where other.backEnd == backEnd && slots.contains(where: { !other.has($0) }) { _ = other.refresh() }
    for slot in slots { slot.users -= 1 }
    restore(slots.filter { $0.users == 0 })
  }

  /// Writes the words that have become part of it since: tables of classes and conformances that appeared.
  func refresh() -> HookRefusal? {
    switch replan?() {
    case .success(let all)?:
      let new = all.filter { !has($0) }
      return new.isEmpty ? nil : extend(by: new).map { .code($0) }
    case .failure(let reason)?: return reason
    case nil: return nil
    }
  }

  func set(isWritten: Bool) {
    // A word that cannot be written is one that someone else has changed: lists tell.
    if isWritten { _ = write() } else { restore(slots) }
  }

  private func write() -> InterceptRefusal? {
    do throws(InterceptRefusal) {
      try SlotPatcher.write(slots)
      try SlotPatcher.confirm(slots)
      return nil
    } catch { return error }
  }

  private func restore(_ slots: [Slot]) {
    // Where a word stays, its stub hands calls on to what was there.
    do throws(InterceptRefusal) { try SlotPatcher.restore(slots) } catch {}
  }

  func has(_ slot: Slot) -> Bool { slots.contains { $0 === slot } }

  var changedElsewhere: [InterceptRefusal] { slots.compactMap(\.changedElsewhere) }
}

extension HookedFamily {
  /// While the function's entry is diverted, it sees every call that its variable does, and calls that were armed would come
  /// to it twice: layers asked for by the variable are the entry's then, and the variable holds what it held.
  func isFolded(_ backEnd: BackEnd) -> Bool { backEnd == .dynamic && sets.isEnabled(.entry) }

  /// Makes what the layers are now what later calls run through. False when memory ran out; nothing changed then.
  func publish(_ change: LayerSets.Change) -> Bool {
    let hasFolded = fold()
    return sets.publish(change) && (!hasFolded || sets.publish(.type))
  }

  /// After layers have changed; true when others than these have to be published for it.
  private func fold() -> Bool {
    guard arrivals.contains(where: { $0.backEnd == .dynamic }) else { return false }
    let isFolded = isFolded(.dynamic)
    let layers = sets.everyLayer.filter { $0.backEnd == .dynamic && $0.isFolded != isFolded }
    for layer in layers {
      layer.isFolded = isFolded
      layer.diversion?.set(isWritten: !isFolded)
    }
    return !layers.isEmpty
  }

  /// The words that a back end changes for the scope, with their sites. Nothing of the program changes.
  func diversion(_ backEnd: BackEnd, _ scope: HookScope) -> Result<any Diversion, HookRefusal> {
    do throws(ScopeRefusal) {
      switch scope {
      case .type: break
      case .subclass(let type): try checkClass(Metadata(type), forObject: false)
      case .object(let object): try checkClass(IsaSwitch.shared.original(of: object), forObject: true)
      }
    } catch { return .failure(.scope(error)) }
    var subclass: Metadata?
    if case .subclass(let type) = scope { subclass = Metadata(type) }
    switch (backEnd, scope) {
    case (.classSwitch, _): return classSwitch(scope)
    case (.vtable, .object):
      return .failure(.backEnd(.vtable, .scope("changes the tables of classes; for one object use 'class-switch'")))
    default: break
    }
    return words(backEnd, subclass).map { words in
      SlotDiversion(backEnd, self, words.slots, mayMiss: words.mayMiss) { [unowned self] in  // families are never freed
        self.words(backEnd, subclass).map(\.slots)
      }
    }
  }

  /// The words as they are now.
  private func words(_ backEnd: BackEnd, _ subclass: Metadata?) -> Result<(slots: [Slot], mayMiss: [String]), HookRefusal> {
    let plan: SlotPlan
    switch self.plan(backEnd, subclass) {
    case .success(let made): plan = made
    case .failure(let reason): return .failure(.backEnd(backEnd, reason))
    }
    var slots: [Slot] = []
    for entry in plan.entries {
      switch slot(entry, backEnd) {
      case .success(let slot): slots.append(slot)
      case .failure(let reason): return .failure(.code(reason))
      }
    }
    return .success((slots, plan.mayMiss))
  }

  private func plan(_ backEnd: BackEnd, _ subclass: Metadata?) -> Result<SlotPlan, BackEndRefusal> {
    switch backEnd {
    case .vtable: VirtualTables.plan(family, in: image, subclass: subclass)
    case .witness: WitnessTables.plan(family, in: image)
    case .dynamic: DynamicReplacements.plan(family, in: image)
    case .entry, .classSwitch, .importSlot: .failure(.notBuilt)
    }
  }

  private func classSwitch(_ scope: HookScope) -> Result<any Diversion, HookRefusal> {
    guard case .object(let object) = scope else {
      return .failure(.backEnd(.classSwitch, .scope("changes the class of one object; for a class use 'vtable'")))
    }
    // A weak reference to an object that is ending would stop the process.
    if hkt_is_ending(Unmanaged.passUnretained(object).toOpaque()) { return .failure(.scope(.objectEnding)) }
    do throws(BackEndRefusal) {
      var words: [(index: Int, slot: Slot)] = []
      for entry in try IsaSwitch.plan(family, in: image, for: object) {
        switch slot(entry.planned, .classSwitch) {
        case .success(let slot): words.append((entry.index, slot))
        case .failure(let reason): throw .code(reason)
        }
      }
      return .success(ClassSwitch(object, words))
    } catch { return .failure(.backEnd(.classSwitch, error)) }
  }

  /// The word's record, made once, and its site among the places where the selector's calls arrive.
  private func slot(_ entry: SlotPlan.Entry, _ backEnd: BackEnd) -> Result<Slot, InterceptRefusal> {
    let key = SlotKey(address: entry.word.address, backEnd: backEnd)
    // A word that nobody has written may hold something else by now.
    if let known = slots[key], known.users > 0 || known.former == entry.word.former { return .success(known) }
    return SlotPatcher.prepare(entry.word, group: group(backEnd)).map { slot in
      slots[key] = slot
      if !arrivals.contains(where: { $0.site == slot.site }) {
        add(arrival: HookedBody(body: entry.body, site: slot.site, isAsync: entry.body.isAsync, by: backEnd))
        linkArrivals()
      }
      return slot
    }
  }

  /// Calls that come through tables and go on to a function's variable run the layers of both where they come first.
  private func linkArrivals() {
    let variables = arrivals.filter { $0.backEnd == .dynamic }
    for variable in variables {
      for other in arrivals where other.backEnd != .dynamic && other.body.address == variable.body.address {
        hkt_record_add_flags(other.record, UInt32(HKT_BODY_RUNS_DYNAMIC))
        hkt_record_add_flags(variable.record, UInt32(HKT_BODY_HAS_SLOTS))
      }
    }
  }

  /// Sites are a selector's own, one for each back end.
  private func group(_ backEnd: BackEnd) -> UInt64 {
    UInt64(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())) << 8 | UInt64(backEnd.route.rawValue)
  }
}

/// A word, and what changes it; a class switch only reads it.
struct SlotKey: Hashable {
  let address: UInt64
  let backEnd: BackEnd
}

extension HookedBody {
  /// What its calls run through was run through when they go on to a body of the selector.
  func becomeSlotRecord() {
    hkt_record_add_flags(record, UInt32(HKT_BODY_SLOT | HKT_BODY_FORWARDS))
    switch body.form {
    case .thunk, .witness: break
    default: return
    }
    record.pointee.thunk_begin = body.address
    record.pointee.thunk_end = body.address + UInt64(body.size)
  }
}
