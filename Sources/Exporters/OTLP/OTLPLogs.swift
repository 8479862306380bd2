// OTLPLogs — everything that is no span and no metric, in the messages of opentelemetry/proto/logs/v1.
package import Journal

extension ProtobufWriter {
  /// LogRecord { time = 1, severity_number = 2, severity_text = 3, body = 5, attributes = 6, observed = 11, event_name = 12 }.
  mutating func logRecord(_ field: Int, _ item: TelemetryItem) {
    let log = LogView(item)
    message(field) {
      $0.fixed64(1, item.record.wall)
      $0.uint(2, log.severity.number)
      $0.string(3, log.severity.text)
      $0.anyValue(5, .string(log.body))
      $0.attributes(6, log.fields)
      $0.attribute(6, "thread.id", .integer(Int64(item.record.thread)))
      $0.attribute(6, "log.record.uid", item.identifier)
      $0.fixed64(11, item.record.wall)
      if let name = log.eventName { $0.string(12, name) }
    }
  }
}

extension ProtobufWriter {
  /// The end of a process as an exception, by the semantic conventions for exceptions in logs.
  mutating func logRecord(_ field: Int, _ crash: CrashItem) {
    message(field) {
      $0.fixed64(1, crash.wall)
      $0.uint(2, 21)
      $0.string(3, "FATAL")
      $0.anyValue(5, .string(crash.title))
      $0.attribute(6, "exception.type", crash.type)
      if !crash.message.isEmpty { $0.attribute(6, "exception.message", crash.message) }
      if !crash.stack.isEmpty { $0.attribute(6, "exception.stacktrace", crash.stack.joined(separator: "\n")) }
      if !crash.suspect.isEmpty { $0.attribute(6, "scripthost.patch", crash.suspect) }
      if !crash.crumbs.isEmpty { $0.attribute(6, "scripthost.breadcrumbs", .list(crash.crumbs.map { .string($0.line) })) }
      $0.attribute(6, "thread.id", .integer(Int64(crash.thread)))
      $0.attribute(6, "log.record.uid", crash.identifier)
      $0.fixed64(11, crash.wall)
      $0.string(12, "exception")
    }
  }
}

/// A record as a line of a log: severity, body and fields.
package struct LogView {
  package let severity: (number: UInt64, text: String)
  package let body: String
  package let eventName: String?
  package let fields: [Field]

  package init(_ item: TelemetryItem) {
    let record = item.record
    let all = record.fields
    switch record.kind {
    case .log:
      severity = Self.severity(record.name)
      let message = all.first { $0.name == "message" }?.value.plainText
      body = message ?? record.name
      eventName = nil
      fields = all.filter { $0.name != "message" }
    case .failure:
      severity = (17, "ERROR")
      body = all.first { $0.name == "message" }?.value.plainText ?? record.name
      eventName = "scripthost.failure"
      fields = [Field("failure", .string(record.name))] + all
    case .stall, .gap:
      severity = (13, "WARN")
      (body, eventName, fields) = ("\(record.kind) \(record.name)", "scripthost.\(record.kind)", all)
    case .event:
      severity = (9, "INFO")
      (body, eventName, fields) = (record.name, record.name, all)
    default:
      severity = (9, "INFO")
      (body, eventName, fields) = ("\(record.kind) \(record.name)", "scripthost.\(record.kind)", all)
    }
  }

  /// The number of a level of `log.…`; `print` is information.
  private static func severity(_ level: String) -> (UInt64, String) {
    switch level {
    case "debug": (5, "DEBUG")
    case "warn": (13, "WARN")
    case "error": (17, "ERROR")
    default: (9, "INFO")
    }
  }
}
