// What a script writes out for functions of ours: literals of another kind, times, modules, the answers of failed handlers, tests.
internal import HookRuntime
internal import LuaSyntax
internal import ScriptHost
internal import SwiftMangling

extension PatchCheck {
  /// Literals that a parameter does not take.
  mutating func checkKinds(_ entry: ScriptEntry, _ shown: String, _ arguments: [Expression]) {
    // What a statement without a name misses is told elsewhere.
    if entry.kind == .statement { return }
    for (argument, parameter) in zip(arguments, entry.parameters) {
      if parameter.name == "..." { break }
      if case .nothing = argument.kind, parameter.isOptional { continue }
      if let problem = Self.problem(of: argument, as: parameter.type, called: "\(parameter.name)' of '\(shown)") { error(argument.range, problem) }
    }
    switch entry.fullName {
    case "timer.after", "timer.every": if let time = arguments.first { checkTime(time, shown) }
    case "require": if let module = arguments.first, let name = module.text, let why = unit.whyNoModule(name) { error(module.range, why) }
    default: break
    }
  }

  /// Seconds, or a text with a unit.
  private mutating func checkTime(_ time: Expression, _ shown: String) {
    let takes = "'\(shown)' takes seconds, or a time such as \"100ms\", found"
    var nanoseconds: Double?
    if let text = time.text {
      guard let duration = RuleUnits.duration(text) else { return error(time.range, "\(takes) the text '\(text)'") }
      nanoseconds = Double(duration)
    } else if let seconds = time.number {
      guard (0...1e9).contains(seconds) else { return error(time.range, "\(takes) the number \(source[time.range])") }
      nanoseconds = seconds * 1e9
    }
    if shown == "timer.every", let nanoseconds, nanoseconds < Double(RuleUnits.shortestRepetition) {
      error(time.range, "'timer.every' calls at most once in a millisecond")
    }
  }

  /// A literal that is of none of the kinds; nil where it is of one, or the text does not tell.
  /// - Parameters:
  ///   - kinds: as a signature has them: `number|string`, `"wait"|"original"`.
  ///   - name: what is given, for messages, without its outer quotes.
  static func problem(of value: Expression, as kinds: String, called name: String) -> String? {
    let kinds = kinds.split(separator: "|").map { $0.split(separator: " ").joined() }
    let texts = kinds.filter { $0.hasPrefix("\"") }
    let found: (kind: Set<String>, shown: String)
    switch value.kind {
    case .string:
      found = (["string"], "the text '\(value.text ?? "")'")
      if texts.contains("\"\(value.text ?? "")\"") { return nil }
    case .number(let digits): found = (["number", "integer"], "the number \(digits)")
    case .yes, .no: found = (["boolean"], "a boolean")
    case .function: found = (["function"], "a function")
    case .table: found = (["table", "string[]"], "a table")
    default: return nil
    }
    if kinds.contains("any") || !found.kind.isDisjoint(with: kinds) { return nil }
    return "'\(name)' is \(kinds.map { $0.hasPrefix("\"") ? $0 : words[$0] ?? $0 }.joined(separator: " or ")), found \(found.shown)"
  }
  private static let words = [
    "string": "a text", "number": "a number", "integer": "a whole number", "boolean": "true or false", "function": "a function", "table": "a table",
    "string[]": "a list of texts", "Object": "an object of the program", "Class": "a class",
  ]

  // MARK: Handlers that fail

  /// `on_failure` and `on_busy` of one hook.
  mutating func checkAnswers(_ position: Identifier, _ family: Family?, _ options: Expression?) {
    guard case .table(let fields)? = options?.kind, ["before", "around", "after"].contains(position.text) else { return }
    for field in fields {
      guard let option = field.key?.text, option == "on_failure" || option == "on_busy", !Self.isUsual(field.value) else { continue }
      if option == "on_busy", field.value.text != "throw" { continue }
      if position.text != "around" {
        let shown = option == "on_busy" ? "on_busy = \"throw\"" : option
        error(field.value.range, "'\(shown)' is for 'around': the original of a '\(position.text)' runs in any case")
      } else if let family {
        checkAnswer(field.value, option, family)
      }
    }
  }

  /// `"original"`, or nothing that is known.
  private static func isUsual(_ value: Expression) -> Bool {
    if case .table = value.kind { false } else { value.text == nil || value.text == "original" }
  }

  private mutating func checkAnswer(_ value: Expression, _ option: String, _ family: Family) {
    let function = family.declaration.functionType
    // What a C function answers its declaration does not tell.
    if family.imported != nil { return }
    if family.hasAsyncBodies {
      return error(value.range, "'\(option)': '\(family.selector)' is async; catch errors in the handler with pcall")
    }
    if value.text == "throw" {
      let advice = option == "on_busy" ? "\"wait\" and \"original\" can be had" : "give { value = v }"
      switch function.thrown {
      case .any: return
      case .never: return error(value.range, "'\(option)': '\(family.selector)' cannot throw; \(advice)")
      case .typed:
        return error(
          value.range, "'\(option)': '\(family.selector)' throws errors of a type of its own, which a text cannot make; \(advice)")
      }
    }
    guard case .table(let fields) = value.kind else { return }
    guard fields.count == 1, let field = fields.first, field.key?.text == "value" else {
      return error(value.range, "'on_failure' as a table is { value = v }, where nil is spelled swift.null")
    }
    if function.result == .tuple([]) { return error(value.range, "'on_failure': '\(family.selector)' has no result; leave on_failure out") }
    checkLiteral(field.value, asResultOf: family)
  }

  // MARK: Tests

  /// `t.stub("Shop.Cart.total(tax:)", 7.5)`.
  mutating func checkStub(_ arguments: [Expression]) {
    guard let binding, let first = arguments.first, let text = first.text else { return }
    switch binding.resolve(text) {
    case .failure(let problem): error(first.range, problem.text)
    case .success(let bound):
      if let why = binding.whyNotHookable(bound) { error(first.range, why) }
      checkPolicy(bound, first.range)
      guard let family = bound.only, arguments.count > 1 else { return }
      if case .function = arguments[1].kind { return }
      checkLiteral(arguments[1], asResultOf: family)
    }
  }

  // MARK: Observations

  /// `observe(class "Shop.Cart", "title", f)`.
  mutating func checkObservation(_ arguments: [Expression]) {
    guard let binding, arguments.count > 1, let path = arguments[1].text, case .type(let type?) = meanings.of(arguments[0]),
      !made.contains(type)
    else { return }
    let check = CapturePathCheck(program: binding.program, rights: rights)
    if let problem = check.observed(path, of: type) { error(arguments[1].range, problem) }
  }
}
