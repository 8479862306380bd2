// SlotPatcher — diverts calls that go through words of data, and undoes it.
//
// The Swift front of CHookTrampoline's slots, as CodePatcher is of its bodies. It knows words, not what they are part of.
internal import CHookTrampoline
private import Glibc

/// One word that calls go through.
struct SlotWord: Hashable {
  /// Where it is, in this process.
  var address: UInt64
  /// What it held before any hook of ours.
  var former: UInt64
  /// It holds the address of an async function pointer, not of code.
  var isAsync = false
  /// The code that diverted calls go on to, where that is not what `former` names; 0 where it is.
  var original: UInt64 = 0
  /// The loader may write `original` into it.
  var isBoundLate = false
}

/// A word with its site. Guarded by the engine's lock.
final class Slot {
  fileprivate var facts: HKTSlot
  /// Who wants it written.
  var users = 0
  /// Of an import slot: the image it is a word of.
  var importer: Importer?

  fileprivate let isBoundLate: Bool

  fileprivate init(_ facts: HKTSlot, isBoundLate: Bool) {
    self.facts = facts
    self.isBoundLate = isBoundLate
  }

  var address: UInt64 { facts.word }
  var former: UInt64 { facts.former }
  /// In memory that is never freed.
  var site: UnsafeMutablePointer<HKTSite> { facts.site }
  /// What the word holds while it is written.
  var stub: UInt64 { facts.ours }
  /// It was written, and someone else has changed it since.
  var changedElsewhere: InterceptRefusal? {
    // Images whose words are written are never unloaded.
    guard facts.state == HKT_SLOT_WRITTEN, let found = UnsafePointer<UInt64>(bitPattern: UInt(address))?.pointee, found != stub else {
      return nil
    }
    return .wordChangedElsewhere(address: address, found: found, expected: stub)
  }
}

enum SlotPatcher {
  /// Makes the site; the word does not change, and the site is disabled when it is new.
  /// - Parameter group: words of one group that held the same share a site.
  static func prepare(_ word: SlotWord, group: UInt64) -> Result<Slot, InterceptRefusal> {
    var slot = HKTSlot(
      word: word.address, former: word.former, original: word.original, group: group, form: word.isAsync ? HKT_SLOT_ASYNC : HKT_SLOT_CODE,
      state: HKT_SLOT_IDLE, ours: 0, site: nil, protection: 0)
    var facts = HKTRefusal()
    return hkt_prepare_slot(&slot, &facts) ? .success(Slot(slot, isBoundLate: word.isBoundLate)) : .failure(InterceptRefusal(facts))
  }

  /// Writes all words, or none. Words that are written are left alone.
  static func write(_ slots: [Slot]) throws(InterceptRefusal) {
    try change(slots, hkt_write_slots)
    // A function that was not bound yet is bound when the word is given back.
    for slot in slots where slot.isBoundLate { slot.facts.former = slot.facts.original }
  }

  /// A thread that was calling a function for the first time when its word was written lets the loader write over it, a few
  /// microseconds later: such words are written again.
  static func confirm(_ slots: [Slot]) throws(InterceptRefusal) {
    let late = slots.filter(\.isBoundLate)
    guard !late.isEmpty else { return }
    for _ in 0..<3 {
      sched_yield()
      let lost = late.filter { UnsafePointer<UInt64>(bitPattern: UInt($0.address))?.pointee == $0.facts.original }
      if !lost.isEmpty { try write(lost) }
    }
  }

  /// Gives the words back what they held, but where someone else has changed one since: that stays, and is thrown.
  static func restore(_ slots: [Slot]) throws(InterceptRefusal) { try change(slots, hkt_restore_slots) }

  /// Has C change all words as one, or none of them.
  private static func change(
    _ slots: [Slot], _ change: (UnsafeMutablePointer<HKTSlot>?, Int, UnsafeMutablePointer<HKTRefusal>?) -> Bool
  ) throws(InterceptRefusal) {
    var all = slots.map(\.facts)
    var refusal = HKTRefusal()
    let isDone = change(&all, all.count, &refusal)
    for (slot, facts) in zip(slots, all) { slot.facts = facts }
    if !isDone { throw InterceptRefusal(refusal) }
  }

  /// Code that enters a function compiled `dynamic` so that it runs its own body.
  static func armed(_ function: UInt64) -> Result<UInt64, InterceptRefusal> {
    var facts = HKTRefusal()
    let stub = hkt_arming_stub(function, &facts)
    return stub == 0 ? .failure(InterceptRefusal(facts)) : .success(stub)
  }

  /// What a word that calls go through held before this process's hooks.
  static func former(of value: UInt64) -> UInt64 { hkt_slot_former(value) }
}
