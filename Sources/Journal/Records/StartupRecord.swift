// StartupRecord — a stage of the program's start. The record's name is the stage's. Keep in step with docs/journal.md.

/// The stages, in their order; each is recorded at most once.
package enum StartupStage: String, Sendable, CaseIterable {
  /// The kernel made the process; its clock counts hundredths of a second.
  case process
  /// The loader is done: the preloaded stub began.
  case loader
  /// The host is up, patches and rules are loaded.
  case host
  /// `main` begins.
  case main
  /// The first screen appeared, the first request was handled, or the first command began.
  case first
  /// The host was notified, or saw, that the program is up.
  case stable
}

/// When a stage was reached.
package struct StartupRecord: Sendable, Equatable {
  package var stage: String
  /// Since the process began, nanoseconds.
  package var at: UInt64
  /// Since the stage before, nanoseconds; nil for the first.
  package var duration: UInt64?

  package init(stage: String, at: UInt64, duration: UInt64?) {
    self.stage = stage
    self.at = at
    self.duration = duration
  }

  /// Reads a record; nil when it is none of a start.
  package init?(_ record: JournalRecord) {
    guard record.kind == .startup else { return nil }
    let fields = RecordFields(record)
    self.init(stage: record.name, at: fields.unsigned("at_ns") ?? 0, duration: fields.unsigned("duration_ns"))
  }

  /// Writes the fields; the writer was made with the stage's name.
  package func write(into fields: inout FieldWriter) {
    fields.add("at_ns", at)
    if let duration { fields.add("duration_ns", duration) }
  }
}
