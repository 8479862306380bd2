// IncomingTrace — the trace that whoever started the program was in: TRACEPARENT in its environment, as OpenTelemetry passes it on.
private import Glibc
internal import Journal

struct IncomingTrace: Sendable {
  let trace: TraceID
  let span: UInt64

  /// Read once; nil where there is none.
  static let shared: IncomingTrace? = getenv("TRACEPARENT").flatMap { IncomingTrace(String(cString: $0)) }

  /// "00-" 32 digits "-" 16 digits "-" flags (W3C Trace Context); nil for anything else.
  init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 4, parts[0].utf8.count == 2, parts[1].utf8.count == 32, parts[2].utf8.count == 16,
      let high = UInt64(parts[1].prefix(16), radix: 16), let low = UInt64(parts[1].suffix(16), radix: 16), let span = UInt64(parts[2], radix: 16),
      high | low != 0, span != 0
    else { return nil }
    trace = TraceID(high: high, low: low)
    self.span = span
  }
}
