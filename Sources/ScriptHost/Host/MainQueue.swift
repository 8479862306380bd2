// MainQueue — the main queue of libdispatch, found at run time: the host does not link it.
private import Glibc

/// The main queue of libdispatch, where the program has it.
struct MainQueue: @unchecked Sendable {
  // Two addresses of a library that is never unloaded.
  private typealias Async = @convention(c) (
    UnsafeMutableRawPointer, UnsafeMutableRawPointer?, @convention(c) (UnsafeMutableRawPointer?) -> Void
  ) -> Void
  private let queue: UnsafeMutableRawPointer
  private let async: Async

  static let shared: MainQueue? = {
    guard let queue = dlsym(nil, "_dispatch_main_q"), let async = dlsym(nil, "dispatch_async_f") else { return nil }
    return MainQueue(queue: queue, async: unsafeBitCast(async, to: Async.self))
  }()

  private typealias Label = @convention(c) (UnsafeMutableRawPointer?) -> UnsafePointer<CChar>?
  private static let label = dlsym(nil, "dispatch_queue_get_label").map { unsafeBitCast($0, to: Label.self) }

  /// The main queue runs on this thread: after `dispatchMain()` that is not the thread on which the program began.
  static var isCurrent: Bool {
    guard let name = label?(nil) else { return false }
    return strcmp(name, "com.apple.main-thread") == 0
  }

  func add(_ body: @escaping @Sendable () -> Void) {
    async(queue, Unmanaged.passRetained(Work(body)).toOpaque()) {
      // Retained for the queue, which runs it once.
      Unmanaged<Work>.fromOpaque($0!).takeRetainedValue().body()
    }
  }

  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}
