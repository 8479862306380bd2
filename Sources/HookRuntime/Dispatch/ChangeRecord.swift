// ChangeRecord — the values a handler changed, or that are kept for it: all that is more than bits.
//
// Made at the first such change, since most calls make none. `HandlerChanges` says when each value is given away or destroyed; the record
// itself frees only the bits that handles go on showing.

package final class ChangeRecord {
  /// New arguments by index, until they are put into the frame or settled.
  var staged = Indexed<OwnedValue>()
  /// The result the handler set since the original last ran.
  var result: OwnedValue?
  /// Arguments that the original consumes, once it has run or is about to. Each run gets a copy.
  var held = Indexed<OwnedValue>()
  /// Self, where the original consumes it: from before its first run until the handler ends.
  var keptSelf: KeptSelf?
  /// Ends the borrow of closures that must not escape.
  var borrow: ClosureBorrow?
  /// Arguments as they were borrowed, by index, once the frame holds others; their owners keep them alive.
  var originals = Indexed<UnsafeRawPointer>()
  /// Results of former runs of the original; the call keeps them alive to its end.
  var formerResults = Indexed<UnsafeRawPointer>()
  /// Bits of such arguments and results that were in registers.
  private var copies: [UnsafeMutableRawPointer] = []

  deinit { for copy in copies { copy.deallocate() } }

  /// The bits of a value of that type at `memory`, which stay where they are as long as the record. The value keeps its owner.
  func keepBits(_ memory: UnsafeRawPointer, _ info: TypeInfo) -> UnsafeRawPointer {
    let copy = UnsafeMutableRawPointer.allocate(byteCount: max(info.size, 16), alignment: max(info.alignment, 16))
    copy.copyMemory(from: memory, byteCount: info.size)
    copies.append(copy)
    return UnsafeRawPointer(copy)
  }
}

/// Something for each of a few numbers: a call has few arguments, and looking through them takes less than a hash does.
struct Indexed<Value> {
  private(set) var all: [(index: Int, value: Value)] = []

  var isEmpty: Bool { all.isEmpty }
  var count: Int { all.count }

  subscript(index: Int) -> Value? {
    get { all.first { $0.index == index }?.value }
    set {
      let place = all.firstIndex { $0.index == index }
      switch (place, newValue) {
      case (let place?, let value?): all[place].value = value
      case (nil, let value?): all.append((index, value))
      case (let place?, nil): all.remove(at: place)
      case (nil, nil): break
      }
    }
  }

  /// Leaves nothing behind.
  mutating func takeAll() -> [(index: Int, value: Value)] {
    defer { all = [] }
    return all
  }
}
