// Report — the figures beside their baselines and targets.

/// One line of the table. The ratio is of medians; where a baseline is subtracted, the rest is shown.
struct Row {
  enum Comparison {
    /// Times the baseline of the same run.
    case times(String)
    /// What the baseline of the same run does not cost.
    case over(String)
    case alone
  }
  var title: String
  var sample: String
  var unit: String
  var comparison: Comparison
  /// What DESIGN asks for, in the unit of the comparison; nil where it names none.
  var target: Double?
  /// The target is a least value.
  var isLowerBound = false
}

struct Report {
  let samples: Samples
  init(_ samples: Samples) { self.samples = samples }

  /// Targets in nanoseconds were set where a Lua call with one callback takes 35 ns: here they are multiples of that call.
  private static let callback = "lua pcall, callback"
  private static let rows = firstRows + ruleRows + protectionRows + wayRows + valueRows + callRows + laterRows
  private static let firstRows: [(String, [Row])] = [
    (
      "unhooked",
      [
        Row(
          title: "calls, host loaded", sample: "hosted: unhooked calls", unit: "ns", comparison: .times("alone: unhooked calls"), target: 1),
        Row(
          title: "mixed work, host loaded", sample: "hosted: unhooked work", unit: "ns", comparison: .times("alone: unhooked work"),
          target: 1),
      ]
    ),
    (
      "Swift layer, nothing decoded",
      [
        Row(title: "before", sample: "engine: layer before", unit: "ns", comparison: .over("engine: bare"), target: 10),
        Row(title: "around + original", sample: "engine: layer around", unit: "ns", comparison: .over("engine: bare"), target: 10),
        Row(title: "after", sample: "engine: layer after", unit: "ns", comparison: .over("engine: bare"), target: 10),
      ]
    ),
    (
      "Swift closures that name their types",
      [
        Row(
          title: "before, nothing taken", sample: "engine: closure before, nothing", unit: "ns", comparison: .over("engine: closures bare")),
        Row(title: "before, 2 Int", sample: "engine: closure before, 2 Int", unit: "ns", comparison: .over("engine: closures bare")),
        Row(title: "around + original", sample: "engine: closure around", unit: "ns", comparison: .over("engine: closures bare")),
        Row(
          title: "around + original, all replaced", sample: "engine: closure around, 2 Int replaced", unit: "ns",
          comparison: .over("engine: closures bare")),
        Row(title: "after, the result", sample: "engine: closure after, result", unit: "ns", comparison: .over("engine: closures bare")),
      ]
    ),
    (
      "plain Lua from C",
      [
        Row(title: "pcall, 3 scalars", sample: "lua pcall, 3 scalars", unit: "ns", comparison: .times(callback)),
        Row(title: "pcall, one callback", sample: callback, unit: "ns", comparison: .times(callback)),
        Row(title: "pcall, text in and out", sample: "lua pcall, text and callback", unit: "ns", comparison: .times(callback)),
      ]
    ),
    (
      "Lua handlers",
      [
        Row(title: "before, 3 scalars", sample: "before", unit: "ns", comparison: .times(callback), target: 1),
        Row(title: "after", sample: "after", unit: "ns", comparison: .times(callback), target: 1),
        Row(title: "around + original", sample: "around", unit: "ns", comparison: .times(callback), target: 1.7),
        Row(title: "around + original, text passed on", sample: "around text", unit: "ns", comparison: .times(callback), target: 3.1),
        Row(title: "around + original, text replaced", sample: "replaced text", unit: "ns", comparison: .times(callback), target: 3.1),
      ]
    ),
    (
      "rules, no Lua",
      [
        Row(title: "two scalars", sample: "tracked", unit: "ns", comparison: .times(callback), target: 2.3),
        Row(title: "a scalar and a text", sample: "tracked text", unit: "ns", comparison: .times(callback), target: 2.3),
        Row(title: "two threads / one", sample: "tracked, two threads", unit: "x", comparison: .alone, target: 1.9, isLowerBound: true),
      ]
    ),
  ]

  static let ruleRows: [(String, [Row])] = [
    (
      "rules by kind, over the call without",
      [
        Row(title: "left out by where", sample: "rule left out", unit: "ns", comparison: .over("rule none")),
        Row(title: "where and dedupe, a repeat", sample: "rule repeat", unit: "ns", comparison: .over("rule none")),
        Row(title: "where and dedupe, recorded", sample: "rule recorded", unit: "ns", comparison: .over("rule none")),
        Row(title: "metric, a histogram of time", sample: "rule metric", unit: "ns", comparison: .over("rule none"), target: 30),
        Row(title: "span, recorded", sample: "rule span", unit: "ns", comparison: .over("rule none"), target: 120),
        Row(title: "span of an async call", sample: "async spanned", unit: "ns", comparison: .over("async bare")),
        Row(title: "budget that is kept", sample: "rule budget", unit: "ns", comparison: .over("rule none")),
        Row(title: "screen, three calls of a chain", sample: "rule screen", unit: "ns", comparison: .over("alone: rule screen")),
        Row(title: "screen, one call", sample: "rule screen of one", unit: "ns", comparison: .over("alone: rule screen of one")),
        Row(title: "screen, the chain's two other calls", sample: "rule screen", unit: "ns", comparison: .over("rule screen of one")),
        Row(title: "control, recorded", sample: "rule control", unit: "ns", comparison: .over("alone: rule control")),
        Row(title: "control, the same action again", sample: "rule control again", unit: "ns", comparison: .over("alone: rule control again")),
        Row(title: "control with rage, recorded", sample: "rule rage", unit: "ns", comparison: .over("alone: rule rage")),
        Row(title: "exposure, a view that is still seen", sample: "rule exposure", unit: "ns", comparison: .over("alone: rule exposure")),
        Row(title: "delegate's call by a proxy", sample: "rule delegate", unit: "ns", comparison: .over("alone: rule delegate")),
      ]
    ),
    (
      "a task of URLSession",
      [
        Row(title: "without", sample: "alone: task", unit: "ns", comparison: .alone),
        Row(title: "recorded", sample: "recorded: task", unit: "ns", comparison: .over("alone: task")),
      ]
    ),
    (
      "exports, a million spans",
      [
        Row(title: "JSON lines", sample: "export jsonl", unit: "ms", comparison: .alone),
        Row(title: "Perfetto", sample: "export perfetto", unit: "ms", comparison: .alone),
        Row(title: "folded stacks", sample: "export folded", unit: "ms", comparison: .alone),
        Row(title: "SQLite", sample: "export sqlite", unit: "ms", comparison: .alone),
        Row(title: "OTLP to a collector", sample: "export otlp", unit: "ms", comparison: .alone),
        Row(title: "the report", sample: "export report", unit: "ms", comparison: .alone),
      ]
    ),
  ]

  private static let laterRows: [(String, [Row])] = [
    (
      "boot",
      [
        Row(title: "scripthost run, no patches", sample: "start hosted", unit: "ms", comparison: .over("start alone")),
        Row(title: "100 patches of 50 lines", sample: "start 100", unit: "ms", comparison: .over("start hosted"), target: 5),
        Row(title: "their files in plain Lua states", sample: "plain states", unit: "ms", comparison: .alone),
        Row(title: "memory (PSS), no patches", sample: "hosted pss", unit: "KiB", comparison: .over("alone pss")),
        Row(title: "memory (PSS), 100 patches", sample: "100 pss", unit: "KiB", comparison: .over("alone pss"), target: 4096),
        Row(title: "memory (RSS), 100 patches", sample: "100 rss", unit: "KiB", comparison: .over("alone rss")),
        Row(title: "memory (written), no patches", sample: "hosted private", unit: "KiB", comparison: .over("alone private")),
        Row(title: "memory (written), 100 patches", sample: "100 private", unit: "KiB", comparison: .over("alone private")),
        Row(title: "memory (written), plain states", sample: "plain states private", unit: "KiB", comparison: .alone),
      ]
    ),
    (
      "installing",
      [
        Row(title: "1,000 hooks", sample: "install 1000", unit: "ms", comparison: .alone, target: 5),
        Row(title: "taking them out", sample: "remove 1000", unit: "ms", comparison: .alone),
        Row(title: "finding their arguments", sample: "plan 1000", unit: "ms", comparison: .alone),
        Row(title: "50,000 hooks", sample: "install 50000", unit: "ms", comparison: .alone, target: 250),
        Row(title: "functions they are on", sample: "functions 50000", unit: "", comparison: .alone),
        Row(title: "hooks of these", sample: "hooks 50000", unit: "", comparison: .alone),
        Row(title: "taking them out", sample: "remove 50000", unit: "ms", comparison: .alone),
        Row(title: "finding their arguments", sample: "plan 50000", unit: "ms", comparison: .alone),
        Row(title: "memory per hook, 1,000", sample: "bytes per hook 1000", unit: "B", comparison: .alone),
        Row(title: "memory per hook, 50,000", sample: "bytes per hook 50000", unit: "B", comparison: .alone),
        Row(title: "finding them (demangling)", sample: "find 50000", unit: "ms", comparison: .alone),
        Row(title: "swift-format, '**' by a handler", sample: "start with everything hooked", unit: "ms", comparison: .alone),
        Row(title: "swift-format, a screen of 779 methods", sample: "start with a tree", unit: "ms", comparison: .alone),
      ]
    ),
    (
      "a living process",
      [
        Row(title: "a saved patch is live", sample: "reload saved", unit: "ms", comparison: .alone, target: 100),
        Row(title: "reload by request", sample: "reload asked", unit: "ms", comparison: .alone),
        Row(title: "completion, the first", sample: "complete first", unit: "ms", comparison: .alone, target: 50),
        Row(title: "completion, no index on disk", sample: "complete new", unit: "ms", comparison: .alone, target: 50),
        Row(title: "completion, another module", sample: "complete type", unit: "ms", comparison: .alone, target: 50),
        Row(title: "completion, members", sample: "complete member", unit: "ms", comparison: .alone, target: 50),
        Row(title: "completion, again", sample: "complete again", unit: "ms", comparison: .alone, target: 50),
        Row(title: "before, while top asks", sample: "top watched", unit: "ns", comparison: .over("top alone")),
        Row(title: "the top command, each second", sample: "top command", unit: "ms", comparison: .alone),
      ]
    ),
    (
      "index",
      [
        Row(title: "functions", sample: "symbols", unit: "", comparison: .alone),
        Row(title: "cold", sample: "index cold", unit: "ms", comparison: .alone, target: 60),
        Row(title: "from disk", sample: "index warm", unit: "ms", comparison: .alone, target: 5),
        Row(title: "first lookup", sample: "lookup warm", unit: "ms", comparison: .alone),
        Row(title: "second lookup", sample: "lookup again", unit: "ms", comparison: .alone),
      ]
    ),
  ]

  private func compared(_ row: Row, _ statistic: Statistic) -> Double? {
    switch row.comparison {
    case .alone: statistic.median
    case .times(let name): samples.statistic(name).map { statistic.median / $0.median }
    case .over(let name): samples.statistic(name).map { statistic.median - $0.median }
    }
  }

  /// - Parameter before: the medians of another run, which get a column of their own.
  func printTable(beside before: Before? = nil) {
    var before = before
    let hasBefore = before != nil
    for (group, rows) in Self.rows {
      print(
        "\n" + group.padded(36) + "median".padded(-11) + "min".padded(-11) + "max".padded(-11) + "compared".padded(-13)
          + "target".padded(-12) + (hasBefore ? "before".padded(-11) + "now/before".padded(-12) : ""))
      for row in rows {
        let earlier = before?.median(group, row.title)
        guard let statistic = samples.statistic(row.sample), let compared = compared(row, statistic) else { continue }
        let beside = earlier.map { Self.text($0).padded(-11) + (Self.text(statistic.median / $0) + "x").padded(-12) } ?? ""
        let sign =
          switch row.comparison {
          case .times: "x";
          case .over: " over";
          case .alone: ""
          }
        let target = row.target.map { (row.isLowerBound ? ">= " : "<= ") + Self.text($0) + (sign == "x" ? "x" : "") } ?? ""
        let isAlone = if case .alone = row.comparison { true } else { false }
        print(
          "  " + row.title.padded(34) + (Self.text(statistic.median) + " " + row.unit).padded(-11) + Self.text(statistic.least).padded(-11)
            + Self.text(statistic.most).padded(-11) + (isAlone ? "" : Self.text(compared) + sign).padded(-13) + target.padded(-12) + beside)
      }
    }
    if hasBefore { print("\nbefore: the median of the other run; both were made on what the machine was at the time, so compare shares, not digits") }
    print("\ncompared: x times the group's baseline of this run (Lua: one pcall with one callback), or what is left over it")
  }

  func printJSON() {
    var entries: [String] = []
    for (group, rows) in Self.rows {
      for row in rows {
        guard let statistic = samples.statistic(row.sample), let compared = compared(row, statistic) else { continue }
        let kind =
          switch row.comparison {
          case .times: "times";
          case .over: "over";
          case .alone: "alone"
          }
        let target = row.target.map { ",\"target\":\($0)" } ?? ""
        entries.append(
          "{\"group\":\"\(group)\",\"name\":\"\(row.title)\",\"unit\":\"\(row.unit)\",\"median\":\(statistic.median),\"min\":\(statistic.least),"
            + "\"max\":\(statistic.most),\"comparison\":\"\(kind)\",\"compared\":\(compared)\(target)}")
      }
    }
    print("[" + entries.joined(separator: ",\n ") + "]")
  }

  /// Three digits that count.
  private static func text(_ value: Double) -> String {
    if value.magnitude >= 100 || value == value.rounded() { return grouped(Int(value.rounded())) }
    let digits = value.magnitude >= 10 ? 10.0 : 100.0
    return "\((value * digits).rounded() / digits)"
  }

  private static func grouped(_ value: Int) -> String {
    value.magnitude < 1000 ? "\(value)" : grouped(value / 1000) + "," + String("\(1000 + Int(value.magnitude) % 1000)".dropFirst())
  }
}

extension String {
  /// Filled up with spaces behind, or before when `width` is negative.
  fileprivate func padded(_ width: Int) -> String {
    let space = String(repeating: " ", count: max(0, abs(width) - count))
    return width < 0 ? space + self : self + space
  }
}
