// BlockRules — what the grammar alone does not say: where `break`, `goto` and `...` may stand, and what may be assigned.

struct BlockRules {
  private let source: SourceText
  /// Blocks around the place, in the function around it: their labels are visible.
  private var blocks: [OpenBlock] = []
  private var loops = 0
  private var isVariadic = true
  /// Names that are in scope, and whether they are constants.
  private var scope: [(name: String, isConstant: Bool)] = []

  /// A block whose statements are being checked.
  private struct OpenBlock {
    let statements: [Statement]
    /// `repeat`: its locals are there in the condition behind it.
    let isRepeated: Bool
    /// By name, the position among the statements.
    var labels: [String: Int] = [:]
    /// The statement that is checked.
    var at = 0

    /// Nothing but labels follows: there locals are over.
    func isAtEnd(_ position: Int) -> Bool {
      !isRepeated && statements[position...].allSatisfy { if case .label = $0.kind { true } else { false } }
    }
  }

  init(_ source: SourceText) { self.source = source }

  mutating func check(_ block: Block) throws(SyntaxProblem) { try check(block, until: nil) }

  private func problem(_ range: Range<Int>, _ message: String) -> SyntaxProblem {
    SyntaxProblem(range: range, message: message, needsMore: false)
  }

  private mutating func check(_ block: Block, names: [Identifier] = [], until condition: Expression?) throws(SyntaxProblem) {
    let outer = scope.count
    scope += names.map { ($0.text, false) }
    defer { scope.removeLast(scope.count - outer) }
    var own = OpenBlock(statements: block.statements, isRepeated: condition != nil)
    for (position, statement) in block.statements.enumerated() {
      guard case .label(let name) = statement.kind else { continue }
      for open in blocks + [own] {
        guard let first = open.labels[name.text] else { continue }
        throw problem(
          name.range, "label '\(name.text)' is there already, at line \(source.position(of: open.statements[first].range.lowerBound).line)")
      }
      own.labels[name.text] = position
    }
    blocks.append(own)
    defer { blocks.removeLast() }
    for (position, statement) in block.statements.enumerated() {
      blocks[blocks.count - 1].at = position
      try check(statement)
    }
    if let condition { try check(condition) }
  }

  private mutating func loop(_ block: Block, names: [Identifier] = [], until condition: Expression? = nil) throws(SyntaxProblem) {
    loops += 1
    defer { loops -= 1 }
    try check(block, names: names, until: condition)
  }

  private mutating func check(_ statement: Statement) throws(SyntaxProblem) {
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

  /// A jump to a label of a block around it, and not into the scope of a local.
  private func check(goto name: Identifier) throws(SyntaxProblem) {
    guard let block = blocks.last(where: { $0.labels[name.text] != nil }), let label = block.labels[name.text] else {
      throw problem(name.range, "no visible label '\(name.text)' for this goto")
    }
    guard label > block.at, !block.isAtEnd(label) else { return }
    for statement in block.statements[(block.at + 1)..<label] {
      let first: Identifier?
      switch statement.kind {
      case .local(let names, _): first = names.first?.name
      case .localFunction(let own, _): first = own
      default: first = nil
      }
      if let first {
        throw problem(name.range, "this goto jumps into the scope of the local '\(first.text)'; declare it before, or end its block before the label")
      }
    }
  }

  private mutating func check(_ values: [Expression]) throws(SyntaxProblem) { for value in values { try check(value) } }

  private mutating func check(_ body: FunctionBody) throws(SyntaxProblem) {
    let kept = (blocks, loops, isVariadic)
    (blocks, loops, isVariadic) = ([], 0, body.isVariadic)
    defer { (blocks, loops, isVariadic) = kept }
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
