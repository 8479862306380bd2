// AsyncHandlerRun — an async closure around a call of an async function, in the caller's task.
//
// The layer waits (HKT_AWAIT) for the closure, which the dispatcher runs as an async function of the task. `proceed` is another
// async function to it, whose code is the dispatcher's: it runs the layers below and the original, and comes back when they have
// returned (CHookTrampoline/Dispatch/async.c). Nothing blocks a thread, and whatever the task allocates is freed in order.
internal import CHookTrampoline
private import Synchronization

/// One call. Owned by its layer from the first step to the last; used by one step of the task at a time.
final class AsyncHandlerRun: @unchecked Sendable {
  /// Stays the first property: hkt_async_proceed finds the record behind the object's header.
  private let record: UnsafeMutablePointer<HKTAsyncCall>
  /// What the handler sees and changes; lives as long as this object.
  let state: UnsafeMutablePointer<HandlerCall>
  private let over = Atomic<Bool>(false)
  private var thrown: (any Error)?
  private var callee: UnsafeMutablePointer<HKTAsyncCallee>?
  /// What the callee's context belongs to.
  private var function: AsyncFunction?

  typealias Body = @Sendable (AsyncHandlerRun) async throws -> Void

  private init(_ call: UnsafeMutablePointer<HKTCall>, _ handler: Handler) {
    record = hkt_async_call(call)
    state = .allocate(capacity: 1)
    state.initialize(to: HandlerCall(call, HKT_AROUND, .passUnretained(handler)))
  }

  deinit {
    hkt_async_callee_free(callee)
    state.pointee.end()
    state.deinitialize(count: 1)
    state.deallocate()
  }

  var isOver: Bool { over.load(ordering: .acquiring) }

  /// Runs what is below the layer.
  func proceed() async {
    await AsyncFunction(pointer: hkt_async_proceed_address(), context: self).call()
  }

  // MARK: Steps

  /// The layer of every handler that waits.
  static let layer: HKTLayerFunction = { call, context, phase in
    // The context is the handler that was retained for this layer.
    Unmanaged<Handler>.fromOpaque(context!)._withUnsafeGuaranteedRef { handler in
      phase == HKT_AROUND ? begin(call!, handler) : end(call!, handler, isDropped: phase == HKT_DROP)
    }
  }

  /// The call begins: the layer waits for the closure.
  private static func begin(_ call: UnsafeMutablePointer<HKTCall>, _ handler: Handler) -> HKTOutcome {
    guard let body = handler.asyncBody, !handler.isMismatch(call) else { return HKT_FAILED }
    let run = AsyncHandlerRun(call, handler)
    // In the callee's context only; `end` takes it apart.
    let function = AsyncFunction { [unowned(unsafe) run] in
      do { try await body(run) } catch { run.thrown = error }
    }
    let (pointer, context) = unsafeBitCast(function, to: (UInt, UInt).self)
    let record = UnsafeRawPointer(bitPattern: pointer)!
    // An async function pointer: {32-bit relative address of the code, 32-bit size of the callee's context}.
    let code = pointer &+ UInt(bitPattern: Int(record.load(as: Int32.self)))
    guard let callee = hkt_async_callee_new(UnsafeMutableRawPointer(bitPattern: code), record.load(fromByteOffset: 4, as: UInt32.self), 0)
    else { return HKT_FAILED }
    callee.pointee.frame.self_register = UInt64(context)
    run.callee = callee
    run.function = function
    hkt_async_call(call).pointee.callee = callee
    hkt_async_layer(call).pointee.state = Unmanaged.passRetained(run).toOpaque()
    return HKT_AWAIT
  }

  /// The closure has returned, or the call is dropped: what it changed takes effect, or is forgotten.
  private static func end(_ call: UnsafeMutablePointer<HKTCall>, _ handler: Handler, isDropped: Bool) -> HKTOutcome {
    // Retained by `begin`; this step owns it.
    let run = Unmanaged<AsyncHandlerRun>.fromOpaque(hkt_async_layer(call).pointee.state!).takeRetainedValue()
    hkt_async_layer(call).pointee.state = nil
    hkt_async_call(call).pointee.callee = nil
    run.over.store(true, ordering: .releasing)
    defer { run.function = nil }
    if isDropped { return run.state.pointee.abandon() }
    do throws(HandlerError) {
      if let thrown = run.thrown { try run.state.pointee.finish(throwing: thrown) } else { try run.state.pointee.finish() }
      return HKT_HANDLED
    } catch {
      let outcome = run.state.pointee.abandon()
      handler.report(error)
      return outcome
    }
  }
}
