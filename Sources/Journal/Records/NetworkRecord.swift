// NetworkRecord — a request over the network that is over. It is a client span, too, when it has a trace.
//
// The record's name is "METHOD host". Keep in step with docs/journal.md.

/// One request, with what the transfer library told about it. Durations are nanoseconds; what is not known is nil.
package struct NetworkRecord: Sendable, Equatable {
  package var method: String
  /// It has neither user nor password, query or fragment.
  package var url: String
  package var host: String
  package var port: Int?
  /// "http/1.1" and so on; empty when it is not known.
  package var proto = ""
  /// Of the response; nil when there was none.
  package var status: Int?
  /// Why it failed; nil when it did not.
  package var error: String?
  package var requestBytes: UInt64?
  package var responseBytes: UInt64?
  /// When it was resumed: CLOCK_MONOTONIC, nanoseconds.
  package var start: UInt64
  package var duration: UInt64
  /// From the start until the client gave the request to its transfer library: it waits for threads of the client's own.
  package var queued: UInt64?
  /// From the start until the name was looked up, the connection made, TLS agreed, the first byte there.
  package var dns: UInt64?
  package var connect: UInt64?
  package var tls: UInt64?
  package var firstByte: UInt64?
  package var redirects: Int?
  /// How often it was sent before: a server asked for credentials.
  package var retries: Int?
  package var trace: TraceID?
  package var span: UInt64?
  package var parent: UInt64?
  /// What asked: "URLSession" and so on.
  package var client = ""

  package init(method: String, url: String, host: String, start: UInt64, duration: UInt64) {
    self.method = method
    self.url = url
    self.host = host
    self.start = start
    self.duration = duration
  }

  /// Reads a record; nil when it is none of a request.
  package init?(_ record: JournalRecord) {
    guard record.kind == .network else { return nil }
    let fields = RecordFields(record)
    self.init(
      method: fields.text("method") ?? "", url: fields.text("url") ?? "", host: fields.text("host") ?? "",
      start: fields.unsigned("start_ns") ?? 0, duration: fields.unsigned("duration_ns") ?? 0)
    port = fields.integer("port").map { Int($0) }
    proto = fields.text("protocol") ?? ""
    status = fields.integer("status").map { Int($0) }
    error = fields.text("error")
    requestBytes = fields.unsigned("request_bytes")
    responseBytes = fields.unsigned("response_bytes")
    queued = fields.unsigned("queued_ns")
    dns = fields.unsigned("dns_ns")
    connect = fields.unsigned("connect_ns")
    tls = fields.unsigned("tls_ns")
    firstByte = fields.unsigned("first_byte_ns")
    redirects = fields.integer("redirects").map { Int($0) }
    retries = fields.integer("retries").map { Int($0) }
    trace = fields.trace("trace")
    span = fields.identifier("span")
    parent = fields.identifier("parent")
    client = fields.text("client") ?? ""
  }

  /// Writes the fields; the writer was made with the record's name.
  package func write(into fields: inout FieldWriter) {
    fields.add("method", method)
    fields.add("url", url)
    fields.add("host", host)
    if let port { fields.add("port", port) }
    if !proto.isEmpty { fields.add("protocol", proto) }
    if let status { fields.add("status", status) }
    if let error { fields.add("error", error) }
    if let requestBytes { fields.add("request_bytes", requestBytes) }
    if let responseBytes { fields.add("response_bytes", responseBytes) }
    fields.add("start_ns", start)
    fields.add("duration_ns", duration)
    if let queued { fields.add("queued_ns", queued) }
    if let dns { fields.add("dns_ns", dns) }
    if let connect { fields.add("connect_ns", connect) }
    if let tls { fields.add("tls_ns", tls) }
    if let firstByte { fields.add("first_byte_ns", firstByte) }
    if let redirects { fields.add("redirects", redirects) }
    if let retries { fields.add("retries", retries) }
    if let trace { fields.add("trace", identifier: trace.low, high: trace.high) }
    if let span { fields.add("span", identifier: span) }
    if let parent { fields.add("parent", identifier: parent) }
    if !client.isEmpty { fields.add("client", client) }
  }
}
