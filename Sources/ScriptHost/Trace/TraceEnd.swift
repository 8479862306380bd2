// TraceEnd — what ends a trace while the program runs: a signal, or the time that was asked for.
private import CCrash
internal import HookRuntime

extension Tracer {
  /// Has a thread wait for what ends the trace: of a table, the signals that end the program, which come too early for it otherwise;
  /// `--for`. Nothing where there is nothing to wait for.
  /// - Returns: why no thread could be made.
  func awaitEnd() -> Int32 {
    guard settings.summaryOnly || settings.duration != nil else { return 0 }
    let holdsSignals = settings.summaryOnly
    ccrash_prepare_endings()
    let duration = settings.duration ?? .max
    let status = HostThread.start("sh-trace") {
      let signal = ccrash_await_ending(duration)
      self.stop()
      if signal != 0 { ccrash_end_by(signal) }
      // The time is over; what ends the program from now on still ends it.
      let later = holdsSignals ? ccrash_await_ending(.max) : 0
      if later != 0 { ccrash_end_by(later) }
    }
    if status == 0, holdsSignals { ccrash_hold_endings() }
    return status
  }
}
