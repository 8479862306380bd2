// CallValues+Callers — whether a new outcome gets to the caller as a handler means it.
internal import CHookTrampoline
internal import HookRuntime

extension CallValues {
  private static func hasRun(_ script: Call) -> Bool { script.pointee.originalRuns > 0 || script.pointee.phase == HKT_EXIT }

  /// Why the staged result would not be what the caller goes on with; nil where it is, or there is none.
  static func whyResultIsLost(_ script: Call) -> String? {
    guard let value = script.pointee.stagedResult else { return nil }
    let ran = hasRun(script)
    let view = script.pointee.view
    let reach = OutcomeReach.ofResult(value, script.pointee.plan.result, view.call, former: !ran ? .none : view.didThrow ? .error : .result)
    guard let why = reach?.reason(selector: script.pointee.hook.selector) else { return nil }
    guard case .unread = reach, !ran else { return "the result \(why)" }
    // Nobody looks at it, and that the original does not run is what the handler wants.
    if reach?.isFirst == true {
      let hook = script.pointee.hook!
      hook.patch.log.say("\(hook.source):\(hook.line): the result \(why)")
    }
    return nil
  }

  /// Why the caller would not see that the call throws the error in `box`.
  static func whyErrorIsLost(_ box: UInt, _ script: Call) -> String? {
    let view = script.pointee.view
    if hasRun(script), view.didThrow { return nil }
    guard let reach = OutcomeReach.ofError(view.call) else { return nil }
    return "the error " + reach.reason(selector: script.pointee.hook.selector)
  }

  /// Why the caller would not see a new value of the variable that it passed as argument `index`.
  static func whyVariableIsLost(_ index: Int, _ script: Call) -> String? {
    guard script.pointee.hook != nil, let reach = OutcomeReach.ofVariable(script.pointee.plan.arguments[index], script.pointee.view.call) else {
      return nil
    }
    return "argument \(index + 1) " + reach.reason(selector: script.pointee.hook.selector)
  }

  /// A result that is put straight into its registers certainly gets to the caller: it reads them all.
  @inline(__always)
  static func isResultRead(_ slot: ValueSlot, _ script: Call) -> Bool { OutcomeReach.isRead(slot, script.pointee.view.call) }
}
