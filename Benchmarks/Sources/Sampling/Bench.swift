// Bench — measures loops in turn, so that a machine that slows down slows all of them.
import Glibc

public struct Bench {
  public init() {}

  private var cases: [(name: String, loop: (Int) -> Void, rounds: Int)] = []

  /// `loop` runs the operation as often as it is told.
  public mutating func add(_ name: String, _ loop: @escaping (Int) -> Void) { cases.append((name, loop, 0)) }

  /// For a profiler.
  public mutating func keep(only name: String) { cases.removeAll { $0.name != name } }

  /// Samples are nanoseconds per operation, each taken over ten milliseconds.
  public mutating func run(_ repetitions: Int) {
    for index in cases.indices { cases[index].rounds = Self.rounds(cases[index].loop) }
    for _ in 0..<repetitions {
      for each in cases {
        let start = processorTime()
        each.loop(each.rounds)
        sample(each.name, (processorTime() - start) / Double(each.rounds))
      }
    }
  }

  /// Also the warm-up.
  private static func rounds(_ loop: (Int) -> Void) -> Int {
    var rounds = 64
    while true {
      let start = processorTime()
      loop(rounds)
      let spent = processorTime() - start
      if spent > 2e6 { return max(1, Int(10e6 / spent * Double(rounds))) }
      // A loop that is not run as often as it is told measures nothing.
      precondition(rounds < 1 << 40)
      rounds *= 4
    }
  }
}

/// Nanoseconds this thread has run: what other programs on a busy machine take is not ours.
public func processorTime() -> Double { nanoseconds(CLOCK_THREAD_CPUTIME_ID) }

/// Nanoseconds all threads have run.
public func processTime() -> Double { nanoseconds(CLOCK_PROCESS_CPUTIME_ID) }

/// Nanoseconds that went by.
public func now() -> Double { nanoseconds(CLOCK_MONOTONIC) }

private func nanoseconds(_ clock: clockid_t) -> Double {
  var time = timespec()
  clock_gettime(clock, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

public func sample(_ name: String, _ value: Double) { print("S", name, value, separator: "\t") }

/// Uses a result, so that the call is not optimised away.
@inline(never) public func keep(_ value: Int) {}
