// CrashItem — the end of a process that crashed or was killed, as exporters see it.
package import Journal

package struct CrashItem: Sendable {
  /// What happened before, at a time after the start of the process in nanoseconds.
  package struct Crumb: Sendable {
    package let time: UInt64
    package let thread: Int
    package let text: String

    package init(time: UInt64, thread: Int, text: String) { (self.time, self.thread, self.text) = (time, thread, text) }

    var line: String { "+\(time / 1_000_000) ms [\(thread)] \(text)" }
  }

  /// The run: as its journal has it, where it has one.
  package let session: JournalSession
  /// The time of the crash, in nanoseconds since 1970.
  package let wall: UInt64
  package let thread: Int
  /// The signal's name.
  package let type: String
  /// The Swift runtime's sentence; empty where it said none.
  package let message: String
  /// Signal and sentence, or that it was killed.
  package let title: String
  /// The patch whose handler was at work; empty for none.
  package let suspect: String
  /// The frames of the thread that crashed, innermost first.
  package let stack: [String]
  /// Oldest first.
  package let crumbs: [Crumb]

  package init(
    session: JournalSession, wall: UInt64, thread: Int, type: String, message: String, title: String, suspect: String, stack: [String],
    crumbs: [Crumb]
  ) {
    self.session = session
    self.wall = wall
    self.thread = thread
    self.type = type
    self.message = message
    self.title = title
    self.suspect = suspect
    self.stack = stack
    self.crumbs = crumbs
  }

  /// Names the crash among all records: the same each time it is exported.
  package var identifier: String { Self.identifier(of: session) }
  package static func identifier(of session: JournalSession) -> String { "\(session.identifier)-crash" }
}
