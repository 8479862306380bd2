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

  /// Runs one loop so often, and nothing else: for what counts instructions. False where there is none of that name.
  public func run(only name: String, rounds: Int) -> Bool {
    guard let only = cases.first(where: { $0.name == name }) else { return false }
    only.loop(rounds)
    return true
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

/// Uses a result, so that the call is not optimised away; the optimiser is not to know that it does nothing.
@_optimize(none) public func keep(_ value: Int) {}

/// KiB of this process: `Rss` is what is in memory, `Pss` the same with shared pages by parts, `Private_Dirty` what it wrote and no other has.
public func memoryKiB(_ kind: String) -> Double {
  guard let file = fopen("/proc/self/smaps_rollup", "r") else { return 0 }
  defer { fclose(file) }
  var line: UnsafeMutablePointer<CChar>?
  var capacity = 0
  defer { free(line) }
  while getline(&line, &capacity, file) > 0 {
    let words = String(cString: line!).split(separator: " ")
    if words.count > 1, words[0] == kind + ":" { return Double(words[1]) ?? 0 }
  }
  return 0
}
