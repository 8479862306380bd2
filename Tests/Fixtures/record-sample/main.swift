// Writes a journal with records of every kind, for the tests of what reads journals.
//
//     record-sample DIRECTORY TRACES [hang]     so many traces of three spans each, and one of everything else; then waits, with hang
import Glibc
import Journal

let words = CommandLine.arguments
let traces = Int(words[2])!
let identity = JournalIdentity(program: RawPath("/opt/shop/bin/shop"), pid: getpid(), bootID: currentBootID(), buildID: "b0a1")
var limits = JournalWriter.Limits()
limits.disk = 4 << 30
let journal = try! JournalWriter(directory: RawPath(words[1]), identity: identity, limits: limits)
var began = clockNanoseconds(CLOCK_MONOTONIC)

func append(_ kind: RecordKind, _ name: String, _ write: (inout FieldWriter) -> Void) {
  withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
    var fields = FieldWriter(FieldName(name, masked: false), into: buffer)
    write(&fields)
    guard journal.append(kind, fields) != nil else { fatalError("a record was not written") }
  }
}

for number in 0..<traces {
  let trace = TraceID(high: 0x1111, low: UInt64(number) + 1)
  let root = UInt64(number) * 10 + 1
  func span(_ name: String, _ id: UInt64, _ parent: UInt64?, _ kind: SpanKind, _ start: UInt64, _ duration: UInt64, _ message: String = "") {
    let record = SpanRecord(
      name: name, trace: trace, span: id, parent: parent, kind: kind, start: began + start, duration: duration,
      status: message.isEmpty ? .ok : .error, message: message,
      attributes: [Field("items", .integer(Int64(number))), Field("password", .masked), Field("text", .string("<b>\"\u{1}; ünï"))],
      links: kind == .client ? [SpanLink(trace: TraceID(high: 0x2222, low: 9), span: 5)] : [])
    append(.span, name) { record.write(into: &$0) }
  }
  span("query", root + 1, root, .client, 1_000_000, 2_000_000)
  span("render", root + 2, root, .internal, 4_000_000, 3_000_000, number % 10 == 3 ? "out of paper" : "")
  span("GET /cart", root, nil, .server, 0, 10_000_000)
}
let histogram = MetricRecord.Histogram(count: 6, sum: 6_000_000, minimum: 500_000, maximum: 2_000_000, scale: 0, zeros: 1, offset: 18, buckets: [2, 1, 2])
for metric in [
  MetricRecord(name: "db.query", unit: "ns", attributes: [Field("table", .string("carts \"x\"\n"))], start: began, value: .histogram(histogram)),
  MetricRecord(name: "orders", start: began, value: .counter(41)), MetricRecord(name: "orders", start: began, value: .counter(42)),
  MetricRecord(name: "queue.length", start: began, value: .gauge(-2.5)),
] { append(.metric, metric.name) { metric.write(into: &$0) } }

var request = NetworkRecord(method: "GET", url: "http://example.test/a", host: "example.test", start: began, duration: 30_000_000)
(request.port, request.proto, request.status) = (80, "http/1.1", 503)
(request.dns, request.connect, request.firstByte, request.responseBytes) = (1_000_000, 3_000_000, 20_000_000, 512)
append(.network, "GET example.test") { request.write(into: &$0) }

for (phase, duration) in [(ScreenRecord.Phase.appear, nil), (.disappear, 5_000_000 as UInt64?)] {
  let screen = ScreenRecord(
    name: "Cart", phase: phase, type: "Shop.CartScreen", previous: "Home", path: "/Home/Cart", number: 2, session: "s1", duration: duration,
    attributes: [])
  append(.screen, "Cart") { screen.write(into: &$0) }
}
for (stage, at) in [("process", 0), ("main", 12_000_000), ("first", 40_000_000)] as [(String, UInt64)] {
  append(.startup, stage) { StartupRecord(stage: stage, at: at, duration: at == 0 ? nil : at / 2).write(into: &$0) }
}
let stall = StallRecord(name: "main", thread: 7, start: began, duration: 400_000_000, isOver: true, stack: ["Shop.Cart.total(tax:) + 12", "main + 4"])
append(.stall, "main") { stall.write(into: &$0) }
append(.event, "checkout") {
  $0.add("total", 12.5)
  $0.add("buyer", "Ada </script><script>alert(1)</script>")
}
append(.log, "warn") { $0.add("message", "low on paper") }
append(.failure, "handler failed") { $0.add("message", "p.lua:3: no") }
print(3 * traces)
if words.count > 3 { while true { sleep(60) } }
