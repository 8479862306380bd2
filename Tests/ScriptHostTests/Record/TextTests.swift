import Foundation
import Glibc
import Testing

@testable import Journal
@testable import ScriptHost

@Suite("event text")
struct RecordTextTests {
  private let source = EventText.Source(program: "shop", pid: 7, bootID: "b", buildID: "00ff")

  private func record(_ kind: RecordKind = .event, _ build: (inout FieldWriter) -> Void) -> JournalRecord {
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
      var fields = FieldWriter("checkout", into: buffer)
      build(&fields)
      return JournalRecord(
        kind: kind, flags: 0, sequence: 5, monotonic: 12, wall: 1_767_225_600_123_456_789, thread: 9,
        payload: Array(UnsafeRawBufferPointer(start: buffer.baseAddress, count: fields.count)))
    }
  }

  @Test("an event is one line of JSON and one of text")
  func lines() {
    let record = record {
      $0.add("total", 3)
      $0.add("note", "a\u{1b}[31m\n\"b\"")
      $0.add(FieldName(given: "apiKey"), "x")
    }
    #expect(
      EventText.json(record, source)
        == #"{"time":"2026-01-01T00:00:00.123456Z","mono_ns":12,"boot":"b","program":"shop","pid":7,"thread":9,"build":"00ff","seq":5,"kind":"event","name":"checkout","fields":{"total":3,"note":"a\u001b[31m\n\"b\"","apiKey":"<masked>"}}"#)
    #expect(
      EventText.text(record, source)
        == #"2026-01-01T00:00:00.123456Z shop[7] checkout total=3 note="a\u001b[31m\n\"b\"" apiKey=<masked>"#)
  }

  @Test("times that the host measured are texts, and its start is left out; a rule's own fields are as they are")
  func times() {
    func shown(_ kind: RecordKind) -> String {
      EventText.text(
        record(kind) {
          $0.add("start_ns", UInt64(58_384_613_881_263))
          $0.add("duration_ns", UInt64(7_455_102))
          for (name, value) in [("a_ns", 999), ("b_ns", 1_000), ("c_ns", 99_960), ("d_ns", 2_350_400_000), ("e_ns", 123_456_000)] {
            $0.add(FieldName(given: name), UInt64(value))
          }
        }, source)
    }
    #expect(shown(.span).hasSuffix("shop[7] span: checkout duration=7.46ms a=999ns b=1.0us c=100.0us d=2.35s e=123ms"))
    #expect(shown(.event).contains("checkout start_ns=58384613881263 duration_ns=7455102 a_ns=999 "))
  }

  @Test("any text is valid JSON and comes back", arguments: [UInt64(3)])
  func json(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let text = String(
        String.UnicodeScalarView((0..<20).compactMap { _ in
          Unicode.Scalar(UInt32.random(in: 0...(Bool.random(using: &random) ? 0x7f : 0x10ffff), using: &random))
        }))
      let line = EventText.json(record { $0.add("text", text) }, source)
      #expect(!line.utf8.contains(10))
      let object = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      let back = (object["fields"] as? [String: Any])?["text"] as? String
      #expect(back.map { Array($0.utf8) } == Array(text.utf8), "seed \(seed)")
    }
  }

  @Test("times agree with another implementation", arguments: [UInt64(1)])
  func times(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let formatter = ISO8601DateFormatter()
    for _ in 0..<500 {
      let seconds = UInt64.random(in: 0..<9_000_000_000, using: &random)
      let text = EventText.rfc3339(seconds * 1_000_000_000 + 5000)
      #expect(text == formatter.string(from: Date(timeIntervalSince1970: Double(seconds))).dropLast() + ".000005Z")
      #expect(EventText.nanoseconds(rfc3339: text) == seconds * 1_000_000_000 + 5000)
    }
    #expect(EventText.nanoseconds(rfc3339: "1970-01-02") == 86_400_000_000_000)
    #expect(EventText.nanoseconds(rfc3339: "1970-01-01T01:00+01:00") == 0)
    for bad in ["", "x", "2026", "2026-13-01", "2026-01-01T25:00Z", "2026-01-01T1", "10m", "1960-01-01", "2300-01-01", "999999999999-01-01"] {
      #expect(EventText.nanoseconds(rfc3339: bad) == nil)
    }
  }

  @Test("a sink writes lines, drops what a full pipe does not take and survives a closed one")
  func sink() throws {
    var closed: Int32 = -1
    do {
      let output = try OutputPipe()
      closed = dup(output.writing)
      let sink = try EventSink(RawPath("fd:\(output.writing)"), source: source)
      let record = record { $0.add("text", String(repeating: "x", count: 500)) }
      for _ in 0..<1000 { sink.write(record) }
      #expect(sink.dropped > 500)
      #expect(String(decoding: output.next(), as: UTF8.self).hasPrefix(EventText.json(record, source) + "\n"))
    }
    // The reading end is gone now.
    let sink = try EventSink(RawPath("fd:\(closed)"), source: source)
    sink.write(record { $0.add("text", "x") })
    #expect(sink.dropped == 1)
    close(closed)
    #expect(throws: EventSinkError.notOpen("fd:9999")) { try EventSink(RawPath("fd:9999"), source: source) }
  }

  @Test("a recorder without a place to write keeps events in memory and says so once")
  func recorder() throws {
    var problems: [String] = []
    let identity = JournalIdentity(program: RawPath("/bin/x"), pid: 1, bootID: "", buildID: "")
    let recorder = Recorder(state: RawPath("/dev/null/x"), events: nil, identity: identity, problems: &problems)
    recorder.record(.log, "info") { $0.add("message", "hello") }
    #expect(problems.count == 1)
    #expect(recorder.journal?.recent(5).map(\.fields) == [[Field("message", .string("hello"))]])
    problems = []
    let file = try Place.scratch() + "/events.jsonl"
    let second = Recorder(state: RawPath("/dev/null/x"), events: RawPath(file), identity: identity, problems: &problems)
    second.record(.event, "a")
    #expect(problems == [])
    #expect(try String(contentsOfFile: file, encoding: .utf8).contains("\"name\":\"a\""))
  }
}
