// HostTime — what the host finds out while the program waits, such as how a function is called at its first call: whoever limits
// the time of handlers takes it off.
private import Synchronization

package enum HostTime {
  package typealias Mark = @convention(c) () -> Void
  private static let beginning = Atomic<UInt>(0)
  private static let ending = Atomic<UInt>(0)

  /// Sets what is reported, on the thread that works; once, any thread.
  package static func tell(_ begin: Mark, _ end: Mark) {
    ending.store(unsafeBitCast(end, to: UInt.self), ordering: .relaxed)
    beginning.store(unsafeBitCast(begin, to: UInt.self), ordering: .releasing)
  }

  static func begin() { call(beginning) }
  static func end() { call(ending) }

  /// The words are those of functions that `tell` was given, or 0.
  private static func call(_ mark: borrowing Atomic<UInt>) {
    let word = mark.load(ordering: .acquiring)
    if word != 0 { unsafeBitCast(word, to: Mark.self)() }
  }
}
