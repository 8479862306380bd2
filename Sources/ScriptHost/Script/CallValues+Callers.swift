// CallValues+Callers — whether a new outcome gets to the caller as a handler means it.
internal import CHookTrampoline
internal import HookRuntime

extension CallValues {
  /// Why the staged result would not be what the caller goes on with; nil where it is, or there is none.
  static func whyResultIsLost(_ script: Call) -> String? {
    switch script.pointee.changes.resultFate {
    case .seen:
      // A closure of the script has no hook.
      if script.pointee.changes.stagedResult != nil { script.pointee.hook?.tellOfOutcome(script.pointee.view) }
      return nil
    case .lost(let reach): return "the result " + reach.reason(selector: script.pointee.hook.selector)
    case .unread(let reach):
      if reach.isFirst {
        let hook = script.pointee.hook!
        hook.patch.log.say("\(hook.source):\(hook.line): the result \(reach.reason(selector: hook.selector))")
      }
      return nil
    }
  }

  /// Why the caller would not see that the call throws; nil where it would.
  static func whyErrorIsLost(_ script: Call) -> String? {
    script.pointee.changes.errorLoss.map { "the error " + $0.reason(selector: script.pointee.hook.selector) }
  }

  /// A result that is put straight into its registers certainly gets to the caller: it reads them all.
  @inline(__always)
  static func isResultRead(_ slot: ValueSlot, _ script: Call) -> Bool {
    // Nobody was compiled together with a closure that was made here.
    var isRead = script.pointee.hasNoHook
    script.pointee.withHook { isRead = $0.isResultRead(slot, script.pointee.view) }
    return isRead
  }
}
