// SavedSession — what a session of the console did, as a patch: the snippets that its hooks and rules need, and a test.
internal import LuaSyntax
internal import ScriptHost

/// Snippets in the order in which they ran without a failure.
struct SavedSession {
  private struct Snippet {
    let text: String
    /// It changed the program.
    let isChange: Bool
  }
  private var snippets: [Snippet] = []

  mutating func add(_ text: String, isChange: Bool) {
    if isChange || Self.mayMatter(text) { snippets.append(Snippet(text: text, isChange: isChange)) }
  }

  /// What later snippets may build on: all but values that were only looked at.
  private static func mayMatter(_ text: String) -> Bool {
    let value = Script(SourceText("return " + text))
    guard value.problem == nil else { return true }
    var matters = false
    value.block.forEachExpression { inner in
      switch inner.kind {
      // A function of the session's own may set its globals.
      case .call(let function, _): matters = matters || !isOurs(function)
      case .method: matters = true
      default: break
      }
      return !matters
    }
    return matters
  }

  /// `print`, `swift.type`, `string.format`: what looks and keeps nothing.
  private static func isOurs(_ function: Expression) -> Bool {
    switch function.kind {
    case .name(let name): ScriptReference.globalNames.contains(name.text)
    case .member(let base, _): isOurs(base)
    case .call(let inner, _), .group(let inner): isOurs(inner)
    default: false
    }
  }

  /// The names of last values that the saved snippets ask for, which a patch does not have.
  var lastValues: [String] {
    let names = kept.flatMap { Names(Script(SourceText($0)).block).globals.filter { !$0.isAssigned }.map(\.name.text) }
    return ["_", "_1", "_2", "_3"].filter(names.contains)
  }

  /// Up to the last change: nothing behind it is needed by it.
  private var kept: [String] {
    guard let last = snippets.lastIndex(where: \.isChange) else { return [] }
    return snippets[...last].map { Self.statement($0.text) }
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
    let kept = kept
    guard !kept.isEmpty else { return nil }
    return """
      -- Written in the console.
      patch { id = "\(id)", version = "0.1.0", api = 1, target = { program = "\(program)" } }

      \(kept.joined(separator: "\n"))

      test "\(id) is in place" (function(t) t.expect(#hooks() > 0, "nothing is hooked") end)

      """
  }
}
