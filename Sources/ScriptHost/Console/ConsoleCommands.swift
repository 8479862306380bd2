// ConsoleCommands — what the console answers beside snippets: types, methods, hooks.
internal import HookRuntime

enum ConsoleCommands {
  private static let most = 200

  enum Answer: Sendable {
    case lines([String])
    /// Why there are none, in a sentence.
    case failed(String)
    /// There is no command of that name.
    case unknown
  }

  static func answer(_ command: String, _ argument: String) -> Answer {
    switch command {
    case "types": types(argument)
    case "methods": methods(argument)
    case "hooks": hooks()
    case "heap": heap(argument)
    default: .unknown
    }
  }

  private static func types(_ text: String) -> Answer {
    let all = TypeCatalog.shared.all
    for pattern in [SelectorPattern(text.isEmpty ? "**" : text)] + SelectorPattern.ofTypes(named: text) {
      let found = all.filter { pattern.matches($0, isStatic: false, typed: { [] }) }.sorted()
      if !found.isEmpty { return cut(found) }
    }
    return .failed("no type matches '\(text)'")
  }

  private static func methods(_ text: String) -> Answer {
    for pattern in [SelectorPattern(text.isEmpty ? "**" : text)] + SelectorPattern.ofMembers(named: text) {
      let found = Set(ProcessCatalog.shared.families(matching: pattern).map { $0.0.fullName($0.1, typed: true) }).sorted()
      if !found.isEmpty { return cut(found) }
    }
    let near = NearestNames.selectors(to: text)
    return .failed("no selector matches '\(text)'" + (near.first.map { "; did you mean '\($0)'?" } ?? ""))
  }

  private static func hooks() -> Answer {
    let found = HookEngine.shared.list(settled: true).map(\.description)
    return found.isEmpty ? .lines(["no hooks"]) : cut(found)
  }

  private static func heap(_ name: String) -> Answer {
    guard !name.isEmpty else { return .failed(":heap takes the name of a class, such as Shop.Cart") }
    guard let type = TypeCatalog.shared.descriptor(name)?.metadata() else {
      return .failed(SelectorLookup.typeProblem(name) ?? "type '\(name)' is generic; its type arguments are not in its name")
    }
    guard case .classType = type.kind else { return .failed("'\(name)' is no class: values of it have no place of their own on the heap") }
    return HeapCount.answer(of: type, name)
  }

  private static func cut(_ lines: [String]) -> Answer {
    .lines(Array(lines.prefix(most)) + (lines.count > most ? ["… \(lines.count - most) more; name fewer"] : []))
  }
}
