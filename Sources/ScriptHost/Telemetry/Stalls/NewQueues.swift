// NewQueues — dispatch queues as they are made, for those whose labels are watched: a hook on the functions that make queues.
private import CHookTrampoline
private import Glibc
internal import HookRuntime
private import Synchronization

enum NewQueues {
  private static let installed = Mutex(false)
  fileprivate static let retain = dlsym(nil, "dispatch_retain").map {
    unsafeBitCast($0, to: (@convention(c) (UnsafeMutableRawPointer) -> Void).self)  // void dispatch_retain(dispatch_object_t)
  }

  /// Begins to watch; more than once is once.
  /// - Returns: What is wrong, one sentence each.
  static func install() -> [String] {
    installed.withLock { installed in
      if installed { return [] }
      installed = true
      return ["C.dispatch_queue_create", "C.dispatch_queue_create_with_target"].flatMap {
        StallHooks.install($0, madeLayer, phases: HKT_ON_EXIT)
      }
    }
  }
}

/// The queue is the result, its label the first argument, a C string or NULL.
private let madeLayer: HKTLayerFunction = { call, _, _ in
  guard let frame = call?.pointee.frame, let queue = UnsafeMutableRawPointer(bitPattern: UInt(frame.pointee.results.integer.0)),
    let label = UnsafePointer<CChar>(bitPattern: UInt(frame.pointee.integer.0)), let retain = NewQueues.retain
  else { return HKT_HANDLED }
  StallWatch.shared.queueMade(String(cString: label), queue, keep: retain)
  return HKT_HANDLED
}
