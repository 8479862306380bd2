// ConsoleCommands — what the console answers beside snippets: types, methods, hooks.
internal import HookRuntime

enum ConsoleCommands {
  private static let most = 200

  /// The lines of a command; nil: there is none of that name.
  static func lines(_ command: String, _ argument: String) -> [String]? {
    switch command {
    case "types": types(argument)
    case "methods": methods(argument)
    case "hooks": hooks()
    case "heap": heap(argument)
    default: nil
    }
  }

  private static func types(_ text: String) -> [String] {
    let all = TypeCatalog.shared.all
    for pattern in [SelectorPattern(text.isEmpty ? "**" : text)] + SelectorPattern.ofTypes(named: text) {
      let found = all.filter { pattern.matches($0, isStatic: false, typed: { [] }) }.sorted()
      if !found.isEmpty { return cut(found) }
    }
    return ["no type matches '\(text)'"]
  }

  private static func methods(_ text: String) -> [String] {
    for pattern in [SelectorPattern(text.isEmpty ? "**" : text)] + SelectorPattern.ofMembers(named: text) {
      let found = Set(ProcessCatalog.shared.families(matching: pattern).map { $0.0.fullName($0.1, typed: true) }).sorted()
      if !found.isEmpty { return cut(found) }
    }
    let near = NearestNames.selectors(to: text)
    return ["no selector matches '\(text)'" + (near.first.map { "; did you mean '\($0)'?" } ?? "")]
  }

  private static func hooks() -> [String] {
    let found = HookEngine.shared.list(settled: true).map(\.description)
    return found.isEmpty ? ["no hooks"] : cut(found)
  }

  private static func heap(_ name: String) -> [String] {
    guard !name.isEmpty else { return [":heap takes the name of a class, such as Shop.Cart"] }
    guard let type = TypeCatalog.shared.descriptor(name)?.metadata() else {
      return [SelectorLookup.typeProblem(name) ?? "type '\(name)' is generic; its type arguments are not in its name"]
    }
    guard case .classType = type.kind else { return ["'\(name)' is no class: values of it have no place of their own on the heap"] }
    return HeapCount.lines(of: type, name)
  }

  private static func cut(_ lines: [String]) -> [String] {
    Array(lines.prefix(most)) + (lines.count > most ? ["… \(lines.count - most) more; name fewer"] : [])
  }
}
