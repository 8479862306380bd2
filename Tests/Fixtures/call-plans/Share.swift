// Share — how many bodies have every argument, self and the result where we can read them, and why others do not.
internal import HookRuntime
private import SwiftMangling

struct Share {
  private struct Row {
    var all = 0
    var arguments = 0
    var whole = 0
  }
  private var rows: [String: Row] = [:]
  private var reasons: [String: (count: Int, example: String)] = [:]

  mutating func count(_ plan: CallPlan, _ body: Body) {
    var problem: String?
    for argument in plan.arguments {
      if argument.location != .optimizedOut, argument.info == nil, !plan.learnsTypesFromCalls { problem = problem ?? "argument: type unknown" }
      if case .unknown(let reason) = argument.location { problem = "argument: " + reason }
    }
    let argumentsAreFine = problem == nil
    switch plan.selfPlan {
    case .unknown(let reason) where reason != "<optimized out>": problem = problem ?? "self: " + reason
    case .value(let value):
      if value.info == nil, !plan.learnsTypesFromCalls { problem = problem ?? "self: type unknown" }
      if case .unknown(let reason) = value.location { problem = problem ?? "self: " + reason }
    default: break
    }
    if case .unknown(let reason) = plan.result.location, !plan.isEnterOnly { problem = problem ?? "result: " + reason }
    for name in ["all", body.declaration.isGeneric ? "generic" : "not generic", Self.name(body.form)] {
      rows[name, default: Row()].all += 1
      if argumentsAreFine { rows[name]!.arguments += 1 }
      if problem == nil { rows[name]!.whole += 1 }
    }
    guard let problem else { return }
    let known = reasons[Self.general(problem)]
    reasons[Self.general(problem)] = ((known?.count ?? 0) + 1, known?.example ?? body.mangledName)
  }

  private static func name(_ form: Body.Form) -> String {
    switch form {
    case .base: "base"
    case .initialising: "initialising"
    case .signatureClone: "signature clone"
    case .genericClone: "generic clone"
    case .merged: "merged"
    case .sharesCodeOf: "shared"
    }
  }

  /// Without the name in quotes.
  private static func general(_ reason: String) -> String {
    let parts = reason.split(separator: "'", omittingEmptySubsequences: false)
    return parts.count == 3 ? parts[0] + "…" + parts[2] : reason
  }

  var table: String {
    var lines = ["bodies                 all   arguments       whole"]
    for (name, row) in rows.sorted(by: { $0.key < $1.key }) {
      lines.append(Self.pad(name, 18) + [row.all, row.arguments, row.whole].map { Self.pad("\($0)", -8) + (row.all == $0 ? "    " : Self.pad("\($0 * 100 / max(row.all, 1))%", -4)) }.joined())
    }
    lines.append("")
    for (reason, found) in reasons.sorted(by: { $0.value.count > $1.value.count }).prefix(40) {
      lines.append(Self.pad("\(found.count)", -7) + "  " + reason + "   " + found.example.prefix(160))
    }
    return lines.joined(separator: "\n")
  }

  private static func pad(_ text: String, _ width: Int) -> String {
    let fill = String(repeating: " ", count: max(0, abs(width) - text.count))
    return width < 0 ? fill + text : text + fill
  }
}
