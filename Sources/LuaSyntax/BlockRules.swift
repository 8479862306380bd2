// BlockRules — what the grammar alone does not say: where `break`, `goto` and `...` may stand, and what may be assigned.

struct BlockRules {
  private let source: SourceText
  /// Labels that are visible, one set for each block around the place, in the function around it.
  private var labels: [[String: Int]] = []
  private var loops = 0
  private var isVariadic = true
  /// Names that are in scope, and whether they are constants.
  private var scope: [(name: String, isConstant: Bool)] = []

  init(_ source: SourceText) { self.source = source }

  mutating func check(_ block: Block) throws(SyntaxProblem) { try check(block, until: nil) }

  private func problem(_ range: Range<Int>, _ message: String) -> SyntaxProblem {
    SyntaxProblem(range: range, message: message, needsMore: false)
  }

  private mutating func check(_ block: Block, names: [Identifier] = [], until condition: Expression?) throws(SyntaxProblem) {
    let outer = scope.count
    scope += names.map { ($0.text, false) }
    defer { scope.removeLast(scope.count - outer) }
    var own: [String: Int] = [:]
    for statement in block.statements {
      guard case .label(let name) = statement.kind else { continue }
      if let first = (labels.lazy.compactMap { $0[name.text] }.first ?? own[name.text]) {
        throw problem(name.range, "label '\(name.text)' is there already, at line \(source.position(of: first).line)")
      }
      own[name.text] = name.range.lowerBound
    }
    labels.append(own)
    defer { labels.removeLast() }
    for (place, statement) in block.statements.enumerated() { try check(statement, block.statements[(place + 1)...], isLoop: condition != nil) }
    if let condition { try check(condition) }
  }

  private mutating func loop(_ block: Block, names: [Identifier] = [], until condition: Expression? = nil) throws(SyntaxProblem) {
    loops += 1
    defer { loops -= 1 }
    try check(block, names: names, until: condition)
  }

  private mutating func check(_ statement: Statement, _ rest: ArraySlice<Statement>, isLoop: Bool) throws(SyntaxProblem) {
    switch statement.kind {
    case .local(let names, let values):
      try check(values)
      if names.count(where: { $0.attribute?.text == "close" }) > 1 {
        throw problem(statement.range, "one 'local' declares at most one name with <close>")
      }
      scope += names.map { ($0.name.text, $0.attribute != nil) }
    case .localFunction(let name, let body):
      scope.append((name.text, false))
      try check(body)
    case .assignment(let targets, let values):
      for target in targets {
        try check(target)
        if case .name(let name) = target.kind, let found = scope.last(where: { $0.name == name.text }), found.isConstant {
          throw problem(name.range, "'\(name.text)' is a constant and cannot be assigned to")
        }
      }
      try check(values)
    case .call(let call): try check(call)
    case .block(let block): try check(block, until: nil)
    case .whileLoop(let condition, let block):
      try check(condition)
      try loop(block)
    case .repeatLoop(let block, let condition): try loop(block, until: condition)
    case .branches(let branches, let otherwise):
      for (condition, block) in branches {
        try check(condition)
        try check(block, until: nil)
      }
      if let otherwise { try check(otherwise, until: nil) }
    case .numericFor(let name, let values, let block):
      try check(values)
      try loop(block, names: [name])
    case .genericFor(let names, let values, let block):
      try check(values)
      try loop(block, names: names)
    case .function(let name, let body):
      try check(name)
      try check(body)
    case .leave(let values): try check(values)
    case .breakLoop: if loops == 0 { throw problem(statement.range, "'break' outside of a loop") }
    case .goto(let name): try check(goto: name)
    case .label: break
    }
  }

  /// A jump to a label of a block around it. Jumps into the scope of a local are left to Lua.
  private func check(goto name: Identifier) throws(SyntaxProblem) {
    if !labels.contains(where: { $0[name.text] != nil }) { throw problem(name.range, "no visible label '\(name.text)' for this goto") }
  }

  private mutating func check(_ values: [Expression]) throws(SyntaxProblem) { for value in values { try check(value) } }

  private mutating func check(_ body: FunctionBody) throws(SyntaxProblem) {
    let kept = (labels, loops, isVariadic)
    (labels, loops, isVariadic) = ([], 0, body.isVariadic)
    defer { (labels, loops, isVariadic) = kept }
    try check(body.block, names: body.parameters, until: nil)
  }

  private mutating func check(_ value: Expression) throws(SyntaxProblem) {
    switch value.kind {
    case .nothing, .yes, .no, .number, .string, .name: break
    case .varargs: if !isVariadic { throw problem(value.range, "'...' outside of a function that takes any number of arguments") }
    case .function(let body): try check(body)
    case .member(let base, _), .unary(_, let base), .group(let base): try check(base)
    case .index(let a, let b), .binary(_, let a, let b):
      try check(a)
      try check(b)
    case .call(let function, let arguments):
      try check(function)
      try check(arguments)
    case .method(let receiver, _, let arguments):
      try check(receiver)
      try check(arguments)
    case .table(let fields):
      for field in fields {
        if let key = field.key { try check(key) }
        try check(field.value)
      }
    }
  }
}
