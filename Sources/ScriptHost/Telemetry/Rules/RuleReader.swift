// RuleReader — a rule's table in Lua, read into a definition: names and types of all fields are checked, the paths are not.
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

struct RuleReader {
  /// What every verb takes.
  static let common = ["on", "at", "fields", "context", "where", "sample", "rate", "dedupe", "same", "once_per", "pii", "wait", "optional"]

  private let callback: LuaCallback
  private(set) var definition: RuleDefinition
  private var privacy: [(field: String, RuleDefinition.Privacy)] = []

  /// Reads the table.
  /// - Parameters:
  ///   - needsSelector: the verb says with `on` what is meant.
  ///   - fields: names of the fields that the verb knows; `own` gets those that are not common, and answers what is wrong.
  static func read(
    verb: String, name: String, _ table: SHLValue, _ callback: LuaCallback, fields: [String] = common,
    needsSelector: Bool = true, own: (String, SHLValue) -> String? = { _, _ in nil }
  ) throws(RuleProblem) -> RuleDefinition {
    let title = name.isEmpty ? verb : "\(verb) '\(name)'"
    guard table.tag == SHL_TABLE else { throw RuleProblem("\(title) takes a table: { on = \"…\", fields = { … } }") }
    var reader = RuleReader(callback: callback, definition: RuleDefinition(verb: verb, name: name, selector: ""))
    var problem: String?
    callback.forEach(in: table) { key, value in
      guard let key = key.text else {
        problem = "fields are named"
        return false
      }
      guard fields.contains(key) else {
        let near = RuleNames.nearest(to: key, fields)
        problem = "unknown field '\(key)'; \(near.map { "did you mean '\($0)'?" } ?? "known are \(fields.joined(separator: ", "))")"
        return false
      }
      // What a span and a metric have of a call are its attributes.
      let same = key == "attributes" || key == "by" ? "fields" : key
      problem = (common.contains(same) ? reader.set(same, value) : own(key, value)).map { Self.telling($0, key, value) }
      return problem == nil
    }
    problem = problem ?? reader.applyPrivacy()
    if let problem { throw RuleProblem("\(title): \(problem)") }
    if needsSelector, reader.definition.selector.isEmpty { throw RuleProblem("\(title) needs 'on', the selector of the call") }
    return reader.definition
  }

  /// A sentence that says what a field is, with what it was set to. What is wrong inside a table says that itself.
  private static func telling(_ problem: String, _ field: String, _ value: SHLValue) -> String {
    problem.hasPrefix("'\(field)' is ") && value.tag != SHL_TABLE ? "\(problem), found \(ValueBridge.spelled(value))" : problem
  }

  /// Sets one field; answers what is wrong with it.
  private mutating func set(_ field: String, _ value: SHLValue) -> String? {
    switch field {
    case "on":
      guard let text = value.text else { return "'on' is a selector" }
      definition.selector = text
    case "at":
      guard let text = value.text, text == "enter" || text == "exit" else { return "'at' is \"enter\" or \"exit\"" }
      definition.atExit = text == "exit"
    case "wait", "optional":
      guard value.tag == SHL_BOOL else { return "'\(field)' is true or false" }
      if field == "wait" { definition.waits = value.b } else { definition.isOptional = value.b }
    case "fields": return Self.paths(field, value, callback).map(into: &definition.fields)
    case "context": return Self.paths(field, value, callback).map(into: &definition.context)
    case "where":
      guard let text = value.text else { return "'where' is a condition, such as \"self.total > 0\"" }
      definition.condition = text
    case "pii": return readPrivacy(value)
    case "once_per": return readOncePer(value)
    case "same": return readSame(value)
    default: return setLimit(field, value)
    }
    return nil
  }

  private mutating func setLimit(_ field: String, _ value: SHLValue) -> String? {
    let text = value.text ?? (value.tag == SHL_NUMBER ? "\(value.n)" : value.tag == SHL_INT ? "\(value.i)" : "")
    switch field {
    case "sample":
      guard let share = RuleUnits.share(text) else { return "'sample' is a share, such as \"10%\" or 0.1" }
      definition.sample = share
    case "rate":
      guard let rate = RuleUnits.rate(text) else { return "'rate' is a number in a time, such as \"50/s\" or \"3/min\"" }
      definition.rate = rate
    default:
      guard let time = RuleUnits.duration(text), time >= 1_000_000 else { return "'dedupe' is a time of 1ms or more, such as \"100ms\"" }
      definition.dedupe = time
    }
    return nil
  }

  /// A path, or a list of paths.
  private mutating func readSame(_ value: SHLValue) -> String? {
    let usage = "'same' is a path, or a list of paths, whose values tell one action: { \"self\", \"args.1\" }"
    if let path = value.text { definition.same = [path] } else {
      guard value.tag == SHL_TABLE else { return usage }
      var isRight = true
      callback.forEach(in: value) { position, path in
        guard position.tag == SHL_INT, let path = path.text else {
          isRight = false
          return false
        }
        definition.same.append(path)
        return true
      }
      guard isRight, (1...4).contains(definition.same.count) else { return usage }
    }
    definition.dedupe = definition.dedupe ?? RuleDefinition.sameAction
    return nil
  }

  private mutating func readOncePer(_ value: SHLValue) -> String? {
    switch value.text {
    case "process"?, "session"?: definition.oncePer = .process
    case "thread"?: definition.oncePer = .thread
    case let path? where path.hasPrefix("self") || path.hasPrefix("args.") || path.hasPrefix("result"): definition.oncePer = .path(path)
    default: return "'once_per' is \"process\", \"thread\" or a path, such as \"args.user\" or \"self\""
    }
    return nil
  }

  private mutating func readPrivacy(_ value: SHLValue) -> String? {
    guard value.tag == SHL_TABLE else { return "'pii' maps fields to \"drop\", \"hash\" or \"mask\"" }
    var problem: String?
    callback.forEach(in: value) { key, kind in
      if let key = key.text, let kind = kind.text.flatMap(RuleDefinition.Privacy.init) { privacy.append((key, kind)) } else {
        problem = "'pii' maps fields to \"drop\", \"hash\" or \"mask\""
      }
      return problem == nil
    }
    return problem
  }

  private mutating func applyPrivacy() -> String? {
    for (name, kind) in privacy {
      let inFields = definition.fields.firstIndex { $0.name == name }
      let inContext = definition.context.firstIndex { $0.name == name }
      if let inFields { definition.fields[inFields].privacy = kind }
      if let inContext { definition.context[inContext].privacy = kind }
      if inFields == nil, inContext == nil {
        let names = (definition.fields + definition.context).map(\.name)
        return "'pii' names '\(name)', which is no field\(RuleNames.nearest(to: name, names).map { "; did you mean '\($0)'?" } ?? "")"
      }
    }
    return nil
  }

  /// What a table of paths came to.
  enum Paths {
    case read([RuleDefinition.Field])
    case wrong(String)

    /// Keeps the fields; answers what is wrong.
    func map(into fields: inout [RuleDefinition.Field]) -> String? {
      switch self {
      case .read(let found): fields = found; return nil
      case .wrong(let problem): return problem
      }
    }
  }

  /// A table of names and paths, or a list of paths that are named by their last steps. By name.
  static func paths(_ field: String, _ value: SHLValue, _ callback: LuaCallback) -> Paths {
    let usage = "'\(field)' maps names to paths, such as total = \"self.total\", or to { path = \"self.state\", "
      + "map = { open = 1 } } or { path = \"args.url\", url = \"path\" }"
    guard value.tag == SHL_TABLE else { return .wrong("'\(field)' is a table of paths") }
    var found: [RuleDefinition.Field] = []
    var isRight = true
    callback.forEach(in: value) { key, value in
      let made = value.tag == SHL_TABLE ? described(value, callback) : value.text.map { RuleDefinition.Field(name: "", path: $0) }
      guard var field = made, let name = key.text ?? (key.tag == SHL_INT ? lastStep(field.path) : nil) else {
        isRight = false
        return false
      }
      field.name = name
      found.append(field)
      return true
    }
    return isRight ? .read(found.sorted { $0.name < $1.name }) : .wrong(usage)
  }

  /// `{ path = "self.state", map = { open = 1, closed = 0 } }` or `{ path = "args.url", url = "query" }`, without a name; nil for anything else.
  private static func described(_ table: SHLValue, _ callback: LuaCallback) -> RuleDefinition.Field? {
    var path: String?
    var map: [String: Int64] = [:]
    var part: RuleDefinition.URLPart?
    var isRight = true
    callback.forEach(in: table) { key, value in
      switch (key.text, value.tag) {
      case ("path", SHL_STRING): path = value.text
      case ("url", SHL_STRING):
        part = value.text.flatMap(RuleDefinition.URLPart.init)
        isRight = part != nil
      case ("map", SHL_TABLE):
        callback.forEach(in: value) { name, number in
          isRight = isRight && name.text != nil && number.tag == SHL_INT
          if let name = name.text { map[name] = number.i }
          return isRight
        }
      default: isRight = false
      }
      return isRight
    }
    return isRight && (part == nil || map.isEmpty) ? path.map { RuleDefinition.Field(name: "", path: $0, map: map, part: part) } : nil
  }

  /// "table" of "args.table"; "total" of "self.total()".
  private static func lastStep(_ path: String) -> String {
    let step = path.split(separator: ".").last.map(String.init) ?? path
    return step.hasSuffix("()") ? String(step.dropLast(2)) : step
  }
}
