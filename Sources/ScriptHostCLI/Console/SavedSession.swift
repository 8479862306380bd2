// SavedSession — what a session of the console did, as a patch: the snippets that its hooks and rules need, and a test.
internal import LuaSyntax

/// Snippets in the order in which they ran without a failure.
struct SavedSession {
  private struct Snippet {
    let text: String
    /// It changed the program.
    let isChange: Bool
    let facts: SnippetFacts
  }
  private var snippets: [Snippet] = []

  mutating func add(_ text: String, isChange: Bool) { snippets.append(Snippet(text: text, isChange: isChange, facts: SnippetFacts(text))) }

  /// The names of last values that the saved snippets ask for, which a patch does not have.
  var lastValues: [String] {
    let read = kept.reduce(into: Set<String>()) { $0.formUnion($1.facts.reads) }
    return ["_", "_1", "_2", "_3"].filter(read.contains)
  }

  /// What changed the program, and what those build on: snippets that set the globals and functions that they read, at whatever time, and
  /// before the last change those of which nothing tells what they did.
  private var kept: [Snippet] {
    guard let last = snippets.lastIndex(where: \.isChange) else { return [] }
    var isKept = snippets.map(\.isChange)
    let effects = snippets.map { reach(of: $0.facts.effects) }
    for place in 0..<last where effects[place].isUnknown { isKept[place] = true }
    while true {
      var needed: Set<String> = []
      for place in snippets.indices where isKept[place] { needed.formUnion(snippets[place].facts.reads) }
      let more = snippets.indices.filter { !isKept[$0] && !effects[$0].writes.isDisjoint(with: needed) }
      if more.isEmpty { return snippets.indices.filter { isKept[$0] }.map { snippets[$0] } }
      for place in more { isKept[place] = true }
    }
  }

  /// With what the session's functions do that it calls. What others do is not known.
  private func reach(of effects: SnippetEffects) -> SnippetEffects {
    var found = effects
    var seen: Set<String> = []
    while let name = found.calls.union(found.passes).subtracting(seen).first {
      seen.insert(name)
      let functions = snippets.compactMap { $0.facts.functions[name] }
      for function in functions { found.formUnion(function) }
      if functions.isEmpty, found.calls.contains(name) { found.isUnknown = true }
    }
    return found
  }

  /// The text as it stands in a file: a value becomes a statement, and locals end with their snippet.
  private static func statement(_ text: String) -> String {
    let asStatements = Script(SourceText(text))
    guard asStatements.problem == nil else { return "local _ = \(text)" }
    let isScoped = asStatements.block.statements.contains { statement in
      switch statement.kind {
      case .local, .localFunction, .leave, .label, .goto: true
      default: false
      }
    }
    return isScoped ? "do\n\(text)\nend" : text
  }

  /// Nil: nothing changed the program.
  func patch(id: String, program: String) -> String? {
    let kept = kept.map { Self.statement($0.text) }
    guard !kept.isEmpty else { return nil }
    return """
      -- Written in the console.
      patch { id = "\(id)", version = "0.1.0", api = 1, target = { program = "\(program)" } }

      \(kept.joined(separator: "\n"))

      test "\(id) is in place" (function(t) t.expect(#hooks() > 0, "nothing is hooked") end)

      """
  }
}
