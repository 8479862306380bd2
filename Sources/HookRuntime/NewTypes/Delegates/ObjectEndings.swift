// ObjectEndings — what is to be done at the moment an object's `deinit` begins.
//
// The runtime ends an object through the word before its class's metadata that names the class's destroyer. For classes of
// objects that are watched, that word names a stub of ours, which looks the object up and goes on to the destroyer. At that
// moment weak references to the object read nil already.
private import CHookTrampoline
private import Synchronization

package enum ObjectEndings {
  private struct State: @unchecked Sendable {
    // Slots are never freed; closures are Sendable.
    var classes: [Metadata: UnsafeMutablePointer<HKTSlot>?] = [:]
    var endings: [UInt: [@Sendable () -> Void]] = [:]
  }
  private static let state = Mutex(State())

  /// Runs `body` once when the object ends, on the thread that ends it. It must not bring the object back.
  /// - Returns: false where the end cannot be seen; `body` never runs then.
  package static func watch(_ object: AnyObject, _ body: @escaping @Sendable () -> Void) -> Bool {
    let address = Unmanaged.passUnretained(object).toOpaque()
    // Every native object begins with its class.
    let type = Metadata(address.load(as: UnsafeRawPointer.self))
    return state.withLock { state in
      if state.classes[type] == nil { state.classes[type] = .some(divert(type)) }
      guard state.classes[type] != .some(nil) else { return false }
      state.endings[UInt(bitPattern: address), default: []].append(body)
      return true
    }
  }

  /// Nil where the word cannot be written.
  private static func divert(_ type: Metadata) -> UnsafeMutablePointer<HKTSlot>? {
    let place = type.pointer + 8 * NewClassMetadata.destroyer
    let former = place.load(as: UInt.self)
    guard former != 0, let prepared = try? SynthesizedMethod.prepare(at: place, former: former) else { return nil }
    let slot = UnsafeMutablePointer<HKTSlot>.allocate(capacity: 1)
    slot.initialize(to: prepared)
    slot.pointee.site.pointee.handler = { frame, _ in
      ObjectEndings.ended(UInt(frame!.pointee.self_register))
      return HKT_CONTINUE
    }
    hkt_enable(slot.pointee.site)
    return hkt_write_slots(slot, 1, nil) ? slot : nil
  }

  private static func ended(_ object: UInt) {
    let endings = state.withLock { $0.endings.removeValue(forKey: object) }
    // Outside the lock: they may end other objects.
    endings?.forEach { $0() }
  }
}
