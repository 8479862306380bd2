// AuditRecord — somebody outside changed the program, or looked into it. The record's name is the act: "patch load",
// "console", "rule remove". Keep in step with docs/journal.md.

/// One act.
package struct AuditRecord: Sendable, Equatable {
  package var act: String
  /// The user's number and the process that asked.
  package var user: UInt32
  package var process: Int32
  package var isAllowed: Bool
  /// What was done it to, or why it was refused.
  package var detail: String

  package init(act: String, user: UInt32, process: Int32, isAllowed: Bool, detail: String) {
    self.act = act
    self.user = user
    self.process = process
    self.isAllowed = isAllowed
    self.detail = detail
  }

  /// Reads a record; nil when it is none of an act.
  package init?(_ record: JournalRecord) {
    guard record.kind == .audit else { return nil }
    let fields = RecordFields(record)
    self.init(
      act: record.name, user: UInt32(truncatingIfNeeded: fields.unsigned("user") ?? 0),
      process: Int32(truncatingIfNeeded: fields.integer("process") ?? 0), isAllowed: fields.bool("allowed") ?? false,
      detail: fields.text("detail") ?? "")
  }

  /// Writes the fields; the writer was made with the act's name.
  package func write(into fields: inout FieldWriter) {
    fields.add("user", UInt64(user))
    fields.add("process", Int64(process))
    fields.add("allowed", isAllowed)
    fields.add("detail", detail)
  }
}
