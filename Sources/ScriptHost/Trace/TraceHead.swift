// TraceHead — what a trace says before the first call: how many functions it sees, which it does not, and what it may miss.
internal import HookRuntime
internal import Journal

struct TraceHead {
  let report: HookEngine.Report
  let settings: TraceSettings

  /// What may be missed whatever is traced, once each.
  private var unproven: [String] { report.unproven.map(\.description) }
  /// More of them are reported on demand.
  private static let reportedUnasked = 3

  var text: String {
    let partial = report.partialCount == 0 ? "" : ", \(report.partialCount) in part"
    let hint = (report.refused.isEmpty && report.partialCount == 0) || settings.showRefusals ? "" : " (--why)"
    var text = "\(report.matched) matched, \(report.tokens.count) hooked, \(report.refused.count) refused\(partial)\(hint)\n"
    let reported = settings.showRefusals ? unproven[...] : unproven.prefix(Self.reportedUnasked)
    for sentence in reported { text += "  may miss \(sentence)\n" }
    if reported.count < unproven.count { text += "  and as much of \(unproven.count - reported.count) other images (--why)\n" }
    if settings.showRefusals { for (kind, selector, sentence) in reasons { text += "  " + Self.line(kind, selector, sentence) + "\n" } }
    return text
  }

  /// One object, and with `--why` one for each reason.
  func json(_ pid: JSONValue) -> String {
    var all = [
      JSONValue(members:
        ("kind", "hooks"), ("pid", pid), ("matched", JSONValue(report.matched)), ("hooked", JSONValue(report.tokens.count)),
        ("refused", JSONValue(report.refused.count)), ("partial", JSONValue(report.partialCount)), ("may_miss", JSONValue(unproven)))
    ]
    if settings.showRefusals {
      all += reasons.map { kind, selector, sentence in
        JSONValue(members: ("kind", .string(kind)), ("pid", pid), ("selector", .string(selector)), ("reason", .string(sentence)))
      }
    }
    return all.map { $0.line + "\n" }.joined()
  }

  private static func line(_ kind: String, _ selector: String, _ sentence: String) -> String {
    switch kind {
    case "refused": "refused \(selector): \(sentence)"
    default: "in part \(selector): \(sentence)"
    }
  }

  private var reasons: [(kind: String, selector: String, sentence: String)] {
    var all = report.refused.map { ("refused", $0.selector, "\($0.reason)") }
    all += report.partial.map { ("partial", $0.selector, "\($0.hooked) of \($0.of) bodies are hooked") }
    all += report.chosen.filter(\.isPartial).map { ("partial", $0.selector, "hooked by \($0.backEnd.rawValue), not by entry: \($0.instead)") }
    all += report.mayMiss.map { ("partial", $0.selector, "may miss \($0.sentence)") }
    return all + report.doubts.filter(\.doubt.isProven).map { ("partial", $0.selector, $0.doubt.sentence) }
  }
}
