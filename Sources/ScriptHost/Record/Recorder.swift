// Recorder — the one place the host records to: journal, and the `--events` sink.
private import CHookTrampoline
internal import Glibc
package import Journal

/// Records events, log lines, failures and notes of this process. May be used from any thread, but
/// not from signal handlers.
package final class Recorder: Sendable {
  /// The newest records, and all of them on disk when there is a state directory.
  package let journal: JournalWriter?
  /// `journal`, for the path of a call (HostLog.lasting).
  private let lasting: Unmanaged<JournalWriter>?
  private let sink: EventSink?

  /// Opens what can be opened. What cannot becomes one sentence each in `problems`; the journal
  /// then keeps the newest records in memory.
  package init(
    state: RawPath?, events: RawPath?, identity: JournalIdentity, limits: JournalWriter.Limits = JournalWriter.Limits(),
    problems: inout [String]
  ) {
    JournalWriter.runThreadEnds { hkt_with_stack($0, $1) }
    journal = Self.openJournal(state, identity, limits, quiet: events != nil, &problems)
    lasting = journal.map { .passUnretained($0) }
    do {
      let source = EventText.Source(
        program: String(decoding: identity.program.lastComponent, as: UTF8.self), pid: identity.pid,
        bootID: identity.bootID, buildID: identity.buildID)
      sink = try events.map { destination throws(EventSinkError) in try EventSink(destination, source: source) }
    } catch {
      problems.append(error.description)
      sink = nil
    }
  }

  private static func openJournal(
    _ state: RawPath?, _ identity: JournalIdentity, _ limits: JournalWriter.Limits, quiet: Bool, _ problems: inout [String]
  ) -> JournalWriter? {
    do {
      return try JournalWriter(directory: state.map(StateDirectory.journal), identity: identity, limits: limits)
    } catch {
      // With --events the user has a record already.
      if !quiet { problems.append(error.description) }
      return try? JournalWriter(directory: nil, identity: identity)
    }
  }

  /// Records one thing and answers its sequence number, nil when the journal dropped it.
  @discardableResult
  package func record(_ kind: RecordKind, _ fields: borrowing FieldWriter) -> UInt64? {
    let sequence = journal?.append(kind, fields)
    if let sink { write(kind, fields, sequence ?? 0, to: sink) }
    return sequence
  }

  /// Records on the path of a call: the writer is not copied on its way to the journal.
  @inline(__always)
  func record(_ kind: RecordKind, in place: inout FieldWriter, at time: UInt64 = 0) {
    let (words, isCut) = (place.words(), place.isCut)
    // `journal` holds it as long as this recorder is there.
    let sequence = lasting.flatMap { $0._withUnsafeGuaranteedRef { $0.append(kind, words, isCut: isCut, at: time) } }
    if let sink { write(kind, place, sequence ?? 0, to: sink) }
  }

  @inline(never)
  private func write(_ kind: RecordKind, _ fields: borrowing FieldWriter, _ sequence: UInt64, to sink: EventSink) {
    sink.write(
      JournalRecord(
        kind: kind, flags: fields.isCut ? RecordFormat.flagCut : 0, sequence: sequence,
        monotonic: clockNanoseconds(CLOCK_MONOTONIC), wall: clockNanoseconds(CLOCK_REALTIME),
        thread: currentThreadID(), payload: Array(UnsafeRawBufferPointer(start: fields.base, count: fields.count))))
  }

  /// Records with a scratch buffer of this call: for what is rare enough to allow a closure.
  @discardableResult
  package func record(_ kind: RecordKind, _ name: FieldName, _ build: (inout FieldWriter) -> Void = { _ in }) -> UInt64? {
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
      var fields = FieldWriter(name, into: buffer)
      build(&fields)
      return record(kind, fields)
    }
  }
}
