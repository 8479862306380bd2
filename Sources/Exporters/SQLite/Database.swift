// Database — the one place that calls SQLite. A database is used by one thread.
internal import CSQLite

package final class Database {
  private let handle: OpaquePointer
  /// Statements that write are refused.
  private var readsOnly = false

  package struct Problem: Error, CustomStringConvertible {
    package let description: String
  }

  /// What a cell holds.
  package enum Value: Sendable, Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)

    package init(_ text: String?) { self = text.map(Value.text) ?? .null }
    package init(_ number: UInt64?) { self = number.map { .integer(Int64(truncatingIfNeeded: $0)) } ?? .null }
  }

  /// - Parameter path: of the file, or ":memory:".
  package init(_ path: String) throws(Problem) {
    var made: OpaquePointer?
    let status = sqlite3_open_v2(path, &made, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
    guard status == SQLITE_OK, let made else {
      let why = made.map { String(cString: sqlite3_errmsg($0)) } ?? "no memory"
      sqlite3_close(made)
      throw Problem(description: "cannot open the database '\(path)': \(why)")
    }
    handle = made
  }

  deinit { sqlite3_close(handle) }

  private func problem(_ sql: String) -> Problem {
    let why = String(cString: sqlite3_errmsg(handle))
    return Problem(description: "\(why), in: \(sql)\(advice(why, sql))")
  }

  /// Which names there are, where SQLite says that one is not there; else empty.
  private func advice(_ why: String, _ sql: String) -> String {
    let isColumn = why.hasPrefix("no such column: ")
    guard isColumn || why.hasPrefix("no such table: ") else { return "" }
    let tables = names("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
    if !isColumn { return "; there are \(tables.joined(separator: ", "))" }
    let words = Set(sql.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init))
    // SQLite compares names of tables without case.
    return tables.filter { words.contains($0.lowercased()) }.map { table in
      "; \(table) has \(((try? prepare("SELECT * FROM \(table)"))?.columns ?? []).joined(separator: ", "))"
    }.joined()
  }

  /// The texts of the first column.
  private func names(_ sql: String) -> [String] {
    var found: [String] = []
    guard let statement = try? prepare(sql) else { return [] }
    while let row = try? statement.next(), case .text(let name)? = row.first { found.append(name) }
    return found
  }

  /// Runs statements that answer nothing.
  package func execute(_ sql: String) throws(Problem) {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw problem(sql) }
  }

  /// A statement that is run many times.
  package func prepare(_ sql: String) throws(Problem) -> Statement {
    var made: OpaquePointer?
    var rest = ""
    let status = sql.withCString { text in
      var tail: UnsafePointer<CChar>?
      defer { rest = tail.map { String(cString: $0) } ?? "" }
      return sqlite3_prepare_v2(handle, text, -1, &made, &tail)
    }
    if status == SQLITE_AUTH { throw Self.notRead(sql) }
    guard status == SQLITE_OK else { throw problem(sql) }
    if readsOnly, let made, sqlite3_stmt_readonly(made) == 0 {
      sqlite3_finalize(made)
      throw Self.notRead(sql)
    }
    // Nil without an error: a blank or a comment.
    guard let made else { throw Problem(description: "'\(sql)' is no statement") }
    let statement = Statement(made, self, sql)
    if !isBlank(rest) {
      throw Problem(description: "one statement is run at a time; '\(rest.drop { $0.isWhitespace || $0 == ";" })' follows the first")
    }
    return statement
  }

  /// Nothing but blanks, comments and semicolons.
  private func isBlank(_ sql: String) -> Bool {
    sql.withCString { text in
      var rest: UnsafePointer<CChar>? = text
      while let at = rest, at.pointee != 0 {
        var made: OpaquePointer?
        let status = sqlite3_prepare_v2(handle, at, -1, &made, &rest)
        sqlite3_finalize(made)
        if status != SQLITE_OK || made != nil { return false }
      }
      return true
    }
  }

  private static func notRead(_ sql: String) -> Problem { Problem(description: "only statements that read are run, such as SELECT; found '\(sql)'") }

  /// What a user types is a question: from now on statements read what is there, and neither write, open files nor change settings.
  package func forbidWriting() throws(Problem) {
    try execute("PRAGMA query_only = 1")
    readsOnly = true
    // What opens files or changes settings counts as reading for SQLite. Table functions such as json_each declare a table of their own.
    let status = sqlite3_set_authorizer(
      handle,
      { _, action, name, _, _, _ in
        switch action {
        case SQLITE_ATTACH, SQLITE_DETACH: SQLITE_DENY
        case SQLITE_PRAGMA: name.map { ["table_info", "table_xinfo", "table_list"].contains(String(cString: $0)) } ?? false ? SQLITE_OK : SQLITE_DENY
        default: SQLITE_OK
        }
      }, nil)
    guard status == SQLITE_OK else { throw problem("authorizer") }
  }

  package final class Statement {
    private let handle: OpaquePointer
    private let database: Database
    private let sql: String

    fileprivate init(_ handle: OpaquePointer, _ database: Database, _ sql: String) {
      (self.handle, self.database, self.sql) = (handle, database, sql)
    }

    deinit { sqlite3_finalize(handle) }

    package var columns: [String] { (0..<sqlite3_column_count(handle)).map { String(cString: sqlite3_column_name(handle, $0)) } }

    /// Runs it with these values for its question marks.
    package func run(_ values: [Value]) throws(Problem) {
      sqlite3_reset(handle)
      for (index, value) in values.enumerated() {
        let place = Int32(index + 1)
        let status =
          switch value {
          case .null: sqlite3_bind_null(handle, place)
          case .integer(let value): sqlite3_bind_int64(handle, place, value)
          case .real(let value): sqlite3_bind_double(handle, place, value)
          // -1 is SQLITE_TRANSIENT: SQLite copies the text before the call returns.
          case .text(let text): sqlite3_bind_text(handle, place, text, Int32(text.utf8.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
          }
        guard status == SQLITE_OK else { throw database.problem(sql) }
      }
      guard sqlite3_step(handle) == SQLITE_DONE else { throw database.problem(sql) }
    }

    /// The next row; nil behind the last.
    package func next() throws(Problem) -> [Value]? {
      switch sqlite3_step(handle) {
      case SQLITE_DONE: return nil
      case SQLITE_ROW:
        return (0..<sqlite3_column_count(handle)).map { column in
          switch sqlite3_column_type(handle, column) {
          case SQLITE_INTEGER: .integer(sqlite3_column_int64(handle, column))
          case SQLITE_FLOAT: .real(sqlite3_column_double(handle, column))
          case SQLITE_NULL: .null
          default: .text(sqlite3_column_text(handle, column).map { String(cString: $0) } ?? "")
          }
        }
      // Of VACUUM SQLite asks when it runs.
      default: throw String(cString: sqlite3_errmsg(database.handle)) == "authorization denied" ? Database.notRead(sql) : database.problem(sql)
      }
    }
  }
}
