// StartHold — the program waits before its `main` until somebody who looks at it lets it go (`run --hold`, `repl`).
private import Glibc
internal import Journal
private import Synchronization

enum StartHold {
  private static let isOver = Atomic<Bool>(true)
  /// When a client was there last, by CLOCK_MONOTONIC.
  private static let seen = Atomic<UInt64>(0)
  /// Without a client it waits so long, in nanoseconds.
  private static let patience: UInt64 = 30_000_000_000

  static var isHeld: Bool { !isOver.load(ordering: .acquiring) }

  /// Any thread. False when nothing is held.
  static func go() -> Bool { !isOver.exchange(true, ordering: .acquiringAndReleasing) }

  /// On the control thread: a client is there that stays.
  static func note(_ now: UInt64) { seen.store(now, ordering: .relaxed) }

  /// The main thread waits here, before `main`.
  fileprivate static func wait(_ log: HostLog) {
    isOver.store(false, ordering: .releasing)
    note(clockNanoseconds(CLOCK_MONOTONIC))
    while isHeld {
      usleep(2000)
      let now = clockNanoseconds(CLOCK_MONOTONIC), last = seen.load(ordering: .relaxed)
      if now > last, now - last > patience, go() { log.say("nobody asked for the program for 30 s; it runs now") }
    }
  }
}

extension BootTask {
  /// The last of all tasks.
  static let hold = BootTask("hold", .services, priority: -1000) { context in
    if context.settings.has(.hold), context.patches != nil { StartHold.wait(context.log) }
    return .goOn
  }
}

extension ControlVerbs {
  static let hold = [
    ControlVerb("go", "let a program run that waits before its main function") { call in
      StartHold.go() ? call.answer() : call.fail("the program runs already")
    }
  ]
}
