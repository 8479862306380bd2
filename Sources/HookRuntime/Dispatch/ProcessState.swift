// ProcessState — what keeps this copy of the library from hooking in this process: another copy, or a fork at a bad moment.
private import CHookTrampoline
private import Glibc

/// Another copy of the library in the same process: a program that links it and is started by `scripthost run`.
enum OtherCopy {
  /// The image of the copy that hooks here; nil when this one does, from now on.
  static var refusal: String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { path in
      if hkt_claim_process(path.baseAddress!, path.count) { return nil }
      return String(cString: path.baseAddress!)
    }
  }
}

/// A copy of the process that fork made.
enum ForkedCopy {
  /// Why nothing can be changed here; nil when it can.
  static var refusal: String? {
    RecursiveLock.wereHeldAtFork ? "another thread was at work on hooks or symbols when the process was forked" : nil
  }
}

extension HookEngine {
  /// Whether hooks stay on in processes forked from now on. They are off there otherwise: a forked child is as good as
  /// another program, which nobody asked to hook.
  public var hooksForkedChildren: Bool {
    get { hkt_keeps_in_children() }
    set { hkt_keep_in_children(newValue) }
  }

  /// In a forked child: switches the hooks on that the parent had when it forked. False where that cannot be done: another
  /// thread of the parent was just changing them.
  @discardableResult
  public func resumeAfterFork() -> Bool {
    if ForkedCopy.refusal != nil { return false }
    hkt_set_passive(false)
    return true
  }
}
