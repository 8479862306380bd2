// RecentNames — what names mean for types, found again without making a String of a name that Lua has.
//
// A direct-mapped front: name and type find the slot, a newer one takes the place of an older. Guarded by the state's lock.
private import Glibc

final class RecentNames<Value: BitwiseCopyable> {
  private struct Slot {
    var type: UInt = 0
    var name: UnsafeMutableRawBufferPointer?
    var value: Value?
  }

  private let count: Int
  /// Made at first use: most patches look nothing up. Read without the check of exclusive access, by who has the state's lock.
  @exclusivity(unchecked) private var slots: UnsafeMutablePointer<Slot>?

  /// - Parameter count: a power of two.
  init(count: Int) { self.count = count }
  deinit {
    guard let slots else { return }
    for index in 0..<count { slots[index].name?.deallocate() }
    slots.deallocate()
  }

  /// - Parameter type: its address, not 0; as a number of its own where one type has several kinds of names.
  func find(_ name: UnsafeRawBufferPointer, of type: UInt) -> Value? {
    guard let slots else { return nil }
    let slot = slots + place(name, type)
    guard slot.pointee.type == type, let known = slot.pointee.name, known.count == name.count,
      name.count == 0 || memcmp(known.baseAddress!, name.baseAddress!, name.count) == 0
    else { return nil }
    return slot.pointee.value
  }

  /// Keeps what the name of that type means, with a copy of the name; what had its place is forgotten.
  func remember(_ value: Value, _ name: UnsafeRawBufferPointer, of type: UInt) {
    let slot = (slots ?? makeSlots()) + place(name, type)
    slot.pointee.name?.deallocate()
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(name.count, 1), alignment: 1)
    copy.copyMemory(from: name)
    slot.pointee = Slot(type: type, name: UnsafeMutableRawBufferPointer(rebasing: copy[0..<name.count]), value: value)
  }

  /// Makes the places, at first use.
  private func makeSlots() -> UnsafeMutablePointer<Slot> {
    let made = UnsafeMutablePointer<Slot>.allocate(capacity: count)
    made.initialize(repeating: Slot(), count: count)
    slots = made
    return made
  }

  /// By the first and the last bytes, which tell most names of a type apart.
  private func place(_ name: UnsafeRawBufferPointer, _ type: UInt) -> Int {
    var first: UInt64 = 0
    var last: UInt64 = 0
    let few = min(name.count, 8)
    if few > 0 {
      memcpy(&first, name.baseAddress!, few)
      memcpy(&last, name.baseAddress! + name.count - few, few)
    }
    let mark = (first ^ (last << 21 | last >> 43) ^ UInt64(name.count) ^ UInt64(type)) &* 0x9E37_79B9_7F4A_7C15
    return Int(mark >> 32) & (count - 1)
  }
}
