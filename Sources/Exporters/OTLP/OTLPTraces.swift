// OTLPTraces — spans and network requests, in the messages of opentelemetry/proto/trace/v1.
package import Journal

extension ProtobufWriter {
  /// Span { trace_id = 1, span_id = 2, parent = 4, name = 5, kind = 6, start = 7, end = 8, attributes = 9, links = 13, status = 15 }.
  mutating func span(_ field: Int, _ item: TelemetryItem) {
    switch item.content {
    case .span(let span): self.span(field, item, span)
    case .network(let request): self.span(field, item, SpanRecord(request, item))
    default: break
    }
  }

  private mutating func span(_ field: Int, _ item: TelemetryItem, _ span: SpanRecord) {
    message(field) {
      $0.bytes(1, span.trace.bytes)
      $0.bytes(2, span.span.bigEndianBytes)
      if let parent = span.parent { $0.bytes(4, parent.bigEndianBytes) }
      $0.string(5, span.name)
      $0.uint(6, UInt64(span.kind.rawValue))
      let start = item.wall(span.start)
      $0.fixed64(7, start)
      $0.fixed64(8, start &+ span.duration)
      $0.attributes(9, span.attributes)
      if let error = span.errorType { $0.attribute(9, "error.type", error) }
      $0.attribute(9, "thread.id", .integer(Int64(item.record.thread)))
      // Link { trace_id = 1, span_id = 2 }.
      for link in span.links {
        $0.message(13) {
          $0.bytes(1, link.trace.bytes)
          $0.bytes(2, link.span.bigEndianBytes)
        }
      }
      // Status { message = 2, code = 3 }.
      if span.status != .unset || !span.message.isEmpty {
        $0.message(15) {
          if !span.message.isEmpty { $0.string(2, span.message) }
          $0.uint(3, UInt64(span.status == .error ? 2 : span.status == .ok ? 1 : 0))
        }
      }
    }
  }
}

extension SpanRecord {
  /// A request as a client span, by the semantic conventions for HTTP.
  package init(_ request: NetworkRecord, _ item: TelemetryItem) {
    var attributes = [
      Field("http.request.method", .string(request.method)), Field("url.full", .string(request.url)),
      Field("server.address", .string(request.host)),
    ]
    func add(_ name: String, _ value: UInt64?) { if let value { attributes.append(Field(name, .unsigned(value))) } }
    if let port = request.port { attributes.append(Field("server.port", .integer(Int64(port)))) }
    if let slash = request.proto.firstIndex(of: "/") {
      attributes.append(Field("network.protocol.name", .string(String(request.proto[..<slash]))))
      attributes.append(Field("network.protocol.version", .string(String(request.proto[request.proto.index(after: slash)...]))))
    }
    if let status = request.status { attributes.append(Field("http.response.status_code", .integer(Int64(status)))) }
    let isError = request.error != nil || (request.status ?? 0) >= 400
    if isError { attributes.append(Field("error.type", .string(request.error ?? "\(request.status ?? 0)"))) }
    add("http.request.body.size", request.requestBytes)
    add("http.response.body.size", request.responseBytes)
    add("scripthost.queued_ns", request.queued)
    add("scripthost.dns_ns", request.dns)
    add("scripthost.connect_ns", request.connect)
    add("scripthost.tls_ns", request.tls)
    add("scripthost.first_byte_ns", request.firstByte)
    if let redirects = request.redirects { attributes.append(Field("scripthost.redirects", .integer(Int64(redirects)))) }
    if let retries = request.retries { attributes.append(Field("http.request.resend_count", .integer(Int64(retries)))) }
    // A request outside of every trace is one of its own; the same ids each time it is exported.
    let own = item.session.startWall ^ item.record.sequence &* 0x9e37_79b9_7f4a_7c15
    self.init(
      name: request.method, trace: request.trace ?? TraceID(high: item.session.startWall, low: own | 1), span: request.span ?? own | 1,
      parent: request.parent, kind: .client, start: request.start, duration: request.duration, status: isError ? .error : .unset,
      message: request.error ?? "", attributes: attributes)
  }
}

extension SpanRecord {
  /// What `error.type` of a span that failed is, where no attribute says it: a server's status, or what the conventions have for anything else.
  var errorType: String? {
    guard status == .error, !attributes.contains(where: { $0.name == "error.type" }) else { return nil }
    if case .integer(let code)? = attributes.first(where: { $0.name == "http.response.status_code" })?.value, code >= 400 { return "\(code)" }
    return "_OTHER"
  }
}

extension TraceID {
  var bytes: [UInt8] { high.bigEndianBytes + low.bigEndianBytes }
}

extension UInt64 {
  var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}
