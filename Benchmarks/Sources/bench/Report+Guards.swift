// Report+Guards — the rows of crash protection.

extension Report {
  static let protectionRows: [(String, [Row])] = [
    (
      "crash protection, each call",
      [
        Row(title: "before, with breadcrumbs", sample: "crumbs: before", unit: "ns", comparison: .times("no crumbs: before")),
        Row(title: "contain beside that before", sample: "crumbs: contained", unit: "ns", comparison: .times("crumbs: before")),
        Row(title: "contain, a trap is answered", sample: "trapped", unit: "ns", comparison: .times("crumbs: before")),
        Row(title: "watchdog, a turn of an event loop", sample: "watched: turn", unit: "ns", comparison: .over("unwatched: turn")),
        Row(title: "watchdog, a busy main thread", sample: "watched: busy", unit: "ns", comparison: .times("unwatched: busy")),
      ]
    ),
    ("swift-format's start, a guard on", Guard.all.map { Row(title: $0.title, sample: "guard start \($0.name)", unit: "ms", comparison: .over("guard start none")) }),
    (
      "swift-format on 100 files, over the start",
      Guard.all.map { Row(title: $0.title, sample: "guard work \($0.name)", unit: "ms", comparison: .times("guard work none")) }
        + [Row(title: "--apm", sample: "guard work apm", unit: "ms", comparison: .times("guard work none"))]
    ),
  ]
}
