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
      return ["C.dispatch_queue_create", "C.dispatch_queue_create_with_target"].flatMap(watch)
    }
  }

  private static func watch(_ function: String) -> [String] {
    var found: [(ImageCatalog, Family)] = []
    if case .success(let families) = SelectorLookup.resolve(function, suggesting: false) { found = families }
    @Sendable func layer(_: Family) -> LayerSpec {
      LayerSpec(function: madeLayer, context: nil, phases: UInt32(HKT_ON_EXIT), readsValues: false, owner: "stalls")
    }
    let report = HookEngine.shared.install(found.map { HookRequest(image: $0, family: $1, mayChoose: true) }, layer: layer)
    let known = Set(found.map { FamilyName($0.1) })
    _ = HookEngine.shared.wait(WaitRequest(selector: function, owner: "stalls", mayChoose: true, known: known, layer: layer))
    return report.refused.map { "stalls: '\($0.0)' is not watched: \($0.1)" }
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
