// TelemetryItem — one record of a journal as exporters see it: what kind of thing happened, in which run, when.
package import Journal

/// A record with the run of the program that wrote it.
package struct TelemetryItem: Sendable {
  package enum Content: Sendable {
    case span(SpanRecord)
    case metric(MetricRecord)
    case network(NetworkRecord)
    case screen(ScreenRecord)
    case startup(StartupRecord)
    case stall(StallRecord)
    case sample(SampleRecord)
    /// Events, log lines, failures, notes, audits, gaps: a name and fields.
    case event([Field])
  }

  package let session: JournalSession
  package let record: JournalRecord
  package let content: Content

  package init(_ record: JournalRecord, in session: JournalSession) {
    self.session = session
    self.record = record
    content =
      SpanRecord(record).map(Content.span) ?? MetricRecord(record).map(Content.metric) ?? NetworkRecord(record).map(Content.network)
      ?? ScreenRecord(record).map(Content.screen) ?? StartupRecord(record).map(Content.startup) ?? StallRecord(record).map(Content.stall)
      ?? SampleRecord(record).map(Content.sample) ?? .event(record.fields)
  }

  /// Nanoseconds since 1970 of a moment on the run's monotonic clock. The wall clock of the run's start is what counts, so that
  /// a clock that was set meanwhile does not tear spans apart.
  package func wall(_ monotonic: UInt64) -> UInt64 { session.wall(monotonic) }

  /// Names the record among all: the same each time it is exported, so that a receiver can drop what it has.
  package var identifier: String { "\(session.identifier)-\(String(record.sequence, radix: 16))" }

  /// Order within a run; between runs, by the wall clock.
  package static func isEarlier(_ a: TelemetryItem, _ b: TelemetryItem) -> Bool {
    if a.session == b.session { return JournalRecord.isEarlier(a.record, b.record) }
    return a.record.wall < b.record.wall
  }
}

extension JournalSession {
  /// Names one run of one program on one machine.
  package var identifier: String { "\(pid)-\(String(startWall, radix: 16))" }

  package func wall(_ monotonic: UInt64) -> UInt64 { startWall &+ (monotonic &- startMonotonic) }
}

extension FieldValue {
  /// The value as text without quotes, for labels and cells.
  package var plainText: String {
    switch self {
    case .null: ""
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .double(let value): "\(value)"
    case .string(let text, _): text
    case .masked: "<masked>"
    case .identifier(let low, let high): EventText.hexadecimal(low, high)
    default: JSONText.value(self)
    }
  }
}
