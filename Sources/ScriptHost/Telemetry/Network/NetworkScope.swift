// NetworkScope — which task of URLSession a call is about, and the place of its request in a trace.
internal import CHookTrampoline
internal import Journal

/// One task: an address may be that of a later task, whose number is another one.
struct NetworkTask: Hashable {
  let address: UInt
  /// Its session's number of it.
  let number: UInt
}

/// Where a request is in a trace: below the span in which its task was resumed.
struct NetworkScope: Sendable {
  let trace: TraceID
  /// Its own.
  let span: UInt64
  let parent: UInt64
  let isRecorded: Bool

  /// The span that runs around the call, on its thread or in its task; nil where there is none.
  init?(around call: UnsafeMutablePointer<HKTCall>) {
    guard ThreadScopes.isUsed else { return nil }
    let thread = ScriptThread.of(call.pointee.thread)
    guard let around = Scopes.current(call, thread)?._withUnsafeGuaranteedRef({ $0 }), around.span != 0 else { return nil }
    (trace, parent, isRecorded) = (around.trace, around.span, around.isRecorded)
    span = thread.pointee.scopes.identifier()
  }
}
