// QueryText — the answer of a query: a table for people, JSON lines or CSV for programs.
internal import Exporters
internal import Journal

enum QueryText {
  static func text(_ columns: [String], _ rows: [[Database.Value]], format: String) -> String {
    switch format {
    case "json": json(columns, rows)
    case "csv": ([columns] + rows.map { $0.map(plain) }).map { $0.map(cell).joined(separator: ",") + "\r\n" }.joined()
    default: table(columns, rows.map { $0.map { printable(plain($0)) } })
    }
  }

  private static func json(_ columns: [String], _ rows: [[Database.Value]]) -> String {
    rows.map { row in
      var json = JSONText()
      json.object {
        for (name, value) in zip(columns, row) {
          switch value {
          case .null: $0.raw(name, "null")
          case .integer(let value): $0.add(name, value)
          case .real(let value): $0.add(name, value)
          case .text(let text): $0.add(name, text)
          }
        }
      }
      return json.text + "\n"
    }.joined()
  }

  private static func table(_ columns: [String], _ rows: [[String]]) -> String {
    let widths = columns.indices.map { column in min(60, ([columns] + rows).map { $0[column].count }.max() ?? 0) }
    func line(_ cells: [String]) -> String {
      zip(cells, widths).map { cell, width in
        (cell.count > width ? cell.prefix(width - 1) + "…" : cell).padded(to: width)
      }.joined(separator: "  ").trimmedRight + "\n"
    }
    return line(columns) + line(widths.map { String(repeating: "-", count: $0) }) + rows.map(line).joined()
  }

  private static func plain(_ value: Database.Value) -> String {
    switch value {
    case .null: ""
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let text): text
    }
  }

  /// RFC 4180.
  private static func cell(_ text: String) -> String {
    text.contains { $0 == "," || $0 == "\"" || $0.isNewline } ? "\"" + text.replacing("\"", with: "\"\"") + "\"" : text
  }

  /// Nothing that was recorded reaches a terminal raw.
  private static func printable(_ text: String) -> String {
    String(text.unicodeScalars.map { $0.value < 0x20 || (0x7f...0x9f).contains($0.value) ? "·" : Character($0) })
  }
}

extension String {
  fileprivate var trimmedRight: String {
    var text = self[...]
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
