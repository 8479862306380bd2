// Forwarding — a requirement's call that no handler answers: the target's own witness answers it, a default implementation,
// or nothing does.
//
// The target's witness gets the call as it came, with the target in r13, the target's class and the target's table behind the
// arguments. The target is held while it runs; what a coroutine yields, until the access is over.
internal import CHookTrampoline
internal import SwiftMangling

enum Forwarding {
  /// Code that forwards the calls of a requirement.
  static func forwarder(_ entry: RequirementEntry) throws(NewTypeError) -> UInt {
    // The word that names the stub is nobody's but ours.
    let place = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
    let slot = try SynthesizedMethod.prepare(at: place, former: UInt(bitPattern: hkt_closure_entry_address()))
    slot.site.pointee.owner = Unmanaged.passRetained(entry).toOpaque()
    slot.site.pointee.handler = { frame, site in
      // Retained above, for a site that is never freed.
      Unmanaged<RequirementEntry>.fromOpaque(site!.pointee.owner)._withUnsafeGuaranteedRef { Forwarding.run(frame!, $0) }
      return HKT_RETURN
    }
    hkt_enable(slot.site)
    return UInt(slot.ours)
  }

  /// A call of a requirement arrives: it goes to the object's target, or is answered without one.
  private static func run(_ frame: UnsafeMutablePointer<HKTFrame>, _ entry: RequirementEntry) {
    let object = UInt(frame.pointee.self_register)
    // The caller keeps its object, and an object keeps its behaviour.
    guard let pointer = UnsafeRawPointer(bitPattern: object), let behaviour = Behaviour.of(pointer) else {
      return FrameAnswer(frame).handBack()
    }
    if let modify = entry.modify, !behaviour.hasTarget || behaviour.handles(aPropertyOf: entry) { return modify.begin(frame) }
    if let target = behaviour.target { return forward(frame, entry, to: target, behaviour) }
    if entry.defaultBody != 0 {
      call(frame, entry, on: object, entry.defaultBody, table: behaviour.type.tables[entry.protocolIndex])
    } else {
      answerNothing(frame, entry)
    }
    FrameAnswer(frame).restoreSelf(object)
  }

  /// Puts the target in the place of self and runs what it has for the requirement.
  private static func forward(
    _ frame: UnsafeMutablePointer<HKTFrame>, _ entry: RequirementEntry, to target: AnyObject, _ behaviour: Behaviour
  ) {
    let object = UInt(frame.pointee.self_register)
    let receiver = UInt(bitPattern: Unmanaged.passUnretained(target).toOpaque())
    let table = behaviour.targetTables[entry.protocolIndex]
    call(frame, entry, on: receiver, table.load(fromByteOffset: 8 * entry.requirement.word, as: UInt.self), table: table)
    if entry.requirement.kind == .modify { hold(target, untilAccessEnds: frame) }
    FrameAnswer(frame).restoreSelf(object)
    withExtendedLifetime(target) {}
  }

  /// Retains the target until the access that the frame began has ended.
  private static func hold(_ target: AnyObject, untilAccessEnds frame: UnsafeMutablePointer<HKTFrame>) {
    let held = Unmanaged.passRetained(target)
    // Without memory it is held for good: the access may go on for any time.
    _ = hkt_on_access_end(frame, { Unmanaged<AnyObject>.fromOpaque($0!).release() }, held.toOpaque())
  }

  /// Calls a witness, or what takes the same: the results stay in the frame.
  private static func call(
    _ frame: UnsafeMutablePointer<HKTFrame>, _ entry: RequirementEntry, on receiver: UInt, _ code: UInt, table: UnsafeRawPointer
  ) {
    // The receiver is an object, which begins with its class.
    let metadata = UnsafeRawPointer(bitPattern: receiver)!.load(as: UInt64.self)
    frame.pointee.self_register = UInt64(receiver)
    ValueWriter.set(entry.convention.metadata, metadata, in: frame)
    ValueWriter.set(entry.convention.table, UInt64(UInt(bitPattern: table)), in: frame)
    hkt_call_program(frame, UnsafeMutableRawPointer(bitPattern: code), entry.plan.stack.bytes)
  }

  /// Nobody answers: the call throws, or returns the neutral value of its type.
  private static func answerNothing(_ frame: UnsafeMutablePointer<HKTFrame>, _ entry: RequirementEntry) {
    var call = HKTCall()
    call.frame = frame
    call.body = entry.record
    withUnsafeMutablePointer(to: &call) { call in
      FrameAnswer.consumeArguments(of: call, entry.plan)
      if entry.plan.mayThrow { return FrameAnswer(frame).fail(ErrorBox(UnansweredCall()).word) }
      FrameAnswer(frame).handBack()
      if entry.plan.resultIsVoid { return }
      guard let value = entry.plan.result.info.flatMap(NeutralValue.make) else {
        fatalError("'\(entry.layout.name).\(entry.name)' was called on an object whose target is gone, and nothing can be returned instead")
      }
      ValueWriter(call).setResult(entry.plan.result, to: value)
      ValueWriter(call).endCall()
    }
  }
}
