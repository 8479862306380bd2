// MetricPause — a quarter of a second of the reporter's own thread.
private import Glibc

extension MetricReporter {
  static func pause() {
    var time = timespec(tv_sec: 0, tv_nsec: 250_000_000)
    // Too early is no harm: what is due is asked then.
    nanosleep(&time, nil)
  }
}
