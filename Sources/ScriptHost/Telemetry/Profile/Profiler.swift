// Profiler — where processor time goes: one thread of ours looks, so many times a second, which threads have used time since the last
// look, and asks each for its stack. What a stack stands for is the time its thread has used, so that the sum is the program's own.
private import Glibc
internal import Journal
private import Synchronization

final class Profiler: Sendable {
  static let shared = Profiler()
  /// Looks in a second that are taken.
  static let rates = 1...1000

  private struct State {
    var rate = 0
    var log: HostLog?
    var isRunning = false
  }
  private let state = Mutex(State())
  /// What was seen since the last records; only one thread at a time writes them.
  private let seen = Mutex(Seen())
  private struct Seen {
    var stacks: [Key: (weight: UInt64, count: Int)] = [:]
    var names: [Int32: String] = [:]
  }
  private struct Key: Hashable { let thread: Int32, frames: [UInt] }

  /// Begins, or goes on at another rate.
  /// - Parameter rate: looks in a second.
  /// - Returns: Why it cannot be done, in a sentence.
  func start(_ rate: Int, log: HostLog) -> String? {
    guard ThreadStacks.canAsk else { return "profile: the program handles SIGFPE itself; threads that run cannot be asked for their stacks" }
    let mustStart = state.withLock { state in
      (state.rate, state.log) = (rate, log)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard mustStart else { return nil }
    let status = HostThread.start("sh-profile") { self.run() }
    guard status != 0 else { return nil }
    state.withLock { $0.isRunning = false }
    return "profile: no thread can be made, \(String(cString: strerror(status)))"
  }

  /// Writes what was seen, and ends.
  func stop() {
    state.withLock { $0.rate = 0 }
    write()
  }

  private func run() {
    var used: [Int32: UInt64] = [:]
    var written = monotonicNow()
    while true {
      let rate = state.withLock { state in
        if state.rate == 0 { state.isRunning = false }
        return state.rate
      }
      if rate == 0 { return }
      var rest = timespec(tv_sec: rate == 1 ? 1 : 0, tv_nsec: rate == 1 ? 0 : 1_000_000_000 / rate)
      nanosleep(&rest, nil)
      look(&used)
      if monotonicNow() - written > 1_000_000_000 {
        write()
        written = monotonicNow()
      }
    }
  }

  private func look(_ used: inout [Int32: UInt64]) {
    let threads = ThreadStacks.threads()
    for thread in threads {
      // CPUCLOCK_SCHED of one thread, as the kernel numbers it.
      let now = clockNanoseconds(clockid_t(~thread << 3 | 6))
      defer { used[thread] = now }
      // Of a thread that is new, all it used counts.
      guard now > used[thread] ?? 0 else { continue }
      let name = seen.withLock { $0.names[thread] } ?? ThreadStacks.name(of: thread)
      seen.withLock { $0.names[thread] = name }
      guard !name.hasPrefix("sh-"), let stack = ThreadStacks.capture(thread), !stack.frames.isEmpty else { continue }
      seen.withLock { seen in
        let key = Key(thread: thread, frames: stack.frames)
        let old = seen.stacks[key] ?? (0, 0)
        seen.stacks[key] = (old.weight + (now - (used[thread] ?? 0)), old.count + 1)
      }
    }
    if used.count > 2 * threads.count + 16 {
      let alive = Set(threads)
      used = used.filter { alive.contains($0.key) }
      seen.withLock { $0.names = $0.names.filter { alive.contains($0.key) } }
    }
  }

  private func write() {
    guard let log = state.withLock({ $0.log }) else { return }
    let (stacks, names) = seen.withLock { seen in
      defer { seen.stacks = [:] }
      return (seen.stacks, seen.names)
    }
    for (key, value) in stacks {
      var images: [SampleRecord.Image] = []
      let frames = key.frames.compactMap { address -> SampleRecord.Frame? in
        guard let place = ThreadStacks.place(of: address) else { return nil }
        let image = SampleRecord.Image(path: place.path, buildID: place.buildID)
        let index = images.firstIndex(of: image) ?? images.count
        if index == images.count { images.append(image) }
        return SampleRecord.Frame(image: index, address: place.offset)
      }
      let record = SampleRecord(
        name: names[key.thread] ?? "", thread: UInt32(key.thread), weight: value.weight, count: value.count, images: images, frames: frames)
      log.append(.sample, FieldName(record.name, masked: false), room: 16 << 10) { record.write(into: &$0) }
    }
  }
}
