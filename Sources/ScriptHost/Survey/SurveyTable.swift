// SurveyTable — the counts of one image.
internal import HookRuntime
internal import Journal

struct SurveyTable {
  /// Counts of one kind of selector.
  struct Row {
    var selectors = 0
    var whole = 0
    var inPart = 0
    var decoded = 0
    var plain = 0
    var plainDecoded = 0
  }

  let image: String
  private var rows: [SelectorCoverage.Kind: Row] = [:]
  private var refusals: [String: Int] = [:]
  private var obstacles: [String: Int] = [:]
  var compilerMade = 0
  /// Names of which the optimiser left no code.
  private var gone = 0

  init(image: String) { self.image = image }

  mutating func add(_ selector: SelectorCoverage) {
    if selector.isGone {
      gone += 1
      return
    }
    var row = rows[selector.kind] ?? Row()
    row.selectors += 1
    if selector.isWhole { row.whole += 1 } else if selector.refusals.count < selector.family.bodies.count { row.inPart += 1 }
    if selector.isDecodable { row.decoded += 1 }
    if !selector.isGeneric {
      row.plain += 1
      if selector.isDecodable { row.plainDecoded += 1 }
    }
    rows[selector.kind] = row
    for refusal in Set(selector.refusals.map(\.code)) { refusals[refusal, default: 0] += 1 }
    if let obstacle = selector.obstacle { obstacles[Self.reason(obstacle), default: 0] += 1 }
  }

  /// The reason without what it is about: names differ, and so do positions.
  private static func reason(_ obstacle: String) -> String {
    var text = ""
    var isQuoted = false
    for character in obstacle.drop(while: { $0 != ":" }).dropFirst(2) {
      if character == "'" {
        isQuoted.toggle()
        text += isQuoted ? "'" : "…'"
      } else if !isQuoted {
        text.append(character)
      }
    }
    // Selectors hold blanks and dots, which no reason needs.
    return text.contains("shared with") ? "its code is shared with a selector that is called with other values" : text
  }

  private var total: Row {
    rows.values.reduce(into: Row()) { sum, row in
      sum.selectors += row.selectors
      sum.whole += row.whole
      sum.inPart += row.inPart
      sum.decoded += row.decoded
      sum.plain += row.plain
      sum.plainDecoded += row.plainDecoded
    }
  }

  // MARK: Printing

  var text: String {
    var lines = [
      "\(image): \(total.selectors) selectors; not counted: \(gone) of which no code is left, \(compilerMade) functions the compiler made",
      "",
    ]
    lines.append(Self.line("", ["selectors", "hooked whole", "in part", "decoded", "not generic", "decoded"]))
    for kind in SelectorCoverage.Kind.allCases { if let row = rows[kind] { lines.append(Self.line(kind.rawValue, row)) } }
    lines.append(Self.line("all", total))
    lines += Self.list("Not hooked in some or all bodies, by reason:", refusals)
    lines += Self.list("Not decoded whole, by the first obstacle:", obstacles)
    return lines.joined(separator: "\n")
  }

  private static func list(_ title: String, _ counts: [String: Int]) -> [String] {
    if counts.isEmpty { return [] }
    return ["", title] + counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "  " + "\($0.value)".aligned(to: 7) + "  " + $0.key }
  }

  private static func line(_ name: String, _ row: Row) -> String {
    line(
      name,
      [
        "\(row.selectors)", share(row.whole, row.selectors), "\(row.inPart)", share(row.decoded, row.selectors), "\(row.plain)",
        share(row.plainDecoded, row.plain),
      ])
  }

  private static func line(_ name: String, _ columns: [String]) -> String {
    name.padded(to: 14, least: 1) + columns.map { $0.aligned(to: 13) }.joined()
  }

  private static func share(_ part: Int, _ whole: Int) -> String {
    guard whole > 0 else { return "-" }
    let tenths = part * 1000 / whole
    return "\(tenths / 10).\(tenths % 10)%"
  }

  var json: String {
    let kinds = rows.sorted { $0.key.rawValue < $1.key.rawValue }.map { JSONValue.Member("\($0.key)", Self.json($0.value)) }
    return JSONValue(members:
      ("image", .string(image)), ("compilerMade", JSONValue(compilerMade)), ("gone", JSONValue(gone)), ("kinds", .object(kinds)),
      ("all", Self.json(total)), ("refusals", Self.json(refusals)), ("obstacles", Self.json(obstacles))).line
  }

  private static func json(_ row: Row) -> JSONValue {
    JSONValue(members:
      ("selectors", JSONValue(row.selectors)), ("whole", JSONValue(row.whole)), ("inPart", JSONValue(row.inPart)),
      ("decoded", JSONValue(row.decoded)), ("plain", JSONValue(row.plain)), ("plainDecoded", JSONValue(row.plainDecoded)))
  }

  private static func json(_ counts: [String: Int]) -> JSONValue {
    .object(counts.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, JSONValue($0.value)) })
  }
}
