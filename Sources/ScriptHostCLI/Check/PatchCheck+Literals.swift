// What a script writes out for a parameter or a result, against its type.
//
// Only literals and only types whose values are known for certain: a name may hold anything, a text may be an enum's case.
internal import HookRuntime
internal import LuaSyntax
internal import SwiftMangling

extension PatchCheck {
  /// Literals among the arguments of a call of the function.
  mutating func checkLiterals(_ arguments: ArraySlice<Expression>, _ family: Family) {
    let parameters = family.declaration.functionType.parameters
    for (argument, parameter) in zip(arguments, parameters) { checkLiteral(argument, parameter, family) }
  }

  /// `call.args.tax = "much"`, `call.args[1] = true`.
  mutating func checkLiteral(_ value: Expression, ofArgument name: String, _ family: Family) {
    let parameters = family.declaration.functionType.parameters
    let byLabel = parameters.first { $0.label == name || $0.label.map { LuaNames.safe($0) } == name }
    let byNumber = Int(name).flatMap { (1...max(parameters.count, 1)).contains($0) && !parameters.isEmpty ? parameters[$0 - 1] : nil }
    if let parameter = byLabel ?? byNumber { checkLiteral(value, parameter, family) }
  }

  /// `return "text"`, `call.result = true`, `{ value = 0 }`.
  mutating func checkLiteral(_ value: Expression, asResultOf family: Family) {
    let type = family.declaration.functionType.result
    guard let literal = Literal(value), let wanted = ParameterKind(type), let problem = wanted.problem(with: literal) else { return }
    error(value.range, "the result of '\(family.selector)' is of type \(type.description(qualified: false)), \(problem)")
  }

  private mutating func checkLiteral(_ value: Expression, _ parameter: Parameter, _ family: Family) {
    guard !parameter.isVariadic, !parameter.isAutoclosure, let literal = Literal(value), let wanted = ParameterKind(parameter.type) else { return }
    guard let problem = wanted.problem(with: literal) else { return }
    let shown = parameter.label.map { "'\($0)'" } ?? "an argument"
    error(value.range, "\(shown) of '\(family.selector)' is of type \(parameter.type.description(qualified: false)), \(problem)")
  }
}

extension Expression {
  /// Of a number that is written out, with its sign.
  var number: Double? {
    guard case .number(let digits)? = Literal(self) else { return nil }
    return Double(digits.replacing("0X", with: "0x"))
  }
}

/// A value that is written out.
private enum Literal {
  case nothing, boolean
  case number(String)
  case text, table, function

  init?(_ value: Expression) {
    switch value.kind {
    case .nothing: self = .nothing
    case .yes, .no: self = .boolean
    case .number(let digits): self = .number(digits)
    case .unary("-", let inner):
      guard case .number(let digits) = inner.kind else { return nil }
      self = .number("-" + digits)
    case .string: self = .text
    case .table: self = .table
    case .function: self = .function
    case .group(let inner):
      guard let found = Literal(inner) else { return nil }
      self = found
    default: return nil
    }
  }

  var shown: String {
    switch self {
    case .nothing: "nil"
    case .boolean: "a boolean"
    case .number(let digits): "the number \(digits)"
    case .text: "a text"
    case .table: "a table"
    case .function: "a function"
    }
  }
}

/// What a type takes, of those of which that is certain.
private indirect enum ParameterKind {
  case boolean, text, number, closure, elements
  case integer(ClosedRange<Double>)
  case optional(ParameterKind)

  init?(_ type: TypeSyntax) {
    if case .function = type {
      self = .closure
      return
    }
    guard case .nominal(let name, _, let arguments) = type, name.module == "Swift", name.steps.count == 1 else { return nil }
    switch name.shortName {
    case "Bool": self = .boolean
    case "String": self = .text
    case "Double", "Float": self = .number
    case "Array", "Dictionary", "Set": self = .elements
    case "Optional":
      guard let payload = arguments.first.flatMap({ ParameterKind($0) }) else { return nil }
      self = .optional(payload)
    default:
      guard let range = Self.ranges[name.shortName] else { return nil }
      self = .integer(range)
    }
  }

  /// Of numbers that literals can spell exactly; the widest end where a Double does.
  private static let ranges: [String: ClosedRange<Double>] = [
    "Int": -0x1p63...0x1p63, "Int64": -0x1p63...0x1p63, "UInt": 0...0x1p64, "UInt64": 0...0x1p64,
    "Int32": -0x1p31...0x1p31 - 1, "Int16": -0x1p15...0x1p15 - 1, "Int8": -128...127,
    "UInt32": 0...0x1p32 - 1, "UInt16": 0...0x1p16 - 1, "UInt8": 0...255,
  ]

  /// Why it does not take the literal; nil: it does, or that is not certain.
  func problem(with literal: Literal) -> String? {
    let fits: Bool
    switch (self, literal) {
    case (.optional, .nothing): return nil
    case (.optional(let payload), _): return payload.problem(with: literal)
    case (.boolean, .boolean), (.text, .text), (.number, .number), (.closure, .function): fits = true
    // A none of a closure's type is an error of its own, told when it is called.
    case (.closure, .nothing): return nil
    case (.elements, .table), (.elements, .text): fits = true
    case (.integer(let range), .number(let digits)):
      guard let value = Double(digits.replacing("0X", with: "0x")) else { return nil }
      if value != value.rounded() { return "found the number \(digits), which is not whole" }
      guard range.contains(value) else { return "found the number \(digits), which is out of its range" }
      fits = true
    default: fits = false
    }
    return fits ? nil : "found \(literal.shown)"
  }
}
