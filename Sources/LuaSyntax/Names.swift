// Names — which variable each name of a script means: a local with its declaration, or a global.

/// A local variable, parameter or loop variable.
package final class LocalVariable {
  package enum Kind: Sendable { case local, function, parameter, loop }
  package let name: Identifier
  package let kind: Kind
  /// What it is declared with, where one expression is its own.
  package let initial: Expression?
  package internal(set) var reads = 0
  package internal(set) var writes = 0

  init(_ name: Identifier, _ kind: Kind, _ initial: Expression?) {
    self.name = name
    self.kind = kind
    self.initial = initial
  }
}

/// A use of a name that no local has.
package struct GlobalUse: Sendable {
  package let name: Identifier
  package let isAssigned: Bool
}

/// The names of one script, resolved.
package struct Names {
  /// They stand in the order of their declarations.
  package private(set) var locals: [LocalVariable] = []
  package private(set) var globals: [GlobalUse] = []
  /// By the offset of a use, or of the declaration itself.
  private var meanings: [Int: LocalVariable] = [:]
  private var scope: [LocalVariable] = []

  package init(_ block: Block) {
    visit(block)
  }

  /// The local that a name is; nil for globals.
  package func local(_ name: Identifier) -> LocalVariable? { meanings[name.range.lowerBound] }

  private mutating func declare(_ name: Identifier, _ kind: LocalVariable.Kind, _ initial: Expression? = nil) {
    let variable = LocalVariable(name, kind, initial)
    locals.append(variable)
    scope.append(variable)
    meanings[name.range.lowerBound] = variable
  }

  private mutating func use(_ name: Identifier, isAssigned: Bool) {
    guard let variable = scope.last(where: { $0.name.text == name.text }) else {
      globals.append(GlobalUse(name: name, isAssigned: isAssigned))
      return
    }
    meanings[name.range.lowerBound] = variable
    if isAssigned { variable.writes += 1 } else { variable.reads += 1 }
  }

  private mutating func visit(_ block: Block, then condition: Expression? = nil) {
    let outer = scope.count
    for statement in block.statements { visit(statement) }
    if let condition { visit(condition) }
    scope.removeLast(scope.count - outer)
  }

  private mutating func visit(_ statement: Statement) {
    switch statement.kind {
    case .local(let names, let values):
      visit(values)
      for (place, each) in names.enumerated() { declare(each.name, .local, place < values.count ? values[place] : nil) }
    case .localFunction(let name, let body):
      declare(name, .function, Expression(kind: .function(body), range: body.range))
      visit(body)
    case .assignment(let targets, let values):
      visit(values)
      for target in targets {
        if case .name(let name) = target.kind { use(name, isAssigned: true) } else { visit(target) }
      }
    case .call(let call): visit(call)
    case .block(let block): visit(block)
    case .whileLoop(let condition, let block):
      visit(condition)
      visit(block)
    case .repeatLoop(let block, let condition): visit(block, then: condition)
    case .branches(let branches, let otherwise):
      for (condition, block) in branches {
        visit(condition)
        visit(block)
      }
      if let otherwise { visit(otherwise) }
    case .numericFor(let name, let values, let block):
      visit(values)
      within { $0.declare(name, .loop); $0.visit(block) }
    case .genericFor(let names, let values, let block):
      visit(values)
      within {
        for name in names { $0.declare(name, .loop) }
        $0.visit(block)
      }
    case .function(let name, let body):
      if case .name(let name) = name.kind { use(name, isAssigned: true) } else { visit(name) }
      visit(body)
    case .leave(let values): visit(values)
    case .breakLoop, .goto, .label: break
    }
  }

  private mutating func within(_ body: (inout Names) -> Void) {
    let outer = scope.count
    body(&self)
    scope.removeLast(scope.count - outer)
  }

  private mutating func visit(_ body: FunctionBody) {
    within {
      if body.hasSelf {
        // Nobody wrote it: its place is the function's own.
        $0.declare(Identifier(text: "self", range: body.range.lowerBound..<body.range.lowerBound), .parameter)
        $0.locals.last?.reads += 1
      }
      for parameter in body.parameters { $0.declare(parameter, .parameter) }
      $0.visit(body.block)
    }
  }

  private mutating func visit(_ values: [Expression]) { for value in values { visit(value) } }

  private mutating func visit(_ value: Expression) {
    if case .name(let name) = value.kind { return use(name, isAssigned: false) }
    if case .function(let body) = value.kind { return visit(body) }
    for part in value.parts { visit(part) }
  }
}

extension Expression {
  /// What it is made of, without the bodies of functions.
  package var parts: [Expression] {
    switch kind {
    case .nothing, .yes, .no, .varargs, .number, .string, .function, .name: []
    case .member(let base, _), .unary(_, let base), .group(let base): [base]
    case .index(let a, let b), .binary(_, let a, let b): [a, b]
    case .call(let function, let arguments): [function] + arguments
    case .method(let receiver, _, let arguments): [receiver] + arguments
    case .table(let fields): fields.flatMap { ($0.key.map { [$0] } ?? []) + [$0.value] }
    }
  }
}

extension Block {
  /// Calls `body` with every expression, outer ones first, those inside of functions too. False: its parts are not wanted.
  package func forEachExpression(_ body: (Expression) -> Bool) {
    for statement in statements {
      for value in statement.expressions { value.forEach(body) }
      for block in statement.blocks { block.forEachExpression(body) }
    }
  }

  /// Calls `body` with every statement, those inside of functions too.
  package func forEachStatement(_ body: (Statement) -> Void) {
    for statement in statements {
      body(statement)
      for block in statement.blocks { block.forEachStatement(body) }
      for value in statement.expressions {
        value.forEach {
          if case .function(let function) = $0.kind {
            function.block.forEachStatement(body)
            return false
          }
          return true
        }
      }
    }
  }
}

extension Expression {
  package func forEach(_ body: (Expression) -> Bool) {
    guard body(self) else { return }
    if case .function(let function) = kind { return function.block.forEachExpression(body) }
    for part in parts { part.forEach(body) }
  }
}

extension Statement {
  /// Its own expressions; functions that it declares are not among them.
  package var expressions: [Expression] {
    switch kind {
    case .local(_, let values), .leave(let values): values
    case .assignment(let targets, let values): targets + values
    case .call(let call): [call]
    case .whileLoop(let condition, _), .repeatLoop(_, let condition): [condition]
    case .branches(let branches, _): branches.map(\.condition)
    case .numericFor(_, let values, _), .genericFor(_, let values, _): values
    case .function(let name, _): [name]
    case .localFunction, .block, .breakLoop, .goto, .label: []
    }
  }

  /// The blocks in it, those of functions that it declares too.
  package var blocks: [Block] {
    switch kind {
    case .block(let block), .whileLoop(_, let block), .repeatLoop(let block, _), .numericFor(_, _, let block), .genericFor(_, _, let block):
      [block]
    case .branches(let branches, let otherwise): branches.map(\.block) + (otherwise.map { [$0] } ?? [])
    case .localFunction(_, let body), .function(_, let body): [body.block]
    case .local, .assignment, .call, .leave, .breakLoop, .goto, .label: []
    }
  }
}
