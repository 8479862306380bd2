// HostClosure — the context object of every Swift closure ScriptHost makes.
//
// A closure value is two words: the one code entry (closure_x86_64.S) and a reference to such an object, counted by
// Swift like any other context. Programs copy, keep and release it; when the last copy goes, `body` goes.
package import CHookTrampoline
private import Synchronization

/// What a closure made here does when it is called. Called on any thread, by several at once.
package protocol ClosureBody: AnyObject, Sendable {
  /// Leaves the result, or the error, in the call's frame; consumes what the plan says it consumes.
  /// - Parameter call: as if a hook had delivered it, without layers; `thread` is NULL when memory ran out.
  func run(_ call: UnsafeMutablePointer<HKTCall>, _ plan: FunctionPlan)
}

package final class HostClosure: Sendable {
  package let plan: FunctionPlan
  package let body: any ClosureBody

  private init(plan: FunctionPlan, body: any ClosureBody) {
    self.plan = plan
    self.body = body
  }

  /// Closures alive now, for tests of leaks.
  package static var alive: Int { count.load(ordering: .relaxed) }
  private static let count = Atomic<Int>(0)
  deinit { Self.count.subtract(1, ordering: .relaxed) }

  /// The two words of a new closure of the plan's type; the second is an owned reference.
  package static func make(_ plan: FunctionPlan, _ body: any ClosureBody) -> (code: UInt, context: UInt) {
    _ = installed
    count.add(1, ordering: .relaxed)
    let context = Unmanaged.passRetained(HostClosure(plan: plan, body: body)).toOpaque()
    return (entry, UInt(bitPattern: context))
  }

  /// The object behind a closure that was made here; nil for closures of the program.
  package static func behind(code: UInt, context: UInt) -> HostClosure? {
    guard code == entry, let object = UnsafeRawPointer(bitPattern: context) else { return nil }
    // Only `make` gives out this code, and with such an object.
    return Unmanaged<HostClosure>.fromOpaque(object).takeUnretainedValue()
  }

  private static let entry = UInt(bitPattern: hkt_closure_entry_address())

  private static let installed: Void = hkt_set_closure_handler { frame, context, thread in
    // The context came in r13, where only closures that `make` made have this entry; callers keep it during the call.
    Unmanaged<HostClosure>.fromOpaque(context!)._withUnsafeGuaranteedRef { closure in
      var call = HKTCall()
      call.frame = frame
      call.thread = thread
      call.body = closure.plan.record
      withUnsafeMutablePointer(to: &call) {
        closure.body.run($0, closure.plan)
        ValueWriter($0).endCall()
      }
    }
  }
}
