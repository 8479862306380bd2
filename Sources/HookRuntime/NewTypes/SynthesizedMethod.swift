// SynthesizedMethod — an entry of a table of ours: code that hands its calls to a layer, whatever else goes on.
//
// The table's word names a stub; its site's handler is hkt_synthesized_method (HKTSynthesizedMethods.h). Where there is no layer, or it fails
// before it did anything, the call goes on to the original: what the superclass's table holds.
internal import CHookTrampoline
private import Glibc

/// Never freed: a thread may be about to enter it.
package final class SynthesizedMethod: @unchecked Sendable {
  // Set in init; what calls run through is published by the C side.
  let site: UnsafeMutablePointer<HKTSite>
  /// What the table's word is to hold: the stub, or an async function pointer that leads to it.
  package let word: UInt
  private let record: UnsafeMutablePointer<HKTBodyRecord>
  let plan: CallPlan
  // Both behind `lock`.
  private let sets: LayerSets
  private var layer: InstalledLayer?
  private let lock = RecursiveLock()

  /// - Parameters:
  ///   - original: what the word held before: code, or an async function pointer.
  ///   - place: where the word is, in memory of ours.
  init(at place: UnsafeRawPointer, original: UInt, plan: CallPlan) throws(NewTypeError) {
    _ = HookEngine.shared  // says who releases what calls keep
    let slot = try Self.prepare(at: place, former: original, isAsync: plan.isAsync)
    site = slot.site
    word = UInt(slot.ours)
    self.plan = plan
    record = .allocate(capacity: 1)
    sets = LayerSets()
    sets.add(record)
    memset(record, 0, MemoryLayout<HKTBodyRecord>.size)
    record.pointee.family = UnsafeMutableRawPointer(record)
    let flags = UInt32((plan.stack.isKnown ? HKT_BODY_STACK_KNOWN : 0) | (plan.mayUseX87 ? HKT_BODY_X87 : 0))
    let selfAt = UInt16(MemoryLayout<HKTFrame>.offset(of: \.self_register)!)
    hkt_record_plan(record, Unmanaged.passRetained(plan).toOpaque(), plan.facts, UInt32(plan.stack.bytes), selfAt, flags)
    site.pointee.handler = hkt_synthesized_method
    site.pointee.owner = UnsafeMutableRawPointer(record)
    hkt_enable(site)
    SynthesizedMethods.add(self)
  }

  /// A site and a stub for one word: each word has its own.
  /// - Parameters:
  ///   - former: what the word held.
  ///   - original: the code that calls go on to, where it is other than what `former` names.
  static func prepare(at place: UnsafeRawPointer, former: UInt, original: UInt = 0, isAsync: Bool = false) throws(NewTypeError) -> HKTSlot {
    var refusal = HKTRefusal()
    let address = UInt64(UInt(bitPattern: place))
    var slot = HKTSlot()
    slot.word = address
    slot.former = UInt64(former)
    slot.original = UInt64(original)
    slot.group = address
    slot.form = isAsync ? HKT_SLOT_ASYNC : HKT_SLOT_CODE
    guard hkt_prepare_slot(&slot, &refusal), slot.site != nil else { throw .code(InterceptRefusal(refusal)) }
    SynthesizedMethods.claim(UInt(slot.ours))
    return slot
  }

  /// Makes `spec` what calls run through from now on; nil: they go on to the original. False when memory ran out, and all is
  /// as it was.
  @discardableResult
  func publish(_ spec: LayerSpec?) -> Bool {
    defer { hkt_reclaim() }
    return lock.withLock {
      let former = layer
      if let former { _ = sets.remove(former) }
      layer = spec.map { InstalledLayer(LayerLifetime($0, countsCalls: false), by: nil, token: HookToken(id: 0, selector: "")) }
      if let layer { _ = sets.insert(layer) }
      if sets.publish(.type) { return true }
      if let layer { _ = sets.remove(layer) }
      layer = former
      if let former { _ = sets.insert(former) }
      return false
    }
  }

  /// Calls so far.
  package var calls: UInt64 { hkt_record_calls(record) }
}

/// All of them, by what tables hold.
package enum SynthesizedMethods {
  private static let lock = RecursiveLock()
  // Both behind `lock`.
  nonisolated(unsafe) private static var byWord: [UInt: SynthesizedMethod] = [:]
  nonisolated(unsafe) private static var claimed: Set<UInt> = []

  static func add(_ synthesizedMethod: SynthesizedMethod) { lock.withLock { byWord[synthesizedMethod.word] = synthesizedMethod } }
  static func claim(_ word: UInt) { lock.withLock { _ = claimed.insert(word) } }
  /// The word names code that a table of ours has in place of the program's.
  static func isOurs(_ word: UInt) -> Bool { lock.withLock { claimed.contains(word) } }
  /// The one whose stub a table's word names.
  package static func at(_ word: UInt) -> SynthesizedMethod? { lock.withLock { byWord[word] } }
}
