// ImageWatch — tells of images that appear in this process, or go.
//
// The thread that opened an image tells, before `dlopen` returns to its caller and after the image's constructors ran
// (CHookTrampoline/Patching/image_watch.c). No thread looks around; who never asks costs nothing.
private import CHookTrampoline
private import Synchronization

package enum ImageWatch {
  package enum State: Sendable, Equatable {
    case watching
    /// Images that appear are found when somebody looks for a selector; the reason.
    case notWatching(String)
  }

  private static let observers = Mutex<[@Sendable () -> Void]>([])

  /// Calls `body` whenever images came or went, on whatever thread did that; hooks pass it through. Several threads may
  /// call it at once.
  @discardableResult
  package static func observe(_ body: @escaping @Sendable () -> Void) -> State {
    observers.withLock { $0.append(body) }
    switch hkt_watch_images(changed) {
    case HKT_WATCHING: return .watching
    case HKT_WATCH_NOT_WRITABLE: return .notWatching("the loader's data cannot be written here")
    default: return .notWatching("this C library's loader is not known")
    }
  }

  private static let changed: @convention(c) () -> Void = {
    guard let thread = hkt_thread() else { return }
    // What is done about it is ScriptHost's own work.
    hkt_host_begin(thread)
    defer { hkt_host_end(thread) }
    for body in observers.withLock({ $0 }) { body() }
  }
}
