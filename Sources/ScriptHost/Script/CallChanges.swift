// CallChanges — what a handler changed, or holds, until it returns: all that is more than bits.
internal import HookRuntime

/// In memory of its own, which the call's ScriptCall makes and frees. The values in it are given away or destroyed before.
struct CallChanges {
  /// Arguments the handler changed, applied when it succeeds or calls the original.
  var staged = Indexed<OwnedValue>()
  /// The result the handler set.
  var stagedResult: OwnedValue?
  /// Owned arguments of an `around`, kept so that the original can be called several times.
  var held = Indexed<OwnedValue>()
  /// Arguments as they were borrowed, by index, once the frame holds others; their owners keep them alive.
  var originals = Indexed<UnsafeRawPointer>()
  /// Results of former runs; the call keeps them alive to its end.
  private(set) var results = Indexed<UnsafeRawPointer>()
  /// Bits of such arguments and results that were in registers.
  private var copies: [UnsafeMutableRawPointer] = []

  /// The value keeps its owner; only where its bits are changes.
  mutating func rememberBits(_ memory: UnsafeRawPointer, _ info: TypeInfo, of index: Int) { originals[index] = copy(memory, info) }
  mutating func rememberBits(_ memory: UnsafeRawPointer, _ info: TypeInfo, ofResult run: Int) { results[run] = copy(memory, info) }

  private mutating func copy(_ memory: UnsafeRawPointer, _ info: TypeInfo) -> UnsafeRawPointer {
    let copy = UnsafeMutableRawPointer.allocate(byteCount: max(info.size, 16), alignment: max(info.alignment, 16))
    copy.copyMemory(from: memory, byteCount: info.size)
    copies.append(copy)
    return UnsafeRawPointer(copy)
  }

  func freeCopies() { for copy in copies { copy.deallocate() } }
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
