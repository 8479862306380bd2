// SnippetEffects — what a snippet of the console reads and leaves behind, by its text: for :save, which keeps what later snippets build on.
internal import LuaSyntax
internal import ScriptHost

/// What running something may do to the session's globals.
struct SnippetEffects {
  /// Globals that it assigns, or whose contents it changes.
  var writes: Set<String> = []
  /// Globals that it calls.
  var calls: Set<String> = []
  /// Globals that it gives to functions, which may call them.
  var passes: Set<String> = []
  /// It may change something that no name tells.
  var isUnknown = false

  mutating func formUnion(_ other: SnippetEffects) {
    writes.formUnion(other.writes)
    calls.formUnion(other.calls)
    passes.formUnion(other.passes)
    isUnknown = isUnknown || other.isUnknown
  }
}

/// One snippet, read.
struct SnippetFacts {
  /// Globals that it reads, those that its functions read when they are called, too.
  private(set) var reads: Set<String> = []
  /// What running it may do.
  private(set) var effects = SnippetEffects()
  /// What calling the functions that it puts into globals may do, by the names of the globals.
  private(set) var functions: [String: SnippetEffects] = [:]
  private let names: Names

  init(_ text: String) {
    let value = Script(SourceText("return " + text))
    let block = value.problem == nil ? value.block : Script(SourceText(text)).block
    names = Names(block)
    reads = Set(names.globals.filter { !$0.isAssigned }.map(\.name.text))
    effects = run(block)
  }

  // MARK: Statements

  private mutating func run(_ block: Block) -> SnippetEffects {
    var found = SnippetEffects()
    for statement in block.statements { found.formUnion(run(statement)) }
    return found
  }

  private mutating func run(_ statement: Statement) -> SnippetEffects {
    var found = SnippetEffects()
    switch statement.kind {
    case .function(let name, let body):
      found.formUnion(assignment(to: name))
      keep(run(body.block), of: name, &found)
    case .assignment(let targets, let values):
      for target in targets { found.formUnion(assignment(to: target)) }
      for (place, value) in values.enumerated() {
        let effects = evaluate(value)
        // A function that is put into a global runs when somebody calls that.
        if place < targets.count, value.holdsFunction { keep(effects, of: targets[place], &found) } else { found.formUnion(effects) }
      }
    case .localFunction(_, let body): found.formUnion(run(body.block))
    default:
      for value in statement.expressions { found.formUnion(evaluate(value)) }
      for block in statement.blocks { found.formUnion(run(block)) }
    }
    return found
  }

  private mutating func keep(_ effects: SnippetEffects, of target: Expression, _ found: inout SnippetEffects) {
    if let root = root(of: target), names.local(root) == nil {
      functions[root.text, default: SnippetEffects()].formUnion(effects)
    } else {
      found.formUnion(effects)
    }
  }

  /// Of giving a variable or a table's field a value.
  private mutating func assignment(to target: Expression) -> SnippetEffects {
    var found = SnippetEffects()
    for part in target.parts { found.formUnion(evaluate(part)) }
    if case .name(let name) = target.kind, names.local(name) != nil { return found }
    found.formUnion(change(of: target))
    return found
  }

  /// Of a change of what an expression stands for: a global, or a table.
  private func change(of target: Expression) -> SnippetEffects {
    guard let root = root(of: target) else { return SnippetEffects(isUnknown: true) }
    guard let local = names.local(root) else { return SnippetEffects(writes: [root.text]) }
    // A table that was made here ends with the snippet; others may be known elsewhere.
    if case .table? = local.initial?.kind, local.writes == 0 { return SnippetEffects() }
    return SnippetEffects(isUnknown: true)
  }

  // MARK: Expressions

  private mutating func evaluate(_ value: Expression) -> SnippetEffects {
    var found = SnippetEffects()
    switch value.kind {
    case .function(let body): return run(body.block)
    case .call(let function, let arguments):
      found.formUnion(call(of: function, arguments))
      for argument in arguments { if case .name(let name) = argument.kind, names.local(name) == nil { found.passes.insert(name.text) } }
    case .method(let receiver, _, _): if !isText(receiver), !isOurs(receiver) { found.isUnknown = true }
    default: break
    }
    for part in value.parts { found.formUnion(evaluate(part)) }
    return found
  }

  private func call(of function: Expression, _ arguments: [Expression]) -> SnippetEffects {
    switch function.kind {
    case .function: return SnippetEffects()
    case .group(let inner): return call(of: inner, arguments)
    case .name(let name):
      if let local = names.local(name) {
        // The body of a function that is declared here was looked at.
        if case .function? = local.initial?.kind, local.writes == 0 { return SnippetEffects() }
        return SnippetEffects(isUnknown: true)
      }
    default: break
    }
    if isOurs(function) {
      guard let first = arguments.first, Self.changers.contains(function.path ?? "") else { return SnippetEffects() }
      return change(of: first)
    }
    guard let root = root(of: function), names.local(root) == nil else { return SnippetEffects(isUnknown: true) }
    return SnippetEffects(calls: [root.text])
  }

  /// Functions of Lua's own that change their first argument.
  private static let changers: Set<String> = ["table.insert", "table.remove", "table.sort", "table.move", "rawset", "setmetatable"]
  /// Those that run what no reading of the snippet tells.
  private static let runners: Set<String> = ["load", "require", "dofile", "on_unload"]

  /// `print`, `swift.type`, `string.format` and what they answer: what looks and keeps nothing, or whose changes the session itself tells.
  private func isOurs(_ function: Expression) -> Bool {
    switch function.kind {
    case .name(let name):
      names.local(name) == nil && ScriptReference.globalNames.contains(name.text) && !Self.runners.contains(name.text)
    case .member(let base, _), .index(let base, _): isOurs(base)
    case .call(let inner, _), .group(let inner): isOurs(inner)
    case .method(let receiver, _, _): isOurs(receiver)
    default: false
    }
  }

  /// A text, whose methods change nothing.
  private func isText(_ value: Expression) -> Bool {
    switch value.kind {
    case .string: true
    case .group(let inner): isText(inner)
    case .method(let receiver, _, _): isText(receiver)
    case .name(let name): names.local(name).map { $0.writes == 0 && $0.initial.map(isText) ?? false } ?? false
    default: false
    }
  }

  /// The variable that an expression begins with.
  private func root(of value: Expression) -> Identifier? {
    switch value.kind {
    case .name(let name): name
    case .member(let base, _), .index(let base, _), .group(let base): root(of: base)
    default: nil
    }
  }
}

extension Expression {
  /// A function, or a table with functions.
  fileprivate var holdsFunction: Bool {
    switch kind {
    case .function: true
    case .group(let inner): inner.holdsFunction
    case .table(let fields): fields.contains { $0.value.holdsFunction }
    default: false
    }
  }

  /// `table.insert`; nil for what is no names and dots.
  fileprivate var path: String? {
    switch kind {
    case .name(let name): name.text
    case .member(let base, let name): base.path.map { "\($0).\(name.text)" }
    default: nil
    }
  }
}
