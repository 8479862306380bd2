// SpanInstaller — a table of `span` read, and its layers put into the program: one for the time of a call, up to three for a span that ends
// in another call than it began in.
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum SpanInstaller {
  static func read(_ table: SHLValue, _ callback: LuaCallback) throws(RuleProblem) -> (RuleDefinition, SpanDefinition) {
    var span = SpanDefinition()
    var problem: RuleProblem?
    var definition = try RuleReader.read(verb: "span", name: "", table, callback, fields: SpanDefinition.fields) { field, value in
      do throws(RuleProblem) {
        switch field {
        case "key": span.key = try key(value, callback)
        case "links": span.links = try paths(value, callback, "'links' is a path, such as \"args.headers\", or a list of up to four")
        case "ends": span.ends = try end(value, callback)
        case "cancels":
          span.cancels = try RuleReader.read(verb: "span", name: "cancels", value, callback, fields: ["on", "where", "optional", "wait"])
        default: return span.set(field, value)
        }
      } catch { problem = error }
      return problem?.text
    }
    definition.name = span.name.isEmpty ? definition.selector : span.name
    if span.ends == nil, span.cancels != nil || span.key != ["self"] {
      throw RuleProblem("span '\(definition.name)': 'key' and 'cancels' are for a span with 'ends', the call that it ends in")
    }
    return (definition, span)
  }

  private static func end(_ table: SHLValue, _ callback: LuaCallback) throws(RuleProblem) -> SpanEnd {
    var error: String?
    var keys: [String]?
    var problem: RuleProblem?
    let rule = try RuleReader.read(verb: "span", name: "ends", table, callback, fields: SpanEnd.fields) { field, value in
      if field == "key" {
        do throws(RuleProblem) { keys = try key(value, callback) } catch { problem = error }
        return problem?.text
      }
      error = value.text
      return error == nil ? "'error' is a condition, such as \"args.status >= 500\"" : nil
    }
    return SpanEnd(rule: rule, error: error, key: keys)
  }

  /// A path, or a list of paths which are the key together.
  private static func key(_ value: SHLValue, _ callback: LuaCallback) throws(RuleProblem) -> [String] {
    try paths(value, callback, "'key' is a path, such as \"self\", or a list of paths: { \"self\", \"args.id\" }")
  }

  /// - Parameter usage: the sentence for anything else than one to four paths.
  private static func paths(_ value: SHLValue, _ callback: LuaCallback, _ usage: String) throws(RuleProblem) -> [String] {
    if let path = value.text { return [path] }
    guard value.tag == SHL_TABLE else { throw RuleProblem(usage) }
    var paths: [String] = []
    var isRight = true
    callback.forEach(in: value) { position, path in
      guard position.tag == SHL_INT, let path = path.text else {
        isRight = false
        return false
      }
      paths.append(path)
      return true
    }
    guard isRight, (1...4).contains(paths.count) else { throw RuleProblem(usage) }
    return paths
  }

  /// All of its hooks, or none.
  static func install(_ definition: RuleDefinition, _ span: SpanDefinition, _ patch: Environment) throws(RuleProblem) -> InstalledRule {
    guard let ends = span.ends else {
      return try RuleInstaller.install(definition, patch) { rule, family throws(RuleProblem) in try SpanLayer.spec(span, rule, family, patch) }
    }
    let open = OpenExchanges()
    // Ends first: a span that began before them would never end.
    var parts: [InstalledRule] = []
    do throws(RuleProblem) {
      parts.append(
        try RuleInstaller.install(under(definition, ends.rule), patch) { rule, family throws(RuleProblem) in
          try ExchangeEndLayer.spec(key: ends.key ?? span.key, failure: ends.error, cancels: nil, open, rule, family, patch)
        })
      if let cancels = span.cancels {
        parts.append(
          try RuleInstaller.install(under(definition, cancels), patch) { rule, family throws(RuleProblem) in
            try ExchangeEndLayer.spec(key: Array(span.key.prefix(1)), failure: nil, cancels: "ended by \(family.selector)", open, rule, family, patch)
          })
      }
      let begin = try RuleInstaller.install(definition, patch) { rule, family throws(RuleProblem) in
        try ExchangeLayer.spec(span, open, rule, family, patch)
      }
      begin.add(parts: parts)
      return begin
    } catch {
      for part in parts { _ = part.remove() }
      throw error
    }
  }

  /// A part of the span: optional, and waited for, as the whole is.
  private static func under(_ whole: RuleDefinition, _ part: RuleDefinition) -> RuleDefinition {
    var part = part
    part.name = "\(whole.name) (\(part.name))"
    part.isOptional = part.isOptional || whole.isOptional
    part.waits = part.waits || whole.waits
    return part
  }
}
