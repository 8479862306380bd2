// HostLog — how events, logs and failures of patches and of the host leave a hooked call.
private import CCrash
private import Glibc
private import HookRuntime
package import Journal
private import Synchronization

/// Writes to the journal; with `-v` also to stderr. Any thread.
package final class HostLog: Sendable {
  private let recorder: Recorder?
  /// `recorder`, for the path of a call: counting a reference to it would have the threads that record wait for one another.
  private let lasting: Unmanaged<Recorder>?
  /// Where there is no recorder yet; nil where nothing is to be recorded.
  private let late: LateRecorder?
  let isVerbose: Bool
  private let standardError = StandardError()
  private let counts = Mutex(Counts())
  private struct Counts {
    var skips: [String: Int] = [:]
    var leaks: [Leak: Int] = [:]
    /// Whose first failure was reported.
    var reported: Set<String> = []
  }
  private static let mostReported = 1000
  private struct Leak: Hashable { let patch: String, selector: String }

  package init(recorder: Recorder?, late: LateRecorder? = nil, isVerbose: Bool) {
    self.recorder = recorder
    lasting = recorder.map { .passUnretained($0) }
    self.late = late
    self.isVerbose = isVerbose
  }

  /// One message on stderr, whatever the verbosity. Control characters are shown: what a program or a
  /// patch says does not drive the terminal.
  package func say(_ text: String) {
    var shown = ""
    for scalar in text.unicodeScalars {
      if scalar == "\n" || scalar == "\t" { shown.unicodeScalars.append(scalar) } else { shown += EventText.printable(String(scalar)) }
    }
    standardError.write("scripthost: \(shown)\n")
  }

  /// Appends a record whose fields `fill` adds.
  package func append(_ kind: RecordKind, _ name: FieldName, _ fill: (inout FieldWriter) -> Void) {
    (recorder ?? late?.recorder)?.record(kind, name, fill)
  }

  /// Appends a record that may need more room than others.
  /// - Parameter room: in bytes.
  func append(_ kind: RecordKind, _ name: FieldName, room: Int, _ fill: (inout FieldWriter) -> Void) {
    withUnsafeTemporaryAllocation(byteCount: room, alignment: 8) { buffer in
      var fields = FieldWriter(name, into: buffer)
      fill(&fields)
      append(kind, &fields)
    }
  }

  /// Appends a record that is complete.
  /// - Parameter time: the clock of records now, where the caller has read it.
  @inline(__always)
  func append(_ kind: RecordKind, _ fields: inout FieldWriter, at time: UInt64 = 0) {
    guard let lasting else { return appendLate(kind, &fields) }
    // `recorder` holds it as long as this log is there.
    withUnsafeMutablePointer(to: &fields) { fields in lasting._withUnsafeGuaranteedRef { $0.record(kind, in: &fields.pointee, at: time) } }
  }

  @inline(never)
  private func appendLate(_ kind: RecordKind, _ fields: inout FieldWriter) { late?.recorder.record(kind, in: &fields) }

  /// What the crash file tells of the way to a crash.
  func leaveCrumb(_ kind: Int, _ text: String) {
    var text = text
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { if let base = $0.baseAddress { ccrash_note(UInt32(kind), base, $0.count) } }
    }
  }

  /// Something happened in the program that a person would tell of the way to a crash.
  func happened(_ text: String) { leaveCrumb(CCRASH_EVENT, text) }

  package func note(_ name: FieldName, _ message: String) {
    append(.note, name) { $0.add("message", message) }
    leaveCrumb(CCRASH_NOTE, message)
    if isVerbose { say(message) }
  }

  package func log(level: String, patch: String, message: String, source: String, line: Int, _ more: (inout FieldWriter) -> Void = { _ in })
  {
    leaveCrumb(CCRASH_LOG, "\(source):\(line): \(message)")
    var shown = ""
    append(.log, FieldName(level, masked: false)) { fields in
      fields.add("message", message)
      fields.add("patch", patch)
      fields.add("source", "\(source):\(line)")
      let own = fields.count
      more(&fields)
      if isVerbose { shown = EventText.text(fields.fields(from: own)[...]) }
    }
    if isVerbose { say("\(source):\(line): \(level == "print" ? "" : level + ": ")\(message)\(shown)") }
  }

  /// - Parameter instead: what happens in place of what failed; nil for a handler.
  package func failure(patch: String, selector: String, position: String, message: String, instead: String? = nil) {
    leaveCrumb(CCRASH_FAILURE, "\(selector): \(message)")
    append(.failure, "handler failed") { fields in
      fields.add("patch", patch)
      fields.add("selector", selector)
      fields.add("position", position)
      fields.add("message", message)
    }
    // Without `-v` once for each handler: what does not work must not be silent, and must not fill a log either.
    if isVerbose || counts.withLock({ $0.reported.count < Self.mostReported && $0.reported.insert("\(patch) \(position) \(selector)").inserted }) {
      say(
        "\(message) (in \(position) '\(selector)'; \(instead ?? (position == "after" ? "the result stands" : "the original runs instead")))"
      )
    }
  }

  /// A trap was contained. Not told on stderr: whoever answers for it is.
  package func contained(patch: String, selector: String, position: String, message: String, signal: String, place: String?) {
    leaveCrumb(CCRASH_FAILURE, message)
    append(.failure, "trap contained") { fields in
      fields.add("patch", patch)
      fields.add("selector", selector)
      fields.add("position", position)
      fields.add("message", message)
      fields.add("signal", signal)
      if let place { fields.add("place", place) }
    }
  }

  /// Counted; told when the program ends.
  package func skipped(patch: String, selector: String, reason: String) {
    counts.withLock { $0.skips["\(patch): '\(selector)' was skipped: \(reason)", default: 0] += 1 }
  }

  /// Counts calls of methods that may have left the copy of their self behind.
  package func leftSelf(patch: String, selector: String) {
    counts.withLock { $0.leaks[Leak(patch: patch, selector: selector), default: 0] += 1 }
  }

  package func finish() {
    if let lost = recorder?.journal?.dropped, lost > 0 {
      say("\(lost) record\(lost == 1 ? "" : "s") could not be written to the journal\(recorder?.journal?.reason.map { ", \($0)" } ?? "")")
    }
    let counts = counts.withLock { $0 }
    for (text, count) in counts.skips.sorted(by: { $0.key < $1.key }) { note("skipped", "\(text) (\(count) times)") }
    for (call, count) in counts.leaks.sorted(by: { ($0.key.patch, $0.key.selector) < ($1.key.patch, $1.key.selector) }) {
      note(
        "left behind",
        "\(call.patch): \(count) call\(count == 1 ? "" : "s") of '\(call.selector)' may each have left a copy of the value behind: "
          + "its code does not tell whether it consumes its self"
      )
    }
    let left = DeferredReleases.leftCount, early = DeferredReleases.earlyCount
    if left > 0 {
      note(
        "left behind",
        "\(left) old value\(left == 1 ? "" : "s") of variables that handlers changed may be left behind: callers may end them themselves, "
          + "by what they know of their variables"
      )
    }
    if early > 0 {
      note(
        "ended early",
        "\(early) old value\(early == 1 ? "" : "s") ended while a caller may still have used them: \(DeferredReleases.capacity) "
          + "later ones of the thread came"
      )
    }
  }
}
