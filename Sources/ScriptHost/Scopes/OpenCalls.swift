// OpenCalls — the calls of rules on trees of classes that run on one thread, innermost last: an override that calls its superclass's is
// one call, and the outermost on the object is the leaf.
//
// A call that is left without returning leaves its entry behind: entries whose calls lie deeper in the stack than the one that asks are
// of calls that are gone.

/// It belongs to one thread, which alone uses it.
struct OpenCalls {
  private struct Entry {
    /// The address of the call's record, which lies on the thread's stack.
    var call: UInt
    /// Its self; 0 where the call does not tell.
    var object: UInt
    /// What asked.
    var key: UInt
    /// Of a screen; 0 for none.
    var number: UInt64
  }

  /// Deeper recursion is not distinguished.
  private var entries = GrowingStack<Entry>(most: 4096)

  /// Notes the call; false when one around it, of the same key, is on the object.
  mutating func begin(_ call: UInt, object: UInt, key: UInt) -> Bool {
    guard entries.hasRoom() else { return true }
    while entries.count > 0, entries[entries.count - 1].call < call { entries.count -= 1 }
    for index in 0..<entries.count where entries[index].key == key && (entries[index].object == object || entries[index].object == 0 || object == 0) {
      return false
    }
    entries.push(Entry(call: call, object: object, key: key, number: 0))
    return true
  }

  /// Notes what the innermost call began.
  mutating func setNumber(_ number: UInt64) { if entries.count > 0 { entries[entries.count - 1].number = number } }

  /// The call is over; what it began, nil when it was none of these.
  mutating func end(_ call: UInt, key: UInt) -> UInt64? {
    var index = entries.count
    while index > 0 {
      index -= 1
      let entry = entries[index]
      guard entry.call == call, entry.key == key else { continue }
      entries.count = index
      return entry.number
    }
    return nil
  }

  /// Whether a call on this thread began it.
  func holds(_ number: UInt64, key: UInt) -> Bool {
    for index in 0..<entries.count where entries[index].number == number && entries[index].key == key { return true }
    return false
  }
}
