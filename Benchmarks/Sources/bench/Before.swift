// Before — the figures of another run, from a file that `bench --json` wrote.
import Glibc

/// Medians by group and title.
struct Before {
  private var medians: [String: [Double]] = [:]
  /// How many rows of a name were asked for: a group may have two of one title, in the order of the table.
  private var asked: [String: Int] = [:]

  init(_ path: String) {
    guard let file = fopen(path, "r") else { fail("'\(path)' cannot be read; --against takes a file that --json wrote") }
    defer { fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    while getline(&line, &capacity, file) > 0, let line {
      let text = String(cString: line)
      guard let group = Self.text("group", text), let name = Self.text("name", text), let median = Self.number("median", text) else { continue }
      medians[group + "/" + name, default: []].append(median)
    }
    if medians.isEmpty { fail("'\(path)' has no figures; --against takes a file that --json wrote") }
  }

  /// The median of the row; nil where that run has none.
  mutating func median(_ group: String, _ name: String) -> Double? {
    let key = group + "/" + name
    defer { asked[key, default: 0] += 1 }
    guard let all = medians[key], let next = all.dropFirst(asked[key] ?? 0).first else { return nil }
    return next
  }

  /// Each row is a line of its own, and no title has a quote.
  private static func value(_ key: String, _ line: String) -> Substring? {
    let mark = "\"\(key)\":"
    guard let start = line.indices.first(where: { line[$0...].hasPrefix(mark) }) else { return nil }
    return line[start...].dropFirst(mark.count)
  }
  private static func text(_ key: String, _ line: String) -> String? {
    guard let rest = value(key, line), rest.first == "\"" else { return nil }
    return String(rest.dropFirst().prefix { $0 != "\"" })
  }
  private static func number(_ key: String, _ line: String) -> Double? {
    value(key, line).flatMap { Double($0.prefix { $0.isNumber || ".-+e".contains($0) }) }
  }
}
