// StartupStages — when the program reached the stages of its start: process, loader, host, main, first, stable. Each is recorded once.
//
// The kernel's word for the process's start counts hundredths of a second; all else is of the monotonic clock. `process` to `loader` is what
// the kernel and the loader took, with the libraries' constructors that came before ours; `loader` to `host` the other constructors and the
// host itself; `main` is where the program's own code begins.
private import Glibc
internal import Journal
internal import Synchronization

package enum StartupStages {
  private struct State {
    var log: HostLog?
    /// Of the monotonic clock: when the process began, the stage before was reached.
    var began: UInt64 = 0
    var last: UInt64?
  }
  private static let state = Mutex(State())
  /// The first span, or the rule's own call, is waited for.
  private static let waits = Atomic<Bool>(false)
  /// Whoever says that the program is up is waited for.
  private static let waitsForStable = Atomic<Bool>(false)

  /// A script asked for the stages.
  static func want(_ log: HostLog) { state.withLock { if $0.log == nil { $0.log = log } } }

  /// `main` begins now: records what came before.
  static func reachMain() {
    let now = clockNanoseconds(CLOCK_MONOTONIC)
    guard let began = processStart(now) else { return }
    let isWanted = state.withLock { state in
      state.began = began
      return state.log != nil
    }
    guard isWanted else { return }
    reach(.process, at: began)
    if let loader = loaderTime(), loader >= began { reach(.loader, at: loader) }
    reach(.host, at: now)
    reach(.main, at: now)
    waits.store(true, ordering: .relaxed)
    waitsForStable.store(true, ordering: .relaxed)
  }

  /// The first thing the program is for begins.
  @inline(__always)
  static func reachFirst() {
    guard waits.load(ordering: .relaxed) else { return }
    if waits.exchange(false, ordering: .relaxed) { reach(.first, at: clockNanoseconds(CLOCK_MONOTONIC)) }
  }

  /// The program is up: it says so itself, or a rule does.
  package static func reachStable() {
    if waitsForStable.exchange(false, ordering: .relaxed) { reach(.stable, at: clockNanoseconds(CLOCK_MONOTONIC)) }
  }

  private static func reach(_ stage: StartupStage, at time: UInt64) {
    let known = state.withLock { state -> (HostLog, StartupRecord)? in
      guard let log = state.log else { return nil }
      let record = StartupRecord(stage: stage.rawValue, at: time &- state.began, duration: state.last.map { time &- min($0, time) })
      state.last = time
      return (log, record)
    }
    guard let (log, record) = known else { return }
    log.append(.startup, FieldName(record.stage, masked: false)) { record.write(into: &$0) }
  }

  /// The time at which the kernel made the process, in nanoseconds of the monotonic clock.
  private static func processStart(_ now: UInt64) -> UInt64? {
    let descriptor = open("/proc/self/stat", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1024)
    let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    guard count > 0 else { return nil }
    // The name, in parentheses, may hold anything; the 20th word behind it is the start in clock ticks since the system's.
    let text = String(decoding: bytes[..<count], as: UTF8.self)
    guard let end = text.lastIndex(of: ")") else { return nil }
    let words = text[text.index(after: end)...].split(separator: " ")
    guard words.count > 19, let ticks = UInt64(words[19]) else { return nil }
    let start = ticks * (1_000_000_000 / UInt64(max(1, sysconf(Int32(_SC_CLK_TCK)))))
    let sinceBoot = clockNanoseconds(CLOCK_BOOTTIME)
    return now &- min(now, sinceBoot &- min(start, sinceBoot))
  }

  /// When the preloaded stub was initialised: the loader had mapped everything.
  private static func loaderTime() -> UInt64? {
    guard let word = dlsym(nil, "scripthost_loader_ns") else { return nil }
    let time = word.load(as: UInt64.self)
    return time == 0 ? nil : time
  }
}
