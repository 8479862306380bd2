// PatchPhases — loads patches that wait for the program to be up or idle, and takes out those whose time is over.
private import Glibc
internal import Journal

/// Belongs to the control thread, which looks at it each time it wakes.
final class PatchPhases: @unchecked Sendable {
  // Everything that changes belongs to the control thread.
  private let patches: PatchRegistry
  private let worker: HostWorker
  private let started: UInt64
  private var isUp = false
  private var isIdle = false
  private var idleness = Idleness()
  private var lastExpiry: UInt64 = 0

  /// The program is up so long after the host began, and idle at the latest so long; in nanoseconds.
  static let upAfter: UInt64 = 100_000_000, idleAfter: UInt64 = 10_000_000_000
  /// How often expiry is looked at: the clock on the wall may be set.
  private static let expiryEvery: UInt64 = 1_000_000_000

  init(_ patches: PatchRegistry, _ worker: HostWorker, started: UInt64) {
    self.patches = patches
    self.worker = worker
    self.started = started
  }

  /// How long the control thread may sleep, in milliseconds; nil when nothing is waited for.
  var wait: Int32? {
    if !isUp, patches.waiting(for: .up) || patches.waiting(for: .idle) { return 20 }
    if !isIdle, patches.waiting(for: .idle) { return 100 }
    return patches.nextExpiry == nil ? nil : 1000
  }

  func look(_ now: UInt64) {
    if !isUp, now >= started + Self.upAfter {
      isUp = true
      reached(.up)
    }
    if isUp, !isIdle, idleness.isQuiet(now) || now >= started + Self.idleAfter {
      isIdle = true
      reached(.idle)
    }
    if now >= lastExpiry + Self.expiryEvery, let time = patches.nextExpiry {
      lastExpiry = now
      if time <= Int64(clamping: clockNanoseconds(CLOCK_REALTIME) / 1_000_000_000) { worker.add { [patches] in patches.expire() } }
    }
  }

  private func reached(_ phase: PatchPhase) {
    if patches.waiting(for: phase) { worker.add { [patches] in patches.reached(phase) } } else { StartTasks.reached(phase) }
  }
}

/// Whether the process has little to do.
struct Idleness {
  /// The processor time of the process when it was last looked at, and when that was.
  private var seen: (used: UInt64, at: UInt64)?
  /// So long it must have used less than a tenth of a processor, in nanoseconds.
  private static let quiet: UInt64 = 500_000_000

  /// Asked again and again, with the time by CLOCK_MONOTONIC.
  mutating func isQuiet(_ now: UInt64) -> Bool {
    let used = clockNanoseconds(CLOCK_PROCESS_CPUTIME_ID)
    guard let last = seen else {
      seen = (used, now)
      return false
    }
    guard now >= last.at + Self.quiet else { return false }
    seen = (used, now)
    return (used &- last.used) * 10 < now - last.at
  }
}
