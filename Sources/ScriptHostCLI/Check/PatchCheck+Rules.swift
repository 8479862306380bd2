// Rules of a checked script: the functions they are about, the paths they read, their conditions, shares and times.
internal import HookRuntime
internal import LuaSyntax
internal import ScriptHost

extension PatchCheck {
  /// Options whose values are times, `100ms`.
  private static let times: Set<String> = ["dedupe", "budget", "slow", "every", "dwell", "dead"]
  /// Options whose values are numbers in a time, `50/s`.
  private static let rates: Set<String> = ["rate", "rage"]
  /// Options that are one path or a list of paths.
  private static let pathOptions: Set<String> = [
    "same", "key", "links", "parent", "frame", "within", "action", "target", "histogram", "gauge", "counter",
  ]
  /// Options that map names to paths, or list paths.
  private static let pathTables: Set<String> = ["fields", "attributes", "context", "by"]
  /// Options that name a member of `base`.
  private static let memberOptions: Set<String> = ["appear", "disappear", "during", "send", "load"]
  /// So many functions of a glob are looked at.
  private static let mostFamilies = 64

  /// Names of rules that this file checks.
  static let rules: Set<String> = ["track", "metric", "span", "slow", "screen", "control", "exposure", "startup"]

  /// - Parameters:
  ///   - name: of the rule's function.
  ///   - table: the rule's table, where mistakes are placed that are about what is not there.
  ///   - isOptional: what is not there is no error, whatever the table says.
  mutating func checkRule(_ name: String, _ fields: [TableField], _ table: Range<Int>, isOptional: Bool = false) {
    let mayBeAbsent = isOptional || mayBeAbsent(fields)
    if let at = value(of: "at", fields), let text = at.text, text != "enter", text != "exit" {
      error(at.range, "'at' is \"enter\" or \"exit\", found '\(text)'")
    }
    for field in fields { if let key = field.key?.text { checkUnit(key, field.value) } }
    if name == "metric" { checkMetricKind(fields, table) }
    for option in ["first", "stable"] where name == "startup" { _ = families(option, fields, mayBeAbsent) }
    let families = value(of: "base", fields) == nil ? families("on", fields, mayBeAbsent, counts: true) : families(ofBase: fields, mayBeAbsent)
    checkCondition(value(of: "where", fields), families)
    checkCondition(value(of: "error", fields), families)
    checkPaths(name, fields, families)
    for part in ["ends", "cancels"] {
      guard let table = value(of: part, fields), case .table(let inner) = table.kind else { continue }
      checkRule(part, inner, table.range, isOptional: mayBeAbsent)
    }
  }

  private func value(of option: String, _ fields: [TableField]) -> Expression? { fields.first { $0.key?.text == option }?.value }

  /// What is not there is no error.
  private func mayBeAbsent(_ fields: [TableField]) -> Bool {
    ["optional", "wait"].contains { option in
      if case .yes? = value(of: option, fields)?.kind { true } else { false }
    }
  }

  /// A metric is of one kind.
  private mutating func checkMetricKind(_ fields: [TableField], _ table: Range<Int>) {
    let kinds = fields.compactMap(\.key).filter { MetricKind(rawValue: $0.text ?? "") != nil }
    if kinds.isEmpty { error(table, "a metric needs one of counter, histogram and gauge") }
    if kinds.count > 1 { error(kinds[1].range, "a metric is one of counter, histogram and gauge") }
  }

  private mutating func checkUnit(_ option: String, _ value: Expression) {
    guard let text = value.text else { return }
    if Self.times.contains(option), RuleUnits.duration(text) == nil {
      error(value.range, "'\(option)' is a time such as \"100ms\", found '\(text)'")
    } else if option == "sample", RuleUnits.share(text) == nil {
      error(value.range, "'sample' is a share such as \"10%\" or 0.1, found '\(text)'")
    } else if Self.rates.contains(option), RuleUnits.rate(text) == nil {
      error(value.range, "'\(option)' is a number in a time, such as \"50/s\" or \"3/min\", found '\(text)'")
    }
  }

  // MARK: Functions

  /// The functions that the selector of an option means.
  /// - Parameter counts: the rule is a hook on it.
  private mutating func families(_ option: String, _ fields: [TableField], _ mayBeAbsent: Bool, counts: Bool = false) -> [Family] {
    guard let binding, let on = value(of: option, fields), let selector = on.text else { return [] }
    switch binding.resolve(selector) {
    case .failure(let problem):
      if !mayBeAbsent { error(on.range, problem.text) }
      return []
    case .success(let bound):
      if let why = binding.whyNotHookable(bound) { error(on.range, why) }
      if !checkPolicy(bound, on.range), counts { countHook(bound, on.range) }
      return bound.found.prefix(Self.mostFamilies).map(\.family)
    }
  }

  /// The members of `base` that the rule names: its paths begin there.
  private mutating func families(ofBase fields: [TableField], _ mayBeAbsent: Bool) -> [Family] {
    guard let binding, let base = value(of: "base", fields), let type = base.text, !made.contains(type), !SelectorPattern(type).isGlob else {
      return []
    }
    if let problem = binding.typeProblem(type) {
      if !mayBeAbsent { error(base.range, problem) }
      return []
    }
    // Who carries out a protocol's requirement the process knows.
    if binding.program.protocols.contains(type) { return [] }
    var found: [Family] = []
    for field in fields {
      guard let key = field.key?.text, Self.memberOptions.contains(key) || key == "on" else { continue }
      for member in texts(field.value) {
        switch binding.resolve(member.text ?? "", of: type) {
        case .failure(let problem): if !mayBeAbsent { error(member.range, problem.text) }
        case .success(let bound):
          checkPolicy(bound, member.range)
          found += bound.found.prefix(Self.mostFamilies).map(\.family)
        }
      }
    }
    return found
  }

  /// A text, or the texts of a list.
  private func texts(_ value: Expression) -> [Expression] {
    if value.text != nil { return [value] }
    guard case .table(let fields) = value.kind else { return [] }
    return fields.compactMap { $0.key == nil && $0.value.text != nil ? $0.value : nil }
  }

  // MARK: Paths

  private mutating func checkPaths(_ name: String, _ fields: [TableField], _ families: [Family]) {
    for field in fields {
      guard let key = field.key?.text else { continue }
      if Self.pathTables.contains(key), case .table(let paths) = field.value.kind {
        for path in paths { checkPath(pathText(path.value), families) }
      } else if Self.pathOptions.contains(key) {
        for path in texts(field.value) { checkPath(path, families) }
      } else if key == "once_per", let text = field.value.text, !["process", "session", "thread"].contains(text) {
        checkPath(field.value, families)
      } else if key == "name", name == "span" || name == "screen" {
        checkName(field.value, families, mayBePath: name == "screen")
      }
    }
  }

  /// `"args.url"`, or the path of `{ path = "args.url", url = "path" }`.
  private func pathText(_ value: Expression) -> Expression? {
    if value.text != nil { return value }
    guard case .table(let fields) = value.kind else { return nil }
    return self.value(of: "path", fields)
  }

  private mutating func checkPath(_ path: Expression?, _ families: [Family]) {
    guard let path, let text = path.text, let problem = problem(text, families) else { return }
    error(path.range, problem)
  }

  /// What is wrong with a path on the first of the functions that does not have it.
  private func problem(_ path: String, _ families: [Family]) -> String? {
    guard let binding, !path.hasPrefix("'") else { return nil }
    let check = CapturePathCheck(program: binding.program, rights: rights)
    return families.lazy.compactMap { check.problem(path, on: $0) }.first
  }

  /// `lint {args.1}`: paths in braces.
  private mutating func checkName(_ value: Expression, _ families: [Family], mayBePath: Bool) {
    guard let text = value.text else { return }
    if mayBePath, text.hasPrefix("self.") || text.hasPrefix("args.") { return checkPath(value, families) }
    var rest = text[...]
    while let open = rest.firstIndex(of: "{") {
      guard let close = rest[open...].firstIndex(of: "}") else { return error(value.range, "'name': a '{' in '\(text)' has no '}'") }
      if let problem = problem(String(rest[rest.index(after: open)..<close]), families) { error(value.range, problem) }
      rest = rest[rest.index(after: close)...]
    }
  }

  private mutating func checkCondition(_ value: Expression?, _ families: [Family]) {
    guard let value, let text = value.text else { return }
    do throws(RuleProblem) {
      let condition = try ConditionText(reading: text)
      for path in condition.paths { if let problem = problem(path, families) { return error(value.range, problem) } }
      guard let binding else { return }
      let check = ConditionCheck(paths: CapturePathCheck(program: binding.program, rights: rights))
      if let problem = families.lazy.compactMap({ check.problem(condition, on: $0) }).first { error(value.range, problem) }
    } catch { self.error(value.range, error.text) }
  }
}
