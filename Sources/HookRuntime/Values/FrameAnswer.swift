// FrameAnswer — what code of ours that stands in the place of a function leaves in its frame: with ValueWriter, the writers of
// saved registers.
package import CHookTrampoline

package struct FrameAnswer {
  private let frame: UnsafeMutablePointer<HKTFrame>
  package init(_ frame: UnsafeMutablePointer<HKTFrame>) { self.frame = frame }

  /// No error, and self as it came in: what every callee hands back.
  package func handBack() {
    frame.pointee.results.error = frame.pointee.error_register
    frame.pointee.results.self_register = frame.pointee.self_register
  }

  /// Restores self where r13 was changed for a call: `object` is what came in.
  package func restoreSelf(_ object: UInt) { frame.pointee.results.self_register = UInt64(object) }

  /// The call throws. `box` is owned.
  package func fail(_ box: UInt) {
    handBack()
    frame.pointee.results.error = UInt64(box)
  }

  /// The entry of a coroutine accessor: who goes on, and the address of what is yielded.
  package func yield(_ address: UInt, then continuation: UInt) {
    handBack()
    frame.pointee.results.integer.0 = UInt64(continuation)
    frame.pointee.results.integer.1 = UInt64(address)
  }

  /// Ends the arguments that the function was given to keep: nobody runs that would.
  package static func consumeArguments(of call: UnsafeMutablePointer<HKTCall>, _ plan: CallPlan) {
    guard plan.consumesArguments else { return }
    for argument in plan.arguments where argument.isConsumed && !argument.hasMixedOwnership {
      guard let info = argument.info, argument.location.isWhole else { continue }
      _ = ValueReader(call.pointee.frame).withMemory(argument.location, info, isResult: false) {
        // A bitwise copy of the owned value: destroying it ends the value in the registers.
        info.metadata.destroy(UnsafeMutableRawPointer(mutating: $0))
      }
    }
  }
}
