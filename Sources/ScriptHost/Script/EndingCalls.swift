// EndingCalls — functions of the program that no script calls, though their types do not tell why: they end the thread or the process, never
// return, or only wait. A script that waits holds up the thread that its handler runs on.
internal import HookRuntime

enum EndingCalls {
  /// By what the function is, without its argument list and `static`.
  private static let reasons: [String: String] = {
    let ends = "it ends the thread that it is called on, which is the program's"
    let waits = "it only waits, and the program's thread with it; 'timer.after' calls a function later"
    var reasons = ["Foundation.Thread.exit": ends, "Foundation.NSThread.exit": ends]
    for name in ["Thread.sleep", "RunLoop.run", "NSCondition.wait", "Process.waitUntilExit", "OperationQueue.waitUntilAllOperationsAreFinished"] {
      reasons["Foundation." + name] = waits
    }
    for name in ["DispatchSemaphore.wait", "DispatchGroup.wait", "DispatchWorkItem.wait"] { reasons["Dispatch." + name] = waits }
    return reasons
  }()

  static func reason(_ selector: String) -> String? {
    let bare = selector.hasPrefix("static ") ? selector.dropFirst(7) : selector[...]
    return reasons[String(bare.prefix { $0 != "(" })]
  }
}

extension Callable {
  /// The function, where a script may call it.
  func forScripts() throws(CallError) -> Callable {
    if let reason = EndingCalls.reason(selector) { throw .refused(selector: selector, reason: reason) }
    return self
  }
}
