// TelemetryTables — the journal as tables of SQLite: one row for each record, and views for each kind.
internal import Journal

package struct TelemetryTables {
  private let database: Database
  private let records: Database.Statement
  private let sessions: Database.Statement
  private let spans: Database.Statement
  private let metrics: Database.Statement

  /// Makes the tables where they are not there. A record that is added again replaces itself.
  package init(_ database: Database) throws(Database.Problem) {
    self.database = database
    try database.execute(Self.schema)
    sessions = try database.prepare("INSERT OR REPLACE INTO sessions VALUES (?,?,?,?,?,?)")
    records = try database.prepare("INSERT OR REPLACE INTO records VALUES (?,?,?,?,?,?,?,?)")
    spans = try database.prepare("INSERT OR REPLACE INTO spans VALUES (?,?,?,?,?,?,?,?,?,?,?,?)")
    metrics = try database.prepare("INSERT OR REPLACE INTO metrics VALUES (?,?,?,?,?,?,?,?,?,?,?)")
  }

  /// Times are nanoseconds since 1970, durations nanoseconds; fields and attributes are JSON (json_extract reads them).
  package static let schema = """
    CREATE TABLE IF NOT EXISTS sessions (session TEXT PRIMARY KEY, program TEXT, path TEXT, pid INTEGER, build TEXT, start INTEGER);
    CREATE TABLE IF NOT EXISTS records (
      id TEXT PRIMARY KEY, session TEXT, time INTEGER, monotonic INTEGER, thread INTEGER, kind TEXT, name TEXT, fields TEXT);
    CREATE TABLE IF NOT EXISTS spans (
      id TEXT PRIMARY KEY, session TEXT, trace TEXT, span TEXT, parent TEXT, kind TEXT, name TEXT, start INTEGER, duration INTEGER,
      status TEXT, message TEXT, attributes TEXT);
    CREATE TABLE IF NOT EXISTS metrics (
      session TEXT, name TEXT, attributes TEXT, time INTEGER, kind TEXT, unit TEXT, value REAL, count INTEGER, sum REAL, min REAL, max REAL,
      PRIMARY KEY (session, name, attributes, time));
    CREATE VIEW IF NOT EXISTS events AS SELECT * FROM records WHERE kind = 'event';
    CREATE VIEW IF NOT EXISTS logs AS SELECT * FROM records WHERE kind IN ('log', 'failure');
    CREATE VIEW IF NOT EXISTS requests AS SELECT * FROM records WHERE kind = 'network';
    CREATE VIEW IF NOT EXISTS screens AS SELECT * FROM records WHERE kind = 'screen';
    CREATE VIEW IF NOT EXISTS stalls AS SELECT * FROM records WHERE kind = 'stall';
    CREATE INDEX IF NOT EXISTS records_time ON records (time);
    CREATE INDEX IF NOT EXISTS spans_trace ON spans (trace);
    """

  package func add(_ items: [TelemetryItem]) throws(Database.Problem) {
    try database.execute("BEGIN")
    var known: Set<JournalSession> = []
    for item in items {
      let session = item.session
      if known.insert(session).inserted {
        try sessions.run([
          .text(session.identifier), .text(session.programName), .text(session.program.description), .integer(Int64(session.pid)),
          .text(session.buildID), Database.Value(session.startWall),
        ])
      }
      try records.run([
        .text(item.identifier), .text(session.identifier), Database.Value(item.record.wall), Database.Value(item.record.monotonic),
        .integer(Int64(item.record.thread)), .text("\(item.record.kind)"), .text(item.record.name),
        .text(JSONText.value(.object(item.record.fields))),
      ])
      switch item.content {
      case .span(let span): try add(span, item)
      case .network(let request): try add(SpanRecord(request, item), item)
      case .metric(let metric): try add(metric, item)
      default: break
      }
    }
    try database.execute("COMMIT")
  }

  private func add(_ span: SpanRecord, _ item: TelemetryItem) throws(Database.Problem) {
    try spans.run([
      .text(item.identifier), .text(item.session.identifier), .text("\(span.trace)"), .text(EventText.hexadecimal(span.span, nil)),
      Database.Value(span.parent.map { EventText.hexadecimal($0, nil) }), .text("\(span.kind)"), .text(span.name),
      Database.Value(item.wall(span.start)), Database.Value(span.duration), .text("\(span.status)"), .text(span.message),
      .text(JSONText.value(.object(span.attributes))),
    ])
  }

  private func add(_ metric: MetricRecord, _ item: TelemetryItem) throws(Database.Problem) {
    let (kind, value, histogram): (String, Database.Value, MetricRecord.Histogram?) =
      switch metric.value {
      case .counter(let value): ("counter", .real(value), nil)
      case .gauge(let value): ("gauge", .real(value), nil)
      case .histogram(let histogram): ("histogram", .null, histogram)
      }
    try metrics.run([
      .text(item.session.identifier), .text(metric.name), .text(JSONText.value(.object(metric.attributes))), Database.Value(item.record.wall),
      .text(kind), .text(metric.unit), value, Database.Value(histogram?.count), histogram.map { .real($0.sum) } ?? .null,
      histogram.map { .real($0.minimum) } ?? .null, histogram.map { .real($0.maximum) } ?? .null,
    ])
  }
}
