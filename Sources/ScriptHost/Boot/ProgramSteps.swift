// ProgramSteps — steps of the start that the program itself asks for (Boot/ProgramTasks.swift), done beside those of patches.
//
// What is not to be done at once is done by one thread of the host, made with the first such step: a program that asks for none has none.
private import CCrash
private import CHookTrampoline
private import Glibc
internal import Journal
private import Synchronization

/// The program's own steps. Any thread.
package enum ProgramSteps {
  private struct Step: Sendable {
    let name: String
    let priority: Int
    let run: @Sendable () -> Void
  }
  private struct Book {
    var waiting: [BootTaskPhase: [Step]] = [:]
    var reached: Set<BootTaskPhase> = [.now]
    var isWatched = false
  }
  private static let book = Mutex(Book())
  private static let log = Mutex<HostLog?>(nil)
  private static let started = Atomic<UInt64>(0)

  static func begin(_ log: HostLog) {
    self.log.withLock { $0 = log }
    started.store(clockNanoseconds(CLOCK_MONOTONIC), ordering: .relaxed)
  }

  package static var failedStarts: Int32 { Int32(clamping: BootGuard.failedStarts) }

  /// - Parameter phase: a number of BootTaskPhase.
  /// - Returns: whether `run` was or will be called.
  package static func add(_ name: String, phase: Int32, priority: Int, failures: Int, _ run: @escaping @Sendable () -> Void) -> Bool {
    guard let phase = BootTaskPhase(rawValue: phase), BootGuard.failedStarts >= failures else { return false }
    let step = Step(name: name, priority: priority, run: run)
    if phase == .now {
      perform(step)
      return true
    }
    let (isAdded, isFirst) = book.withLock { book in
      guard !book.reached.contains(phase) else { return (false, false) }
      book.waiting[phase, default: []].append(step)
      defer { book.isWatched = true }
      return (true, !book.isWatched)
    }
    if isFirst, HostThread.start("sh-start", stack: 8 << 20, { watch() }) != 0 {
      // No thread: nobody else would do them.
      for phase in [BootTaskPhase.launched, .idle] { reached(phase) }
    }
    return isAdded
  }

  /// Notes what may be cleared after failed starts.
  package static func register(_ path: String, isData: Bool) -> Bool {
    BootGuard.refusal(of: path) == nil && BootGuard.register(path, isData: isData)
  }

  private static func watch() {
    let start = started.load(ordering: .relaxed)
    sleep(until: start + PatchPhases.upAfter)
    reached(.launched)
    var idleness = Idleness()
    while true {
      let now = clockNanoseconds(CLOCK_MONOTONIC)
      if idleness.isQuiet(now) || now >= start + PatchPhases.idleAfter { break }
      sleep(until: now + 100_000_000)
    }
    reached(.idle)
  }

  private static func sleep(until end: UInt64) {
    while case let now = clockNanoseconds(CLOCK_MONOTONIC), now < end {
      var rest = timespec(tv_sec: Int((end - now) / 1_000_000_000), tv_nsec: Int((end - now) % 1_000_000_000))
      nanosleep(&rest, nil)
    }
  }

  private static func reached(_ phase: BootTaskPhase) {
    let due = book.withLock { book in
      book.reached.insert(phase)
      return book.waiting.removeValue(forKey: phase) ?? []
    }
    for step in due.enumerated().sorted(by: { ($1.element.priority, $0.offset) < ($0.element.priority, $1.offset) }) { perform(step.element) }
  }

  /// As the program: what it calls is hooked, and a trap below it is the program's own.
  private static func perform(_ step: Step) {
    let log = log.withLock { $0 }
    log?.leaveCrumb(CCRASH_NOTE, "start task: \(step.name)")
    let begin = clockNanoseconds(CLOCK_MONOTONIC)
    let thread = hkt_thread(), depth = thread?.pointee.host ?? 0
    thread?.pointee.host = 0
    step.run()
    thread?.pointee.host = depth
    log?.append(.note, "start task") { fields in
      fields.add("task", step.name)
      fields.add("duration_ns", clockNanoseconds(CLOCK_MONOTONIC) &- begin)
    }
  }
}
