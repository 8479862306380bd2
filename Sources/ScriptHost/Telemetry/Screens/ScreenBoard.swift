// ScreenBoard — the screens of one rule that are there now, in the order in which they appeared.
//
// A lock is held while a few words are copied. A thread that does not get it in some thousand tries (a forked copy, in which its owner is
// gone) records without path and duration.
private import Glibc
internal import Synchronization

/// Any thread.
final class ScreenBoard: Sendable {
  /// One that is there.
  struct Shown: Sendable {
    /// Its object, or 0.
    var object: UInt
    var number: UInt64
    /// CLOCK_MONOTONIC, nanoseconds.
    var start: UInt64
    var name: String
    var type: String
    var path: String
    var previous: String?
    /// Fields, as records have them.
    var attributes: [UInt8]
  }

  private struct State {
    var shown: [Shown] = []
    var previous: String?
    /// Objects with an async call that is not over.
    var running: [UInt] = []
  }

  private let state = Mutex(State())
  private static let numbers = Atomic<UInt64>(0)
  private static let tries = 4096
  /// Objects that ended without disappearing stay until so many came after them.
  private static let most = 4096

  private func locked<R: Sendable>(_ body: (inout sending State) -> sending R) -> R? {
    for _ in 0..<Self.tries {
      if let result = state.withLockIfAvailable(body) { return result }
      sched_yield()
    }
    return nil
  }

  /// Notes one that appears, and answers it with its number, its path and what was before it.
  /// - Parameter isOuter: which of those that are there belong to its path.
  func appear(_ screen: Shown, isOuter: (Shown) -> Bool) -> Shown {
    let number = Self.numbers.add(1, ordering: .relaxed).newValue
    let noted = locked { state -> Shown in
      var made = screen
      made.number = number
      // An object that appears again, or a new one at its address.
      if made.object != 0 { state.shown.removeAll { $0.object == made.object } }
      if state.shown.count >= Self.most { state.shown.removeFirst() }
      made.path = state.shown.reduce(into: "") { if isOuter($1) { $0 += "/" + $1.name } } + "/" + made.name
      made.previous = state.previous
      state.previous = made.name
      state.shown.append(made)
      return made
    }
    if let noted { return noted }
    var made = screen
    made.number = number
    made.path = "/" + made.name
    return made
  }

  /// Takes out the one of the object; nil when it did not appear.
  func disappear(object: UInt) -> Shown? {
    (locked { state -> Shown? in state.shown.lastIndex { $0.object == object }.map { state.shown.remove(at: $0) } }) ?? nil
  }

  /// Takes out the one with the number.
  func disappear(number: UInt64) -> Shown? {
    (locked { state -> Shown? in state.shown.lastIndex { $0.number == number }.map { state.shown.remove(at: $0) } }) ?? nil
  }

  /// Notes an async call on the object; false when there is one.
  func begin(_ object: UInt) -> Bool {
    locked { state -> Bool in
      if state.running.contains(object) { return false }
      if state.running.count < Self.most { state.running.append(object) }
      return true
    } ?? true
  }

  func end(_ object: UInt) {
    _ = locked { state -> Bool in
      if let index = state.running.lastIndex(of: object) { state.running.remove(at: index) }
      return true
    }
  }
}
