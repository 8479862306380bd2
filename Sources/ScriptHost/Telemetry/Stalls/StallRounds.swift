// StallRounds — what one look at all watched places finds, and what is remembered until the next.
private import Glibc
internal import Journal

struct StallRounds {
  /// Time before this does not count.
  var notBefore: UInt64 = 0
  private var ongoing: [Place: Stall] = [:]
  /// `dispatchMain` was called, which never returns.
  private var isMainServed = false

  /// Where something can stall.
  private enum Place: Hashable {
    case loop(Int32)
    case mainQueue, pool
    case queue(UInt)
    case lock(Int32)
  }
  /// Of each thread, the last wait for a lock that was looked at.
  private var lockWaits: [Int32: UInt64] = [:]

  private struct Stall {
    var name: String
    var thread: UInt32
    /// When work began, or the beat was sent.
    var since: UInt64
    var stack: [String]
    var others: [StallRecord] = []
  }

  mutating func look(_ settings: StallSettings, _ queues: [StallWatch.WatchedQueue], _ log: HostLog) {
    let busy = LoopWaits.busy()
    endLoops(busy, log)
    let own = getpid()
    for loop in busy {
      let isMain = loop.thread == own
      guard let limit = isMain ? settings.main : settings.loops else { continue }
      let name = isMain ? "main" : ThreadStacks.name(of: loop.thread)
      check(.loop(loop.thread), name, loop.since, limit, settings, log) { [loop.thread] }
      if isMain, let end = settings.end, elapsed(loop.since) > end { endProcess(elapsed(loop.since), log) }
    }
    // The main thread sleeps for ever, and workers serve the main queue: dispatchMain.
    if let limit = settings.main, let beat = QueueBeat.mainQueue, !LoopWaits.isLoop(own), SleepingMain.isSleeping {
      // The very first work may be what does not return: then the queue is served where libdispatch has the main thread sleep.
      if let since = beat.waitsSince, !beat.isServed, !isMainServed, elapsed(since) > limit { isMainServed = SleepingMain.isOfDispatch }
      let isServed = beat.isServed || isMainServed
      look(.mainQueue, "main", beat, limit, settings, log, isServed: isServed) { Dispatch.mainQueue.flatMap(Self.worker) }
      if let end = settings.end, isServed, let since = beat.waitsSince, elapsed(since) > end { endProcess(elapsed(since), log) }
    }
    if let limit = settings.pool {
      look(.pool, "pool", QueueBeat.pool, limit, settings, log, isServed: QueueBeat.pool.isServed) { nil }
    }
    if let limit = settings.locks { lookAtLocks(limit, settings, log) }
    for queue in queues {
      guard let limit = settings.queues[queue.label] else { continue }
      look(.queue(queue.address), queue.label, queue.beat, limit, settings, log, isServed: queue.beat.isServed) {
        UnsafeMutableRawPointer(bitPattern: queue.address).flatMap(Self.worker)
      }
    }
  }

  private func elapsed(_ since: UInt64) -> UInt64 {
    let (now, start) = (monotonicNow(), max(since, notBefore))
    return now > start ? now - start : 0
  }

  /// The thread that works on the queue now.
  private static func worker(_ queue: UnsafeMutableRawPointer) -> Int32? {
    Dispatch.worker(of: queue, among: ThreadStacks.threads().filter { $0 != getpid() })
  }

  // MARK: Locks

  private mutating func lookAtLocks(_ limit: UInt64, _ settings: StallSettings, _ log: HostLog) {
    let threads = LockWaits.threads()
    for (place, stall) in ongoing {
      guard case .lock(let thread) = place, !threads.contains(where: { $0.thread == thread && $0.since == stall.since }) else { continue }
      let wait = threads.first { $0.thread == thread && $0.lastSince == stall.since }
      lockWaits[thread] = stall.since
      end(place, stall, wait?.lastTook ?? elapsed(stall.since), log)
    }
    for wait in threads {
      // One that was over before a look found it: with its length, without stacks.
      if wait.lastTook > limit, wait.lastSince >= notBefore, lockWaits[wait.thread] != wait.lastSince,
        ongoing[.lock(wait.thread)]?.since != wait.lastSince
      {
        lockWaits[wait.thread] = wait.lastSince
        write(
          Stall(name: Self.lockName(wait.thread), thread: UInt32(wait.thread), since: wait.lastSince, stack: []), wait.lastTook, isOver: true, log)
      }
      guard wait.since != 0 else { continue }
      check(.lock(wait.thread), Self.lockName(wait.thread), wait.since, limit, settings, log) { [wait.thread] + (wait.holder.map { [$0] } ?? []) }
    }
  }

  private static func lockName(_ thread: Int32) -> String { "lock, " + (thread == getpid() ? "main" : ThreadStacks.name(of: thread)) }

  // MARK: Beats

  private mutating func look(
    _ place: Place, _ name: String, _ beat: QueueBeat, _ limit: UInt64, _ settings: StallSettings, _ log: HostLog, isServed: Bool,
    worker: () -> Int32?
  ) {
    if let stall = ongoing[place], beat.waitsSince != stall.since { end(place, stall, beat.lastTook, log) }
    if let since = beat.waitsSince {
      guard isServed else { return }
      check(place, name, since, limit, settings, log) { place == .pool ? Self.poolThreads() : worker().map { [$0] } ?? [] }
    } else {
      beat.beat()
    }
  }

  /// Threads on which a task runs: known by the function that runs jobs, which is on their stacks.
  private static func poolThreads() -> [Int32] {
    ThreadStacks.threads().filter { thread in
      guard thread != getpid(), let stack = ThreadStacks.capture(thread) else { return false }
      return ThreadStacks.names(of: stack.frames).contains { $0.hasPrefix("swift_job_run") }
    }
  }

  // MARK: Stalls

  private mutating func check(
    _ place: Place, _ name: String, _ since: UInt64, _ limit: UInt64, _ settings: StallSettings, _ log: HostLog, threads: () -> [Int32]
  ) {
    guard ongoing[place] == nil, elapsed(since) > limit else { return }
    let stacks = settings.stacks ? threads().compactMap { ThreadStacks.capture($0) } : []
    // It may have gone on while its stack was taken; then this is no stack of the stall.
    let first = stacks.first
    var stall = Stall(
      name: name, thread: UInt32(first?.thread ?? 0), since: since, stack: first.map { ThreadStacks.names(of: $0.frames) } ?? [])
    stall.others = stacks.dropFirst().map { other in
      StallRecord(
        name: { if case .lock = place { "\(name): its holder" } else { "\(name), also" } }(), thread: UInt32(other.thread), start: since,
        duration: 0, isOver: true,
        stack: ThreadStacks.names(of: other.frames))
    }
    switch place {
    case .loop(let thread), .lock(let thread): if first == nil { stall.thread = UInt32(thread) }
    default: break
    }
    ongoing[place] = stall
    write(stall, elapsed(since), isOver: false, log)
  }

  private mutating func endLoops(_ busy: [BusyLoop], _ log: HostLog) {
    for (place, stall) in ongoing {
      guard case .loop(let thread) = place, !busy.contains(BusyLoop(thread: thread, since: stall.since)) else { continue }
      end(place, stall, LoopWaits.lastBusy(thread, since: stall.since) ?? (monotonicNow() - stall.since), log)
    }
  }

  private mutating func end(_ place: Place, _ stall: Stall, _ duration: UInt64, _ log: HostLog) {
    ongoing[place] = nil
    write(stall, duration, isOver: true, log)
  }

  private func write(_ stall: Stall, _ duration: UInt64, isOver: Bool, _ log: HostLog) {
    let record = StallRecord(
      name: stall.name, thread: stall.thread, start: stall.since, duration: duration, isOver: isOver, stack: stall.stack)
    log.record(record)
    if isOver {
      for var other in stall.others {
        other.duration = duration
        log.record(other)
      }
    }
  }

  /// Ends the process as a crash does, so that the start counts as failed where starts are counted.
  private func endProcess(_ duration: UInt64, _ log: HostLog) -> Never {
    log.say("the main thread has not gone on for \(duration / 1_000_000) ms; the process is ended, as 'stalls' asks for")
    log.append(.failure, "ended by the watchdog") { $0.add("duration_ns", duration) }
    abort()
  }
}

/// `dispatchMain`: the main thread waits for signals for ever.
private enum SleepingMain {
  private static let sigsuspend: Int32 = 130
  static var isSleeping: Bool { ThreadStacks.systemCall(of: getpid()) == sigsuspend }
  /// Whether it is libdispatch that waits there, and not a program that waits for signals itself.
  static var isOfDispatch: Bool {
    guard let stack = ThreadStacks.capture(getpid()) else { return false }
    return ThreadStacks.names(of: stack.frames).dropFirst().prefix(2).contains {
      $0.hasPrefix("_dispatch_sig_thread") || $0.hasPrefix("libdispatch.so")
    }
  }
}

extension HostLog {
  /// Records a stall. Its stack may be longer than what other records have room for.
  fileprivate func record(_ stall: StallRecord) {
    append(.stall, FieldName(stall.name, masked: false), room: 16 << 10) { stall.write(into: &$0) }
  }
}
