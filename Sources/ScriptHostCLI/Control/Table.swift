// Table — columns for people.
internal import Journal

/// Rows of texts; each column as wide as its widest text.
struct Table {
  private var rows: [[String]]

  init(_ header: [String]) { rows = [header] }

  mutating func add(_ row: [String]) { rows.append(row) }

  /// The lines; the last column is not filled up.
  var lines: [String] {
    let widths = (0..<(rows.first?.count ?? 0)).map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      row.enumerated().map { $0 == row.count - 1 ? $1 : $1.padded(to: widths[$0]) }.joined(separator: "  ")
    }
  }

  /// "812 ns", "1.2 ms", "3 s", "2 h"
  static func time(_ nanoseconds: Int64) -> String {
    let units: [(Double, String)] = [(3_600e9, "h"), (60e9, "min"), (1e9, "s"), (1e6, "ms"), (1e3, "µs")]
    for (size, name) in units where Double(nanoseconds) >= size {
      let tenths = (Double(nanoseconds) / size * 10).rounded()
      return tenths >= 100 || tenths.truncatingRemainder(dividingBy: 10) == 0
        ? "\(Int(tenths / 10)) \(name)" : "\(tenths / 10) \(name)"
    }
    return "\(nanoseconds) ns"
  }
}
