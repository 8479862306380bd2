// BorrowScope — what a handler was borrowed beyond its arguments, held until the handler ends.
//
// A handle never outlives what it stands for. Arguments stay because the caller keeps them; an object read out of a field,
// a value taken out of an enum or an existential, the buffer of an array could go while the handler still has a handle, so
// they are retained or copied here. The script owns none of it: when its handler ends, all is given back, on the same thread.
internal import HookRuntime

final class BorrowScope {
  private var objects: Set<UInt> = []
  private var values: [OwnedValue] = []
  /// Objects of which the script says that nobody keeps them whom it passes them to.
  var vouched: Set<UInt> = []

  /// Keeps an instance (or an error box) until the handler ends.
  func retain(_ object: UInt) {
    guard objects.insert(object).inserted else { return }
    // A native object that is alive now: the handler has borrowed its owner.
    _ = Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(bitPattern: object)!).retain()
  }

  /// Takes over a reference that was retained for the handler.
  func adopt(retained object: UInt) {
    if !objects.insert(object).inserted { Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(bitPattern: object)!).release() }
  }

  /// Takes over a value; answers its memory, which stays until the handler ends.
  func adopt(_ value: OwnedValue) -> UnsafeRawPointer {
    values.append(value)
    return UnsafeRawPointer(value.memory)
  }

  deinit {
    for value in values.reversed() { value.destroy() }
    for object in objects { Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(bitPattern: object)!).release() }
  }
}
