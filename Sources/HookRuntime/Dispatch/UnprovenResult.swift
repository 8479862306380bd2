// UnprovenResult — what a door of handlers says where nothing proves that callers look at the results it gives.
internal import CHookTrampoline
private import Synchronization

/// Tells of one handler, once, that nothing proves that callers look at the result it gives.
package struct UnprovenResult: ~Copyable {
  private let isReported = Atomic<Bool>(false)
  /// Where the caller goes on that was asked about last: most calls come from where the one before came from.
  private let asked = Atomic<UInt64>(0)

  package init() {}

  /// Why it is not known whether the caller looks; nil where it is known, and once it was reported.
  @inline(__always)
  package func why(_ selector: @autoclosure () -> String, _ view: CallView) -> String? {
    isReported.load(ordering: .relaxed)
      ? nil : ask(view).map { "'\(selector())' \($0): whether callers that were compiled together with it look at a replaced result is not known" }
  }

  @inline(never)
  private func ask(_ view: CallView) -> String? {
    // Nobody was compiled together with a closure that was made here.
    guard view.call.pointee.site != nil else { return nil }
    let address = hkt_goes_on_at(view.call)
    guard address != asked.exchange(address, ordering: .relaxed), let why = OutcomeReach.whyNotKnown(view.plan.result, view.call),
      !isReported.exchange(true, ordering: .relaxed)
    else { return nil }
    return why
  }
}
