// Parser — from tokens to a tree, by the grammar of Lua 5.4. Stops at the first mistake; what came before it stays.
//
// The parser recurses as the text nests, so nesting is bounded: beyond `deepest` a text is refused, as Lua refuses it beyond 200.

struct Parser {
  private let source: SourceText
  private let tokens: [Token]
  private var at = 0
  private var depth = 0
  private static let deepest = 190
  /// Parsed statements of the main chunk, for a text that breaks off.
  private var parsed: [Statement] = []

  init(_ source: SourceText) {
    self.source = source
    tokens = Lexer.tokens(source).filter { $0.kind != .comment || $0.problem != nil }
  }

  mutating func script() -> (Block, SyntaxProblem?) {
    do throws(SyntaxProblem) {
      let block = try block(isMain: true)
      if token.kind != .end { throw unexpected("expected a statement") }
      var rules = BlockRules(source)
      try rules.check(block)
      return (block, nil)
    } catch { return (Block(statements: parsed, range: 0..<source.bytes.count), error) }
  }

  // MARK: Tokens

  private var token: Token { tokens[at] }
  private var text: String { source[token.range] }
  private var lastEnd: Int { at == 0 ? 0 : tokens[at - 1].range.upperBound }
  private func isSymbol(_ wanted: String) -> Bool { token.kind == .symbol && text == wanted }
  private func isKeyword(_ wanted: String) -> Bool { token.kind == .keyword && text == wanted }
  private func symbolAhead(_ ahead: Int) -> String? {
    at + ahead < tokens.count && tokens[at + ahead].kind == .symbol ? source[tokens[at + ahead].range] : nil
  }

  private mutating func take(_ wanted: String) -> Bool {
    guard isSymbol(wanted) || isKeyword(wanted) else { return false }
    at += 1
    return true
  }

  private mutating func expect(_ wanted: String, _ what: String) throws(SyntaxProblem) {
    if !take(wanted) { throw unexpected("expected '\(wanted)' \(what)") }
  }

  /// Of a construct that began at `start` and has to be closed.
  private mutating func expect(_ wanted: String, closing opening: String, _ start: Int) throws(SyntaxProblem) {
    if take(wanted) { return }
    let line = source.position(of: start).line
    let here = source.position(of: token.range.lowerBound).line
    throw unexpected("expected '\(wanted)'" + (line == here ? " to close '\(opening)'" : " to close '\(opening)' at line \(line)"))
  }

  private mutating func identifier(_ what: String) throws(SyntaxProblem) -> Identifier {
    guard token.kind == .name else { throw unexpected("expected a name \(what)") }
    defer { at += 1 }
    return Identifier(text: text, range: token.range)
  }

  private func unexpected(_ rule: String) -> SyntaxProblem {
    if let problem = token.problem { return SyntaxProblem(range: token.range, message: problem, needsMore: token.isUnfinished) }
    let found = token.kind == .end ? "the end of the text" : "'\(String(text.prefix(32).prefix { $0 != "\n" }))'"
    return SyntaxProblem(range: token.range, message: "\(rule), found \(found)", needsMore: token.kind == .end)
  }

  /// Tokens that are broken are reported where they stand.
  private func checkToken() throws(SyntaxProblem) {
    if let problem = token.problem { throw SyntaxProblem(range: token.range, message: problem, needsMore: token.isUnfinished) }
  }

  private mutating func enter() throws(SyntaxProblem) {
    depth += 1
    if depth > Self.deepest {
      throw SyntaxProblem(range: token.range, message: "this nests more than \(Self.deepest) deep", needsMore: false)
    }
  }

  // MARK: Blocks

  private var endsBlock: Bool {
    token.kind == .end || token.kind == .keyword && ["end", "else", "elseif", "until"].contains(text)
  }

  private mutating func block(isMain: Bool = false) throws(SyntaxProblem) -> Block {
    try enter()
    defer { depth -= 1 }
    let start = token.range.lowerBound
    var statements: [Statement] = []
    while !endsBlock {
      try checkToken()
      if take(";") { continue }
      let isReturn = isKeyword("return")
      let statement = try statement()
      statements.append(statement)
      if isMain { parsed.append(statement) }
      if isReturn {
        if !endsBlock { throw unexpected("'return' is the last statement of its block") }
        break
      }
    }
    return Block(statements: statements, range: start..<max(start, lastEnd))
  }

  private mutating func statement() throws(SyntaxProblem) -> Statement {
    try enter()
    defer { depth -= 1 }
    let start = token.range.lowerBound
    let kind = try statementKind(start)
    return Statement(kind: kind, range: start..<lastEnd)
  }

  private mutating func statementKind(_ start: Int) throws(SyntaxProblem) -> Statement.Kind {
    guard token.kind == .keyword else {
      if take("::") {
        let name = try identifier("of a label")
        try expect("::", "behind the label")
        return .label(name)
      }
      return try expressionStatement()
    }
    let word = text
    switch word {
    case "if": return try branches(start)
    case "while":
      at += 1
      let condition = try expression()
      try expect("do", "behind the condition")
      let block = try block()
      try expect("end", closing: "while", start)
      return .whileLoop(condition, block)
    case "do":
      at += 1
      let block = try block()
      try expect("end", closing: "do", start)
      return .block(block)
    case "for": return try forLoop(start)
    case "repeat":
      at += 1
      let block = try block()
      try expect("until", closing: "repeat", start)
      return .repeatLoop(block, until: try expression())
    case "function":
      at += 1
      return try namedFunction(start)
    case "local":
      at += 1
      return try local(start)
    case "return":
      at += 1
      let values = endsBlock || isSymbol(";") ? [] : try expressions()
      _ = take(";")
      return .leave(values)
    case "break":
      at += 1
      return .breakLoop
    case "goto":
      at += 1
      return .goto(try identifier("of a label"))
    default: return try expressionStatement()
    }
  }

  private mutating func branches(_ start: Int) throws(SyntaxProblem) -> Statement.Kind {
    var branches: [(condition: Expression, block: Block)] = []
    repeat {
      at += 1
      let condition = try expression()
      try expect("then", "behind the condition")
      branches.append((condition, try block()))
    } while isKeyword("elseif")
    let otherwise = take("else") ? try block() : nil
    try expect("end", closing: "if", start)
    return .branches(branches, otherwise: otherwise)
  }

  private mutating func forLoop(_ start: Int) throws(SyntaxProblem) -> Statement.Kind {
    at += 1
    var names = [try identifier("behind 'for'")]
    if take("=") {
      var range = [try expression()]
      try expect(",", "behind the first value")
      range.append(try expression())
      if take(",") { range.append(try expression()) }
      try expect("do", "behind the range")
      let block = try block()
      try expect("end", closing: "for", start)
      return .numericFor(names[0], range, block)
    }
    while take(",") { names.append(try identifier("of a loop variable")) }
    try expect("in", "or '=' behind the loop's names")
    let values = try expressions()
    try expect("do", "behind the loop's values")
    let block = try block()
    try expect("end", closing: "for", start)
    return .genericFor(names, values, block)
  }

  private mutating func namedFunction(_ start: Int) throws(SyntaxProblem) -> Statement.Kind {
    let first = try identifier("of the function")
    var name = Expression(kind: .name(first), range: first.range)
    var hasSelf = false
    while isSymbol(".") || isSymbol(":") {
      hasSelf = text == ":"
      at += 1
      let member = try identifier("behind '\(hasSelf ? ":" : ".")'")
      name = Expression(kind: .member(name, member), range: first.range.lowerBound..<member.range.upperBound)
      if hasSelf { break }
    }
    return .function(name, try functionBody(start, hasSelf: hasSelf))
  }

  private mutating func local(_ start: Int) throws(SyntaxProblem) -> Statement.Kind {
    if take("function") {
      let name = try identifier("of the function")
      return .localFunction(name, try functionBody(start))
    }
    var names: [LocalName] = []
    repeat {
      let name = try identifier("behind 'local'")
      var attribute: Identifier?
      if take("<") {
        let found = try identifier("of an attribute")
        guard found.text == "const" || found.text == "close" else {
          throw SyntaxProblem(range: found.range, message: "unknown attribute '\(found.text)'; known are const and close", needsMore: false)
        }
        attribute = found
        try expect(">", "behind the attribute")
      }
      names.append(LocalName(name: name, attribute: attribute))
    } while take(",")
    return .local(names, take("=") ? try expressions() : [])
  }

  private mutating func expressionStatement() throws(SyntaxProblem) -> Statement.Kind {
    let first = try suffixed()
    if !isSymbol("="), !isSymbol(","), first.isCall { return .call(first) }
    if isSymbol("=") || isSymbol(",") { try checkTarget(first) }
    var targets = [first]
    while take(",") {
      targets.append(try suffixed())
      try checkTarget(targets[targets.count - 1])
    }
    guard isSymbol("=") else {
      if token.kind == .end || token.problem != nil { throw unexpected("expected '=' or a call") }
      if targets.count == 1 {
        throw SyntaxProblem(range: first.range, message: "this is a value, no statement; call it or assign it", needsMore: false)
      }
      throw unexpected("expected '='")
    }
    at += 1
    return .assignment(targets, try expressions())
  }

  private func checkTarget(_ target: Expression) throws(SyntaxProblem) {
    switch target.kind {
    case .name, .member, .index: break
    default: throw SyntaxProblem(range: target.range, message: "this cannot be assigned to", needsMore: false)
    }
  }

  // MARK: Expressions

  private mutating func expressions() throws(SyntaxProblem) -> [Expression] {
    var found = [try expression()]
    while take(",") { found.append(try expression()) }
    return found
  }

  /// Binding powers, left and right; a smaller right one binds to the right.
  private static let powers: [String: (left: Int, right: Int)] = [
    "or": (1, 1), "and": (2, 2), "<": (3, 3), ">": (3, 3), "<=": (3, 3), ">=": (3, 3), "~=": (3, 3), "==": (3, 3), "|": (4, 4),
    "~": (5, 5), "&": (6, 6), "<<": (7, 7), ">>": (7, 7), "..": (9, 8), "+": (10, 10), "-": (10, 10), "*": (11, 11), "/": (11, 11),
    "//": (11, 11), "%": (11, 11), "^": (14, 13),
  ]
  private static let unaryPower = 12

  private mutating func expression(above limit: Int = 0) throws(SyntaxProblem) -> Expression {
    try enter()
    defer { depth -= 1 }
    let start = token.range.lowerBound
    var left: Expression
    if isKeyword("not") || isSymbol("-") || isSymbol("#") || isSymbol("~") {
      let mark = text
      at += 1
      left = Expression(kind: .unary(mark, try expression(above: Self.unaryPower)), range: start..<lastEnd)
    } else {
      left = try simple()
    }
    while token.kind == .symbol || token.kind == .keyword, let power = Self.powers[text], power.left > limit {
      let mark = text
      at += 1
      let right = try expression(above: power.right)
      left = Expression(kind: .binary(mark, left, right), range: start..<lastEnd)
    }
    return left
  }

  private mutating func simple() throws(SyntaxProblem) -> Expression {
    try checkToken()
    let range = token.range
    func made(_ kind: Expression.Kind) -> Expression { Expression(kind: kind, range: range) }
    switch token.kind {
    case .number:
      defer { at += 1 }
      return made(.number(text))
    case .string:
      defer { at += 1 }
      return made(.string(StringValue.bytes(of: source.bytes[range])))
    case .keyword:
      switch text {
      case "nil": at += 1; return made(.nothing)
      case "true": at += 1; return made(.yes)
      case "false": at += 1; return made(.no)
      case "function":
        at += 1
        let body = try functionBody(range.lowerBound)
        return Expression(kind: .function(body), range: range.lowerBound..<lastEnd)
      default: return try suffixed()
      }
    case .symbol where text == "...":
      at += 1
      return made(.varargs)
    case .symbol where text == "{": return try table()
    default: return try suffixed()
    }
  }

  private mutating func primary() throws(SyntaxProblem) -> Expression {
    try checkToken()
    let start = token.range.lowerBound
    if take("(") {
      let inner = try expression()
      try expect(")", closing: "(", start)
      return Expression(kind: .group(inner), range: start..<lastEnd)
    }
    guard token.kind == .name else { throw unexpected("expected a value") }
    let name = try identifier("")
    return Expression(kind: .name(name), range: name.range)
  }

  private mutating func suffixed() throws(SyntaxProblem) -> Expression {
    let start = token.range.lowerBound
    var value = try primary()
    while true {
      if take(".") {
        let member = try identifier("behind '.'")
        value = Expression(kind: .member(value, member), range: start..<lastEnd)
      } else if isSymbol("[") {
        let open = token.range.lowerBound
        at += 1
        let key = try expression()
        try expect("]", closing: "[", open)
        value = Expression(kind: .index(value, key), range: start..<lastEnd)
      } else if take(":") {
        let member = try identifier("of a method behind ':'")
        guard isSymbol("(") || isSymbol("{") || token.kind == .string else { throw unexpected("expected '(' behind the method's name") }
        value = Expression(kind: .method(value, member, try arguments()), range: start..<lastEnd)
      } else if isSymbol("(") || isSymbol("{") || token.kind == .string {
        value = Expression(kind: .call(value, try arguments()), range: start..<lastEnd)
      } else {
        return value
      }
    }
  }

  private mutating func arguments() throws(SyntaxProblem) -> [Expression] {
    try checkToken()
    if token.kind == .string || isSymbol("{") { return [try simple()] }
    let open = token.range.lowerBound
    at += 1
    if take(")") { return [] }
    let values = try expressions()
    try expect(")", closing: "(", open)
    return values
  }

  private mutating func table() throws(SyntaxProblem) -> Expression {
    try enter()
    defer { depth -= 1 }
    let start = token.range.lowerBound
    at += 1
    var fields: [TableField] = []
    while !isSymbol("}") {
      try checkToken()
      if isSymbol("[") {
        let open = token.range.lowerBound
        at += 1
        let key = try expression()
        try expect("]", closing: "[", open)
        try expect("=", "behind the key")
        fields.append(TableField(key: key, value: try expression()))
      } else if token.kind == .name, symbolAhead(1) == "=" {
        let key = Expression(kind: .string(Array(source.bytes[token.range])), range: token.range)
        at += 2
        fields.append(TableField(key: key, value: try expression()))
      } else {
        fields.append(TableField(key: nil, value: try expression()))
      }
      if !take(","), !take(";") { break }
    }
    try expect("}", closing: "{", start)
    return Expression(kind: .table(fields), range: start..<lastEnd)
  }

  private mutating func functionBody(_ start: Int, hasSelf: Bool = false) throws(SyntaxProblem) -> FunctionBody {
    try expect("(", "before the parameters")
    var parameters: [Identifier] = []
    var isVariadic = false
    if !isSymbol(")") {
      repeat {
        if take("...") {
          isVariadic = true
          break
        }
        parameters.append(try identifier("of a parameter"))
      } while take(",")
    }
    try expect(")", "behind the parameters")
    let block = try block()
    try expect("end", closing: "function", start)
    return FunctionBody(parameters: parameters, isVariadic: isVariadic, hasSelf: hasSelf, block: block, range: start..<lastEnd)
  }
}
