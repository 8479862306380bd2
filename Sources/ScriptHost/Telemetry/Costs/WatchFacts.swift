// WatchFacts — that a hook is the host's own watch of something: its runs are measured like those of rules.
internal import HookRuntime

final class WatchFacts: LayerFacts {
  let title: String
  let verb = "watch"
  let failures: UInt64 = 0
  let skipped: UInt64 = 0

  /// - Parameter function: what is watched.
  init(_ function: String) { title = "watch \(function)" }
}
