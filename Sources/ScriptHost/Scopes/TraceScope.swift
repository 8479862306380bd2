// TraceScope — what a running call passes on to everything below it: its trace, its span, the fields of its context.
//
// A synchronous call passes it on by the stack of its thread (ThreadScopes), an async one by a task-local value of its task (TaskScopes), which
// follows it across `await` and is inherited by child tasks and by `Task { }`, as the runtime does it for any task-local value.
internal import Journal

/// Immutable; shared by the call, its task and the tasks that inherit it.
final class TraceScope: Sendable {
  let trace: TraceID
  /// 0 where there is no span: a context alone.
  let span: UInt64
  /// The span around it; 0 for the root of a trace that began here.
  let parent: UInt64
  /// Nothing of this process is around it.
  let isRoot: Bool
  /// CLOCK_MONOTONIC, nanoseconds.
  let start: UInt64
  /// Chosen by the root's sample.
  let isSampled: Bool
  /// Where records wait until the root is over and known to be slow; nil where they need not.
  let tail: TraceTail?
  /// Fields of contexts, own ones included, as records have them.
  let context: [UInt8]
  /// Attributes that were captured when the call began.
  let attributes: [UInt8]
  /// The span's name, where it is made of values of the call.
  let name: String?
  /// Other spans that the call named.
  let links: [SpanLink]

  init(
    trace: TraceID, span: UInt64, parent: UInt64, isRoot: Bool = false, start: UInt64, isSampled: Bool, tail: TraceTail?,
    context: [UInt8], attributes: [UInt8] = [], name: String? = nil, links: [SpanLink] = []
  ) {
    self.trace = trace
    self.span = span
    self.parent = parent
    self.isRoot = isRoot
    self.start = start
    self.isSampled = isSampled
    self.tail = tail
    self.context = context
    self.attributes = attributes
    self.name = name
    self.links = links
  }

  /// Whether spans below it are recorded, now or when the root is over.
  var isRecorded: Bool { isSampled || tail != nil }
}
