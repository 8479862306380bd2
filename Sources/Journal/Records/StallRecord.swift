// StallRecord — a thread, an event loop or the pool did not go on for longer than its threshold. The record's name says
// which: "main", "pool", or the thread's name. Keep in step with docs/journal.md.

/// One stall, recorded when it is over, or while it lasts (`isOver` false) so that a kill does not lose it.
package struct StallRecord: Sendable, Equatable {
  package var name: String
  /// The kernel's number of the thread.
  package var thread: UInt32
  /// CLOCK_MONOTONIC, nanoseconds.
  package var start: UInt64
  /// So far, nanoseconds.
  package var duration: UInt64
  package var isOver: Bool
  /// What the thread was at, innermost first: "Shop.Cart.total(tax:) + 12" or an address.
  package var stack: [String]

  package init(name: String, thread: UInt32, start: UInt64, duration: UInt64, isOver: Bool, stack: [String]) {
    self.name = name
    self.thread = thread
    self.start = start
    self.duration = duration
    self.isOver = isOver
    self.stack = stack
  }

  /// Reads a record; nil when it is none of a stall.
  package init?(_ record: JournalRecord) {
    guard record.kind == .stall else { return nil }
    let fields = RecordFields(record)
    self.init(
      name: record.name, thread: UInt32(truncatingIfNeeded: fields.unsigned("thread") ?? 0), start: fields.unsigned("start_ns") ?? 0,
      duration: fields.unsigned("duration_ns") ?? 0, isOver: fields.bool("over") ?? true,
      stack: fields.list("stack").map { if case .string(let text, _) = $0 { text } else { "" } })
  }

  /// Writes the fields; the writer was made with the stall's name.
  package func write(into fields: inout FieldWriter) {
    fields.add("thread", UInt64(thread))
    fields.add("start_ns", start)
    fields.add("duration_ns", duration)
    fields.add("over", isOver)
    fields.add("stack", .list(stack.map { .string($0) }))
  }
}
