// TaskCall — the call of an async function in a task of its own, for which a thread waits.
package import CHookTrampoline
private import Glibc

/// An async function as closures are stored where their type is known: an async function pointer and a context.
struct AsyncFunction {
  let call: () async -> Void

  init(_ call: @escaping () async -> Void) { self.call = call }

  /// - Parameters:
  ///   - pointer: of an async function without arguments and result.
  ///   - context: what it finds in r13.
  init(pointer: UInt64, context: AnyObject) {
    // The two words of a closure, the second an owned reference to a native object.
    call = unsafeBitCast((UInt(pointer), UInt(bitPattern: Unmanaged.passRetained(context).toOpaque())), to: (AsyncFunction).self).call
  }
}

/// One call. The thread that waits and the task have it in common.
package final class TaskCall: @unchecked Sendable {
  // Set in init; a semaphore is for any thread.
  /// Stays the first property: hkt_async_run finds the callee behind the object's header.
  private let callee: UnsafeMutablePointer<HKTAsyncCallee>
  private let returned: UnsafeMutablePointer<sem_t>

  private init(_ callee: UnsafeMutablePointer<HKTAsyncCallee>) {
    self.callee = callee
    returned = .allocate(capacity: 1)
    sem_init(returned, 0, 0)
  }

  deinit {
    sem_destroy(returned)
    returned.deallocate()
  }

  /// Calls what is made ready, in a task that belongs to no actor, and waits for it.
  /// - Parameter seconds: how long.
  /// - Returns: false: it has not returned. It may later, and uses its memory until then.
  package static func run(_ callee: UnsafeMutablePointer<HKTAsyncCallee>, within seconds: Int) -> Bool {
    let call = TaskCall(callee)
    Task.detached {
      await AsyncFunction(pointer: hkt_async_run_address(), context: call).call()
      sem_post(call.returned)
    }
    return call.wait(seconds)
  }

  private func wait(_ seconds: Int) -> Bool {
    var end = timespec()
    clock_gettime(CLOCK_REALTIME, &end)
    end.tv_sec += seconds
    while sem_timedwait(returned, &end) != 0 { if errno != EINTR { return false } }
    return true
  }
}
