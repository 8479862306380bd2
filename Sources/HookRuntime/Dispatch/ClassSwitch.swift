// ClassSwitch — hooks of one object, while it has a class of its own (IsaSwitch).
/// One object's words for one selector's hooks. Guarded by the engine's lock.
final class ClassSwitch: Diversion {
  /// Nil when the object has ended.
  private weak var object: AnyObject?
  private let address: UInt64
  private let words: [(index: Int, slot: Slot)]
  let mayMiss: [String] = []

  init(_ object: AnyObject, _ words: [(index: Int, slot: Slot)]) {
    self.object = object
    address = UInt64(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
    self.words = words
  }

  func acquire() -> InterceptRefusal? {
    guard let object else { return .noWord(address: address) }
    HookEngine.shared.kept.append(object)
    return IsaSwitch.shared.use(object, words, 1)
  }

  func release() {
    guard let object else { return IsaSwitch.shared.forget(address) }
    HookEngine.shared.kept.append(object)
    _ = IsaSwitch.shared.use(object, words, -1)
  }

  func set(isWritten: Bool) {}

  var changedElsewhere: [InterceptRefusal] {
    guard let object else { return [] }
    HookEngine.shared.kept.append(object)
    return IsaSwitch.shared.changedElsewhere(object).map { [$0] } ?? []
  }
}
