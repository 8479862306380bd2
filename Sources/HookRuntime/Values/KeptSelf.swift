// KeptSelf — the object a method runs on, held over runs of an original that uses it up.
package import CHookTrampoline

package struct KeptSelf {
  private let object: AnyObject

  /// To be made before the first run. nil where the method gives its self back, and where there is no object.
  package init?(_ call: UnsafeMutablePointer<HKTCall>, _ plan: CallPlan) {
    guard plan.selfUse == .consumed, case .object(let place) = plan.selfPlan,
      let address = UnsafeRawPointer(bitPattern: UInt(ValueReader(call.pointee.frame).argumentWord(place)))
    else { return nil }
    // The reference the call came with is still there: the original has not run.
    object = Unmanaged<AnyObject>.fromOpaque(address).takeUnretainedValue()
  }

  /// Another run consumes a reference of its own.
  package func retainAgain() { _ = Unmanaged.passRetained(object) }
}
