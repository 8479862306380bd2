// Report+Ways — the rows of engine-bench's back ends and scopes: calls over the same call without the hook, changes in multiples of
// those of the commonest way.

extension Report {
  private static let ways = [
    "entry, type", "entry, subclass", "entry, object", "vtable, type", "class switch, object", "dynamic replacement, type",
    "witness, type", "import slot",
  ]

  static var wayRows: [(String, [Row])] {
    var calls = ways.map {
      Row(title: $0, sample: "hooked \($0)", unit: "ns", comparison: .over("bare \($0)"), target: 10)
    }
    calls.append(Row(title: "beside a hooked object", sample: "hooked bystander", unit: "ns", comparison: .over("bare bystander")))
    return [
      ("calls with a closure, by back end", calls),
      ("installing one more hook", changes("install")),
      ("taking one out", changes("remove")),
    ]
  }

  private static func changes(_ what: String) -> [Row] {
    ways.map { Row(title: $0, sample: "\(what) \($0)", unit: "us", comparison: .times("\(what) entry, type")) }
  }
}
