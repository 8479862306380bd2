// Report+Kinds — the rows of bench-kinds: each kind of value against a scalar in the same place.

extension Report {
  private static let calls = [
    ("nothing in a loop", "no call"), ("scalar", "two scalars"), ("nothing", "nothing"), ("text", "String in and out"),
    ("optional", "Optional in and out"), ("object", "object in and out"), ("structure", "struct in and out"),
    ("enumeration", "enum in and out"),
    ("array", "Array in and out"), ("closure", "a Lua function in"), ("getter", "getter"), ("setter", "setter"), ("field", "stored field"),
    ("static", "static, by swift.call"), ("send", "two scalars, by swift.send"),
  ]

  /// Each argument is read once, or replaced once.
  static var valueRows: [(String, [Row])] {
    var groups: [(String, [Row])] = []
    for (title, prefix) in [("reading", "read: "), ("replacing", "replaced: ")] {
      let scalar = Row.Comparison.times(prefix + "int 1")
      for count in [1, 3, 8] {
        var rows: [Row] = []
        for kind in Kind.all {
          rows.append(Row(title: kind.title, sample: "\(prefix)\(kind.name) \(count)", unit: "ns", comparison: scalar))
        }
        if count == 1 { rows.append(Row(title: "Int, generic function", sample: prefix + "generic", unit: "ns", comparison: scalar)) }
        groups.append(("\(title) \(count) argument\(count == 1 ? "" : "s")", rows))
      }
    }
    return groups
  }

  static var callRows: [(String, [Row])] {
    let call = Row.Comparison.times("call scalar")
    let handler = Row.Comparison.times("before")
    var rows: [Row] = []
    for (name, shown) in calls { rows.append(Row(title: shown, sample: "call " + name, unit: "ns", comparison: call)) }
    return [
      ("calls by a script", rows),
      (
        "closures",
        [
          Row(title: "Swift calls a Lua function", sample: "closure into Lua", unit: "ns", comparison: call),
          Row(title: "Lua calls a Swift closure", sample: "closure into Swift", unit: "ns", comparison: call),
        ]
      ),
      (
        "hooks of async functions",
        [
          Row(title: "none", sample: "async bare", unit: "ns", comparison: handler),
          Row(title: "before, a scalar", sample: "async before", unit: "ns", comparison: handler),
          Row(title: "around + original awaited", sample: "async around", unit: "ns", comparison: handler),
          Row(title: "after", sample: "async after", unit: "ns", comparison: handler),
        ]
      ),
    ]
  }
}
