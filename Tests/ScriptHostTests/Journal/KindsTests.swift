import Glibc
import Testing

@testable import Journal

/// Records of each kind come back from a journal as they were written.
@Suite("record kinds")
struct RecordKindsTests {
  private func roundTrip(_ kind: RecordKind, _ name: FieldName, _ write: (inout FieldWriter) -> Void) -> JournalRecord {
    withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 8) { buffer in
      var fields = FieldWriter(name, into: buffer)
      write(&fields)
      return JournalRecord(
        kind: kind, flags: 0, sequence: 1, monotonic: 2, wall: 3, thread: 4,
        payload: Array(UnsafeRawBufferPointer(start: buffer.baseAddress, count: fields.count)))
    }
  }

  @Test("a span, with and without a parent", arguments: [nil, 0x1234_5678_9abc_def0 as UInt64])
  func span(parent: UInt64?) {
    let span = SpanRecord(
      name: "checkout", trace: TraceID(high: 1, low: .max), span: 7, parent: parent, kind: .server, start: 5, duration: 6,
      status: .error, message: "no", attributes: [Field("items", .integer(3)), Field("card", .masked)])
    let record = roundTrip(.span, "checkout", span.write)
    #expect(SpanRecord(record) == span)
    #expect(MetricRecord(record) == nil)
    let json = EventText.json(record, EventText.Source(program: "p", pid: 1, bootID: "", buildID: ""))
    #expect(json.contains(#""trace":"0000000000000001ffffffffffffffff","span":"0000000000000007""#))
  }

  @Test("metrics of each kind")
  func metrics() {
    let histogram = MetricRecord.Histogram(
      count: 3, sum: 7.5, minimum: 0.5, maximum: 4, scale: 3, zeros: 0, offset: -8, buckets: [1, 0, 2])
    for value in [MetricRecord.Value.counter(3), .gauge(-0.5), .histogram(histogram)] {
      let metric = MetricRecord(
        name: "db.query", unit: "ns", attributes: [Field("table", .string("users"))], start: 9, value: value, isLast: true)
      #expect(MetricRecord(roundTrip(.metric, "db.query", metric.write)) == metric)
    }
  }

  @Test("start-up, network, stall, audit, screen")
  func others() {
    let startup = StartupRecord(stage: "main", at: 12, duration: 3)
    #expect(StartupRecord(roundTrip(.startup, "main", startup.write)) == startup)
    var network = NetworkRecord(method: "GET", url: "http://a/b", host: "a", start: 1, duration: 2)
    network.status = 404
    network.queued = 1
    network.firstByte = 1
    network.trace = TraceID(high: 3, low: 4)
    network.span = 5
    #expect(NetworkRecord(roundTrip(.network, "GET a", network.write)) == network)
    let stall = StallRecord(name: "main", thread: 3, start: 4, duration: 5, isOver: false, stack: ["a", "b"])
    #expect(StallRecord(roundTrip(.stall, "main", stall.write)) == stall)
    let audit = AuditRecord(act: "patch load", user: 1000, process: 7, isAllowed: true, detail: "x")
    #expect(AuditRecord(roundTrip(.audit, "patch load", audit.write)) == audit)
    let screen = ScreenRecord(
      name: "Cart", phase: .disappear, type: "Shop.Cart", previous: "Home", path: "/Home/Cart", number: 2, session: "s", duration: 4)
    #expect(ScreenRecord(roundTrip(.screen, "Cart", screen.write)) == screen)
  }
}
