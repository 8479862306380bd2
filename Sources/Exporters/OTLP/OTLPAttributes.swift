// OTLPAttributes — resources, scopes and attributes, in the messages of opentelemetry/proto/common/v1 and resource/v1.
internal import Journal

extension ProtobufWriter {
  /// KeyValue { key = 1, value = 2 }.
  mutating func attribute(_ field: Int, _ key: String, _ value: FieldValue) {
    message(field) {
      $0.string(1, key)
      $0.anyValue(2, value)
    }
  }
  mutating func attribute(_ field: Int, _ key: String, _ value: String) { attribute(field, key, .string(value)) }
  mutating func attributes(_ field: Int, _ fields: [Field]) { for each in fields { attribute(field, each.name, each.value) } }

  /// AnyValue { string = 1, bool = 2, int = 3, double = 4, array = 5, kvlist = 6 }; null is an empty message.
  mutating func anyValue(_ field: Int, _ value: FieldValue) {
    message(field) {
      switch value {
      case .null: break
      case .bool(let value): $0.bool(2, value)
      case .integer(let value): $0.int(3, value)
      // What does not fit a signed number keeps its digits.
      case .unsigned(let value): if let signed = Int64(exactly: value) { $0.int(3, signed) } else { $0.string(1, "\(value)") }
      case .double(let value): $0.double(4, value)
      case .list(let values): $0.message(5) { list in for each in values { list.anyValue(1, each) } }
      case .object(let fields): $0.message(6) { list in list.attributes(1, fields) }
      default: $0.string(1, value.plainText)
      }
    }
  }

  /// Resource { attributes = 1 }: who wrote the journal. A program's version is not in its file: the build is.
  mutating func resource(_ field: Int, _ session: JournalSession) {
    message(field) {
      $0.attribute(1, "service.name", session.programName)
      if !session.buildID.isEmpty { $0.attribute(1, "service.version", session.buildID) }
      $0.attribute(1, "service.instance.id", session.identifier)
      $0.attribute(1, "process.pid", .integer(Int64(session.pid)))
      $0.attribute(1, "process.executable.path", session.program.description)
      if !session.buildID.isEmpty { $0.attribute(1, "process.executable.build_id.gnu", session.buildID) }
      $0.attribute(1, "process.runtime.name", "swift")
      $0.attribute(1, "telemetry.sdk.name", "scripthost")
      $0.attribute(1, "telemetry.sdk.language", "swift")
      $0.attribute(1, "telemetry.sdk.version", HostVersion.text)
    }
  }

  /// InstrumentationScope { name = 1, version = 2 }.
  mutating func scope(_ field: Int) {
    message(field) {
      $0.string(1, "scripthost")
      $0.string(2, HostVersion.text)
    }
  }
}

/// A body of one of the three OTLP services, and how many records it carries.
package struct OTLPBody: Sendable {
  /// The path of the service below the collector's address.
  package let path: String
  package let bytes: [UInt8]
  package let count: Int
}

/// Turns records into bodies: at most one for each service.
package enum OTLP {
  /// A body of logs with a crash for each entry.
  package static func body(_ crashes: [CrashItem]) -> OTLPBody? {
    if crashes.isEmpty { return nil }
    var writer = ProtobufWriter()
    for crash in crashes {
      writer.message(1) {
        $0.resource(1, crash.session)
        $0.message(2) {
          $0.scope(1)
          $0.logRecord(2, crash)
        }
      }
    }
    return OTLPBody(path: "/v1/logs", bytes: writer.bytes, count: crashes.count)
  }

  package static func bodies(_ items: [TelemetryItem]) -> [OTLPBody] {
    var bySession: [(JournalSession, [TelemetryItem])] = []
    for item in items {
      if let place = bySession.firstIndex(where: { $0.0 == item.session }) {
        bySession[place].1.append(item)
      } else {
        bySession.append((item.session, [item]))
      }
    }
    // The three requests have one shape: resources = 1 { resource = 1, scopes = 2 { scope = 1, entries = 2 } }.
    func body(_ path: String, _ wanted: (TelemetryItem) -> Bool, _ write: (inout ProtobufWriter, TelemetryItem) -> Void) -> OTLPBody? {
      var writer = ProtobufWriter()
      var count = 0
      for (session, items) in bySession {
        let chosen = items.filter(wanted)
        guard !chosen.isEmpty else { continue }
        count += chosen.count
        writer.message(1) {
          $0.resource(1, session)
          $0.message(2) {
            $0.scope(1)
            for item in chosen { write(&$0, item) }
          }
        }
      }
      return count == 0 ? nil : OTLPBody(path: path, bytes: writer.bytes, count: count)
    }
    return [
      body("/v1/traces", \.isSpan) { $0.span(2, $1) }, body("/v1/metrics", \.isMetric) { $0.metric(2, $1) },
      body("/v1/logs", \.isLog) { $0.logRecord(2, $1) },
    ].compactMap { $0 }
  }
}

extension TelemetryItem {
  fileprivate var isSpan: Bool { switch content { case .span, .network: true; default: false } }
  fileprivate var isMetric: Bool { if case .metric = content { true } else { false } }
  fileprivate var isLog: Bool { !isSpan && !isMetric && !isSample }
  /// Where time went has no place in traces, metrics or logs.
  private var isSample: Bool { if case .sample = content { true } else { false } }
}
