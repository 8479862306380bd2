// ScreenRecord — a screen, a request handler or a command appeared, or disappeared. The record's name is the screen's.
// Keep in step with docs/journal.md.

/// One appearance or disappearance.
package struct ScreenRecord: Sendable, Equatable {
  package enum Phase: String, Sendable {
    case appear, disappear
  }

  package var name: String
  package var phase: Phase
  /// The type of the object, of the leaf of its chain of overrides.
  package var type: String
  /// The name of the screen that appeared before it; nil for the first.
  package var previous: String?
  /// Names of the screens that are there, outermost first, this one included: "/cart/checkout".
  package var path: String
  /// Counts appearances in the process, from 1; an appearance and its disappearance have the same.
  package var number: UInt64
  /// Names the run of the program in which it was.
  package var session: String
  /// How long it was there, nanoseconds; of a disappearance only.
  package var duration: UInt64?
  package var attributes: [Field]

  package init(
    name: String, phase: Phase, type: String, previous: String?, path: String, number: UInt64, session: String, duration: UInt64?,
    attributes: [Field] = []
  ) {
    self.name = name
    self.phase = phase
    self.type = type
    self.previous = previous
    self.path = path
    self.number = number
    self.session = session
    self.duration = duration
    self.attributes = attributes
  }

  /// Reads a record; nil when it is none of a screen.
  package init?(_ record: JournalRecord) {
    guard record.kind == .screen else { return nil }
    let fields = RecordFields(record)
    guard let phase = fields.text("phase").flatMap(Phase.init) else { return nil }
    self.init(
      name: record.name, phase: phase, type: fields.text("type") ?? "", previous: fields.text("previous"),
      path: fields.text("path") ?? "", number: fields.unsigned("number") ?? 0, session: fields.text("session") ?? "",
      duration: fields.unsigned("duration_ns"), attributes: fields.object("attributes"))
  }

  /// Writes the fields; the writer was made with the screen's name.
  package func write(into fields: inout FieldWriter) {
    fields.add("phase", phase.rawValue)
    fields.add("type", type)
    if let previous { fields.add("previous", previous) }
    fields.add("path", path)
    fields.add("number", number)
    fields.add("session", session)
    if let duration { fields.add("duration_ns", duration) }
    fields.add("attributes", attributes)
  }
}
