// Tree — a parsed script. Everything knows its bytes in the source.

/// A name with its place.
package struct Identifier: Sendable, Equatable {
  package let text: String
  package let range: Range<Int>
}

package struct Expression: Sendable {
  package indirect enum Kind: Sendable {
    case nothing, yes, no, varargs
    /// Its digits.
    case number(String)
    case string([UInt8])
    case function(FunctionBody)
    case name(Identifier)
    /// `a.b`
    case member(Expression, Identifier)
    /// `a[b]`
    case index(Expression, Expression)
    case call(Expression, [Expression])
    /// `a:b(…)`
    case method(Expression, Identifier, [Expression])
    case unary(String, Expression)
    case binary(String, Expression, Expression)
    case group(Expression)
    case table([TableField])
  }

  package let kind: Kind
  package let range: Range<Int>

  /// The text of a literal; nil for all else, and where its bytes are no UTF-8.
  package var text: String? {
    switch kind {
    case .string(let bytes): String(validating: bytes, as: UTF8.self)
    case .group(let inner): inner.text
    default: nil
    }
  }

  var isCall: Bool {
    switch kind {
    case .call, .method: true
    default: false
    }
  }
}

package struct TableField: Sendable {
  /// `name = value` has a string as its key, and so has `["name"] = value`; positional ones have none.
  package let key: Expression?
  package let value: Expression
}

package struct FunctionBody: Sendable {
  package let parameters: [Identifier]
  package let isVariadic: Bool
  /// Of `function a:b()`: it has a parameter that is not written.
  package let hasSelf: Bool
  package let block: Block
  package let range: Range<Int>
}

package struct Block: Sendable {
  package let statements: [Statement]
  package let range: Range<Int>
}

/// A name that `local` declares.
package struct LocalName: Sendable {
  package let name: Identifier
  /// `const` or `close`.
  package let attribute: Identifier?
}

package struct Statement: Sendable {
  package indirect enum Kind: Sendable {
    case local([LocalName], [Expression])
    case localFunction(Identifier, FunctionBody)
    case assignment([Expression], [Expression])
    case call(Expression)
    case block(Block)
    case whileLoop(Expression, Block)
    case repeatLoop(Block, until: Expression)
    case branches([(condition: Expression, block: Block)], otherwise: Block?)
    case numericFor(Identifier, [Expression], Block)
    case genericFor([Identifier], [Expression], Block)
    /// `function a.b:c() … end`; the name as an expression.
    case function(Expression, FunctionBody)
    case leave([Expression])
    case breakLoop
    case goto(Identifier)
    case label(Identifier)
  }

  package let kind: Kind
  package let range: Range<Int>
}

/// What is wrong with a text.
package struct SyntaxProblem: Error, Sendable, Equatable {
  /// Byte offsets.
  package let range: Range<Int>
  /// It has no position and no period, and is in lower case.
  package let message: String
  /// The text only ends too early: a console reads on.
  package let needsMore: Bool
}

/// A parsed script: the tree up to the first problem.
package struct Script: Sendable {
  package let source: SourceText
  package let block: Block
  /// The first mistake, if there is one.
  package let problem: SyntaxProblem?

  package init(_ source: SourceText) {
    var parser = Parser(source)
    (block, problem) = parser.script()
    self.source = source
  }
}
