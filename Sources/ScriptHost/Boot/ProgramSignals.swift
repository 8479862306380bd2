// ProgramSignals — the program's signal handlers, in which no script can run: they came between any two instructions, and what is locked
// then stays locked.
//
// The preload stub stands before the C library's `sigaction`, and knows when a handler that the program installed runs. Without the stub (the
// library in a program of its own) none is known.
private import CCrash
private import CHookTrampoline
private import Glibc
private import Journal

enum ProgramSignals {
  private typealias Frame = @convention(c) (UInt64) -> UInt64
  private typealias WatchFaults = @convention(c) (@convention(c) (Int32, Bool) -> UnsafeRawPointer?) -> Void
  private typealias Watch = @convention(c) (@convention(c) () -> Void) -> Void

  /// Has calls ask whether a signal handler runs.
  static func watch() {
    guard let frame = dlsym(nil, "scripthost_signal_frame"), let watch = dlsym(nil, "scripthost_watch_signals") else { return }
    // The stub's functions have these types (ScriptHostPreload/program_signals.c).
    hkt_set_signal_frame(unsafeBitCast(frame, to: Frame.self))
    unsafeBitCast(watch, to: Watch.self)(hkt_signal_begins)
  }

  /// Has crashes reported whose signal the program blocks or has given its default action again.
  static func watchFaults() {
    guard let blocked = dlsym(nil, "scripthost_blocked_signal"), let watch = dlsym(nil, "scripthost_watch_faults") else { return }
    // The stub's functions have these types (ScriptHostPreload/program_signals.c); a struct sigaction and the handler's arguments are
    // pointers here.
    ccrash_set_blocked(unsafeBitCast(blocked, to: CCrashBlocked.self))
    unsafeBitCast(watch, to: WatchFaults.self)(ccrash_stand_in)
  }

  /// Gives threads that begin from now on a stack for signal handlers. The runtimes of sanitizers give threads one of theirs, and free at
  /// the thread's end what they find.
  static func armThreads() {
    guard dlsym(nil, "__sanitizer_set_death_callback") == nil, let watch = dlsym(nil, "scripthost_watch_threads") else { return }
    // The stub's function has this type (ScriptHostPreload/program_threads.c).
    unsafeBitCast(watch, to: Watch.self)({ _ = ccrash_arm_thread() })
  }

  /// Says how many calls came where no hook of theirs could run.
  static func tellPassed(_ log: HostLog) {
    let count = hkt_calls_in_signals()
    guard count > 0 else { return }
    log.note(
      "signal handlers",
      "\(count) call\(count == 1 ? "" : "s") of hooked functions came in signal handlers, where scripts cannot run, and passed through")
  }
}
