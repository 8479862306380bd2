// SpanRecord — a piece of work that is over: when it began, how long it took, what it belonged to.
//
// The record is written when the span ends. Its name is the span's. Keep in step with docs/journal.md.

/// What names a trace: 16 bytes, never all zero.
package struct TraceID: Hashable, Sendable, CustomStringConvertible {
  package var high: UInt64
  package var low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// 32 hexadecimal digits.
  package var description: String { EventText.hexadecimal(low, high) }
}

/// Another span that a span has to do with, of any trace: a message that it takes up, a request that it serves with others.
package struct SpanLink: Sendable, Equatable {
  package var trace: TraceID
  package var span: UInt64

  package init(trace: TraceID, span: UInt64) {
    self.trace = trace
    self.span = span
  }
}

/// Which side of a conversation a span is.
package enum SpanKind: UInt8, Sendable, CaseIterable {
  case `internal` = 1
  case server = 2
  case client = 3
  case producer = 4
  case consumer = 5
}

/// How a piece of work ended.
package enum SpanStatus: UInt8, Sendable, CaseIterable {
  case unset = 0
  case ok = 1
  case error = 2
}

/// A span as the journal has it.
package struct SpanRecord: Sendable, Equatable {
  package var name: String
  package var trace: TraceID
  package var span: UInt64
  /// The span around it; nil for the root of a trace.
  package var parent: UInt64?
  package var kind: SpanKind
  /// CLOCK_MONOTONIC, nanoseconds.
  package var start: UInt64
  /// Nanoseconds.
  package var duration: UInt64
  package var status: SpanStatus
  /// What the error was; empty without one.
  package var message: String
  package var attributes: [Field]
  package var links: [SpanLink]

  package init(
    name: String, trace: TraceID, span: UInt64, parent: UInt64?, kind: SpanKind, start: UInt64, duration: UInt64,
    status: SpanStatus = .unset, message: String = "", attributes: [Field] = [], links: [SpanLink] = []
  ) {
    self.name = name
    self.trace = trace
    self.span = span
    self.parent = parent
    self.kind = kind
    self.start = start
    self.duration = duration
    self.status = status
    self.message = message
    self.attributes = attributes
    self.links = links
  }

  /// Reads a record; nil when it is none of a span.
  package init?(_ record: JournalRecord) {
    guard record.kind == .span else { return nil }
    let fields = RecordFields(record)
    guard let trace = fields.trace("trace"), let span = fields.identifier("span") else { return nil }
    self.init(
      name: record.name, trace: trace, span: span, parent: fields.identifier("parent"),
      kind: SpanKind.allCases.first { "\($0)" == fields.text("kind") } ?? .internal,
      start: fields.unsigned("start_ns") ?? 0, duration: fields.unsigned("duration_ns") ?? 0,
      status: SpanStatus.allCases.first { "\($0)" == fields.text("status") } ?? .unset,
      message: fields.text("message") ?? "", attributes: fields.object("attributes"), links: fields.list("links").compactMap(SpanLink.init))
  }

  /// Writes the fields; the writer was made with the span's name.
  package func write(into fields: inout FieldWriter) {
    fields.add("trace", identifier: trace.low, high: trace.high)
    fields.add("span", identifier: span)
    if let parent { fields.add("parent", identifier: parent) }
    fields.add("kind", "\(kind)")
    fields.add("start_ns", start)
    fields.add("duration_ns", duration)
    fields.add("status", "\(status)")
    if !message.isEmpty { fields.add("message", message) }
    if !links.isEmpty {
      fields.beginList("links")
      for link in links { link.write(into: &fields) }
      fields.end()
    }
    fields.add("attributes", attributes)
  }
}

extension SpanLink {
  /// Reads an element of a record's list; nil for anything else.
  init?(_ value: FieldValue) {
    guard case .object(let fields) = value, case .identifier(let low, let high?)? = fields.first(where: { $0.name == "trace" })?.value,
      case .identifier(let span, nil)? = fields.first(where: { $0.name == "span" })?.value
    else { return nil }
    self.init(trace: TraceID(high: high, low: low), span: span)
  }

  /// Writes an element of the list.
  package func write(into fields: inout FieldWriter) {
    fields.beginObject(FieldWriter.noName)
    fields.add("trace", identifier: trace.low, high: trace.high)
    fields.add("span", identifier: span)
    fields.end()
  }
}
