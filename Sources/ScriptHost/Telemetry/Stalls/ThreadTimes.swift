// ThreadTimes — what threads of the program note of themselves for the thread that watches stalls: since when they are at something, and what
// one of those times was that are over.
//
// A thread's words are written by that thread alone, in a few stores: its layers may run where it has got a lock of anybody's.
private import Glibc
internal import Synchronization

/// The words of one thread.
struct ThreadTime: ~Copyable {
  /// The kernel's number; 0: nobody's.
  let thread = Atomic<Int32>(0)
  /// When it began what it is at, CLOCK_MONOTONIC; 0 while it is at nothing.
  let since = Atomic<UInt64>(0)
  /// The thread it waits for; 0 where nothing tells.
  let holder = Atomic<Int32>(0)
  /// A time that is over: when it began, and how long it was.
  let lastSince = Atomic<UInt64>(0)
  let lastTook = Atomic<UInt64>(0)
}

/// A table of threads. Never freed; those that come when it is full are not in it.
final class ThreadTimes: @unchecked Sendable {
  // Set once; what `words` points at is atomic.
  private let words: UnsafeMutablePointer<ThreadTime>
  private let count: Int
  private let key: pthread_key_t

  /// Nil when the process has no thread-local key left.
  init?(count: Int) {
    var key = pthread_key_t()
    let status = pthread_key_create(&key) { words in
      // Set to words of a table only.
      guard let words = words?.assumingMemoryBound(to: ThreadTime.self) else { return }
      words.pointee.since.store(0, ordering: .relaxed)
      words.pointee.lastTook.store(0, ordering: .relaxed)
      words.pointee.thread.store(0, ordering: .releasing)
    }
    guard status == 0 else { return nil }
    self.key = key
    self.count = count
    words = .allocate(capacity: count)
    for index in 0..<count { (words + index).initialize(to: ThreadTime()) }
  }

  /// The calling thread's words, by its kernel number; nil where it has none.
  /// - Parameter enters: it gets some where it has none, unless the table is full.
  func own(_ thread: Int32, enters: Bool) -> UnsafeMutablePointer<ThreadTime>? {
    // The key's values are words of the table.
    if let known = pthread_getspecific(key) { return known.assumingMemoryBound(to: ThreadTime.self) }
    guard enters else { return nil }
    for index in 0..<count where words[index].thread.compareExchange(expected: 0, desired: thread, ordering: .acquiringAndReleasing).exchanged {
      pthread_setspecific(key, words + index)
      return words + index
    }
    return nil
  }

  /// The words of each thread that is in the table.
  var entered: [(thread: Int32, words: UnsafeMutablePointer<ThreadTime>)] {
    (0..<count).compactMap { index in
      let thread = words[index].thread.load(ordering: .acquiring)
      return thread == 0 ? nil : (thread, words + index)
    }
  }
}
