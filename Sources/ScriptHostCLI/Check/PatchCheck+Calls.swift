// Calls and members of a checked script: arity, options, handlers, and what their texts mean in the program.
internal import HookRuntime
internal import Journal
internal import LuaSyntax
internal import ScriptHost
internal import SwiftMangling

extension PatchCheck {
  mutating func check(_ value: Expression) {
    switch value.kind {
    case .member(let base, let member): check(member, of: base)
    case .index(let base, let key):
      guard case .arguments(let handler) = meanings.of(base), let family = handler.family else { return }
      if let text = key.text { checkArgument(text, key.range, family) }
      if case .number(let digits) = key.kind { checkArgument(digits, key.range, family) }
    case .call(let function, let arguments): check(value, function, arguments)
    case .method(let receiver, let name, let arguments): checkMethod(receiver, name, arguments)
    default: break
    }
  }

  // MARK: Members

  private mutating func check(_ member: Identifier, of base: Expression) {
    switch meanings.of(base) {
    case .table(let table):
      guard let known = ScriptReference.members(ofTable: table), !known.contains(member.text) else { return }
      error(member.range, "'\(table)' has no '\(member.text)'" + near(member.text, known))
    case .call:
      if ScriptReference.member(member.text, of: "Call") == nil { unknownMember(member, of: "Call", shown: "call") }
    case .arguments(let handler): if let family = handler.family { checkArgument(member.text, member.range, family) }
    case .handle(ScriptEntry.test):
      if ScriptReference.member(member.text, of: ScriptEntry.test) == nil { unknownMember(member, of: ScriptEntry.test, shown: "t") }
    case .function(let entry) where entry.fullName == "class" && member.text != "define":
      error(member.range, "'class' has no field '\(member.text)'; it has define, and is called: class \"Shop.Cart\"")
    default: break
    }
  }

  private func near(_ name: String, _ known: [String]) -> String {
    Nearest.name(to: name, among: known).map { "; did you mean '\($0)'?" } ?? (known.count > 24 ? "" : "; it has \(known.joined(separator: ", "))")
  }

  private mutating func unknownMember(_ member: Identifier, of type: String, shown: String) {
    error(member.range, "'\(shown)' has no '\(member.text)'" + near(member.text, ScriptReference.members(of: type).map(\.name)))
  }

  private mutating func checkArgument(_ name: String, _ range: Range<Int>, _ family: Family) {
    if case .failure(let problem) = CapturePathCheck.argument(name, of: family) { error(range, problem.text) }
  }

  // MARK: Functions of ours

  private mutating func check(_ value: Expression, _ function: Expression, _ arguments: [Expression]) {
    // `track "name" { … }`: what is called is the result of a call.
    if case .call(let inner, let outer) = function.kind, case .function(let entry) = meanings.of(inner), entry.kind == .statement {
      checkCapability(entry.fullName, inner.range)
      return checkStatement(entry, outer.first, arguments.first)
    }
    guard case .function(let entry) = meanings.of(function) else { return }
    checkCapability(entry.fullName, function.range)
    if entry.fullName == "patch", value.range != first {
      error(function.range, "'patch' is the first statement of a file, once: it is read without running the file")
    }
    checkArity(entry, entry.fullName, arguments, function.range)
    checkKinds(entry, entry.fullName, arguments)
    checkOptions(entry, entry.fullName, arguments)
    if case .table(let fields)? = arguments.first?.kind {
      if entry.fullName == "guard" { checkGuards(fields, arguments[0].range) }
      if Self.rules.contains(entry.fullName) { checkRule(entry.fullName, fields, arguments[0].range) }
    }
    if entry.fullName == "use", let preset = arguments.first { checkPreset(preset) }
    if entry.fullName == "observe" { checkObservation(arguments) }
    guard let first = arguments.first, let text = first.text, let binding else { return }
    switch entry.fullName {
    case "method", "explain":
      if entry.fullName == "method", waits(arguments) { return }
      if case .failure(let problem) = binding.resolve(text) { error(first.range, problem.text) }
    case "class":
      if !made.contains(text), !waits(arguments), let problem = binding.typeProblem(text) { error(first.range, problem) }
    case "swift.call", "swift.send", "swift.try", "swift.allow_leak":
      checkCallIn(text, first.range, arguments.dropFirst(), counts: entry.fullName != "swift.allow_leak")
    case "swift.new": checkNew(text, first.range, arguments.dropFirst())
    case "class.define": checkDefinition(arguments)
    case "t.hooked": if case .failure(let problem) = binding.resolve(text) { error(first.range, problem.text) }
    case "t.stub": checkStub(arguments)
    default: break
    }
  }

  /// `{ wait = true }`: it may not be there yet.
  private func waits(_ arguments: [Expression]) -> Bool {
    guard case .table(let fields)? = arguments.last?.kind else { return false }
    return fields.contains { field in
      if field.key?.text == "wait", case .yes = field.value.kind { true } else { false }
    }
  }

  /// Nothing is said of calls whose last argument may be several.
  private func countIsKnown(_ arguments: some Collection<Expression>) -> Bool {
    switch arguments.reversed().first?.kind {
    case .call?, .method?, .varargs?: false
    default: true
    }
  }

  private mutating func checkArity(_ entry: ScriptEntry, _ shown: String, _ arguments: [Expression], _ range: Range<Int>) {
    guard let arity = entry.arity, countIsKnown(arguments), !arity.contains(arguments.count), entry.kind == .function else { return }
    let many = arguments.count > arity.upperBound
    let bound = many ? arity.upperBound : arity.lowerBound
    error(
      many ? arguments[arity.upperBound].range : range,
      "'\(shown)' takes \(arity.lowerBound == arity.upperBound ? "" : many ? "at most " : "at least ")\(bound) "
        + "argument\(bound == 1 ? "" : "s"), found \(arguments.count): \(entry.signature)")
  }

  /// Keys of a table of options that a call writes out.
  private mutating func checkOptions(_ entry: ScriptEntry, _ shown: String, _ arguments: [Expression]) {
    guard !entry.options.isEmpty, let index = entry.parameters.lastIndex(where: { $0.type.split(separator: " ").contains("table") }),
      index < arguments.count
    else { return }
    if index == 0, shown == "patch" { return }  // the header's reader has the words for it
    checkKeys(arguments[index], entry.options, "option", of: shown)
  }

  private mutating func checkKeys(_ table: Expression, _ options: [ScriptOption], _ what: String, of shown: String) {
    guard case .table(let fields) = table.kind else { return }
    let known = options.map(\.name)
    for field in fields {
      guard let key = field.key, let name = key.text else { continue }
      if !known.contains(name) {
        error(
          key.range,
          "unknown \(what) '\(name)' of '\(shown)'"
            + (Nearest.name(to: name, among: known).map { "; did you mean '\($0)'?" } ?? "; known are \(known.joined(separator: ", "))"))
      } else if let option = options.first(where: { $0.name == name }), let problem = Self.problem(of: field.value, as: option.type, called: name) {
        error(field.value.range, problem)
      }
    }
    let names = fields.compactMap { $0.key?.text }
    for option in options where option.isNeeded && !names.contains(option.name) {
      error(table.range, "'\(shown)' needs '\(option.name)': \(option.summary.prefix(1).lowercased() + option.summary.dropFirst().dropLast())")
    }
  }

  /// `guard { "containers", zombies = { types = "Shop.*" } }`: what has no name of its own is the name of a guard.
  private mutating func checkGuards(_ fields: [TableField], _ range: Range<Int>) {
    let known = CrashGuard.allCases.map(\.rawValue)
    for field in fields where field.key == nil {
      guard let name = field.value.text, !known.contains(name) else { continue }
      error(
        field.value.range,
        "there is no guard '\(name)'"
          + (Nearest.name(to: name, among: known).map { "; did you mean '\($0)'?" } ?? "; known are \(known.joined(separator: ", "))"))
    }
    if !fields.contains(where: { $0.key == nil || known.contains($0.key?.text ?? "") }) {
      error(range, "'guard' names no guard; known are \(known.joined(separator: ", "))")
    }
    for field in fields where (field.key ?? field.value).text == CrashGuard.zombies.rawValue { checkZombies(field, fields) }
  }

  /// It watches the classes that its own table names, or the table that is shared by all guards.
  private mutating func checkZombies(_ field: TableField, _ shared: [TableField]) {
    func namesTypes(_ fields: [TableField]) -> Bool { fields.contains { $0.key?.text == "types" } }
    if namesTypes(shared) { return }
    if field.key != nil {
      switch field.value.kind {
      case .yes, .string: break
      case .table(let fields): if namesTypes(fields) { return }
      default: return
      }
    }
    error((field.key ?? field.value).range, "guard 'zombies' needs 'types', such as { \"Shop.*Session\" }")
  }

  /// A preset of the host's, or a file beside the patch.
  private mutating func checkPreset(_ preset: Expression) {
    guard let name = preset.text, !PresetFile.known.contains(name), !unit.hasPreset(name) else { return }
    error(
      preset.range,
      "there is no preset '\(name)'"
        + (Nearest.name(to: name, among: PresetFile.known).map { "; did you mean '\($0)'?" }
          ?? "; there are \(PresetFile.known.joined(separator: ", "))"))
  }

  // MARK: Calling in

  private mutating func checkCallIn(_ selector: String, _ range: Range<Int>, _ arguments: ArraySlice<Expression>, counts: Bool) {
    guard let binding else { return }
    switch binding.resolve(selector) {
    case .failure(let problem): error(range, problem.text)
    case .success(let bound):
      checkPolicy(bound, range)
      if counts, let family = bound.only { checkCount(arguments, family, range) }
    }
  }

  private mutating func checkCount(_ arguments: ArraySlice<Expression>, _ family: Family, _ range: Range<Int>) {
    let count = family.declaration.functionType.parameters.count
    guard countIsKnown(arguments) || arguments.count <= count else { return }
    guard !countIsKnown(arguments) || arguments.count == count else {
      return error(range, "'\(family.selector)' takes \(count) argument\(count == 1 ? "" : "s"), found \(arguments.count)")
    }
    checkLiterals(arguments, family)
  }

  private mutating func checkNew(_ type: String, _ range: Range<Int>, _ arguments: ArraySlice<Expression>) {
    guard let binding, !made.contains(type) else { return }
    if let problem = binding.typeProblem(type) { return error(range, problem) }
    guard let initialiser = arguments.first, let text = initialiser.text else { return }
    switch binding.resolve(text, of: type) {
    case .failure(let problem): error(initialiser.range, problem.text)
    case .success(let bound):
      checkPolicy(bound, initialiser.range)
      if let family = bound.only { checkCount(arguments.dropFirst(), family, initialiser.range) }
    }
  }

  // MARK: Types made here

  private mutating func checkDefinition(_ arguments: [Expression]) {
    guard let binding, arguments.count > 1, case .table(let fields) = arguments[1].kind else { return }
    guard let base = fields.first(where: { $0.key?.text == "super" })?.value, let name = base.text, !made.contains(name) else { return }
    if let problem = binding.typeProblem(name) { return error(base.range, problem) }
    guard let methods = fields.first(where: { $0.key?.text == "methods" })?.value, case .table(let members) = methods.kind else { return }
    for member in members {
      guard let key = member.key, let text = key.text else { continue }
      switch binding.resolve(text, of: name) {
      case .failure(let problem): error(key.range, problem.text)
      case .success(let bound): checkHandler(member.value, HandlerContext(position: "override", bound: bound))
      }
    }
  }

  // MARK: track, extend, implement, delegates

  private mutating func checkStatement(_ entry: ScriptEntry, _ name: Expression?, _ table: Expression?) {
    guard let table else { return error(name?.range ?? 0..<0, "'\(entry.name)' takes a name and a table: \(entry.signature)") }
    if !entry.options.isEmpty { checkKeys(table, entry.options, "field", of: entry.name) }
    if entry.name == "test" { return checkTest(table) }
    guard case .table(let fields) = table.kind else { return }
    switch entry.name {
    case "track", "metric": checkRule(entry.name, fields, table.range)
    case "extend": checkExtension(name, fields)
    case "implement":
      if let name, let text = name.text, let problem = binding?.protocolProblem(text) { error(name.range, problem) }
      for field in fields { checkHandler(field.value, HandlerContext(position: "answer", bound: nil)) }
    case "delegates":
      if let binding, let name, let text = name.text,
        let problem = CapturePathCheck(program: binding.program, rights: rights).delegates(text)
      {
        error(name.range, problem)
      }
      for field in fields { checkHandler(field.value, HandlerContext(position: "before", bound: nil)) }
    default: break
    }
  }

  private mutating func checkTest(_ body: Expression) {
    if let problem = Self.problem(of: body, as: "function", called: "test") { return error(body.range, problem) }
    if let body = function(body) { meanings.note(test: body) }
  }

  private mutating func checkExtension(_ name: Expression?, _ fields: [TableField]) {
    guard let binding, let name, let type = name.text, !made.contains(type) else { return }
    if let problem = binding.typeProblem(type) { return error(name.range, problem) }
    for field in fields {
      guard let key = field.key, let text = key.text else { continue }
      switch binding.resolve(text, of: type) {
      case .failure(let problem): error(key.range, problem.text)
      case .success(let bound):
        if let why = binding.whyNotHookable(bound) { error(key.range, why) }
        if !checkPolicy(bound, key.range) { countHook(bound, key.range) }
        checkHandler(field.value, HandlerContext(position: "around", bound: bound))
      }
    }
  }

  // MARK: Hooks and handlers

  private mutating func checkMethod(_ receiver: Expression, _ name: Identifier, _ arguments: [Expression]) {
    switch meanings.of(receiver) {
    case .method(let bound):
      guard let entry = ScriptReference.member(name.text, of: "Method") else { return unknownMember(name, of: "Method", shown: "method") }
      checkArity(entry, name.text, arguments, name.range)
      checkOptions(entry, name.text, arguments)
      if entry.result == "Hook" { checkHook(name, bound, arguments) }
    case .type(let type):
      // All else is a static method of the program's.
      guard let entry = ScriptReference.member(name.text, of: "Class") else { return }
      checkArity(entry, name.text, arguments, name.range)
      checkOptions(entry, name.text, arguments)
      guard let type, let binding, !made.contains(type), binding.typeProblem(type) == nil, let member = arguments.first, let text = member.text else {
        return checkHook(name, nil, arguments.dropFirst())
      }
      switch binding.resolve(text, of: type) {
      case .failure(let problem): if !waits(arguments) { error(member.range, problem.text) }
      case .success(let bound): checkHook(name, bound, arguments.dropFirst())
      }
    case .handle(ScriptEntry.test): error(name.range, "'t' is a table of functions: write 't.\(name.text)'")
    case .handle(let type):
      if ScriptReference.member(name.text, of: type) == nil { unknownMember(name, of: type, shown: type.lowercased()) }
    case .table("store"):
      // Its functions may be called either way.
      check(name, of: receiver)
      guard let entry = ScriptReference.entry("store.\(name.text)") else { return }
      checkArity(entry, "store:\(name.text)", arguments, name.range)
      checkKinds(entry, "store:\(name.text)", arguments)
      checkOptions(entry, "store:\(name.text)", arguments)
    case .table(let table):
      error(name.range, "'\(table)' is a table of functions: write '\(table).\(name.text)'")
    case .call(let handler):
      guard let entry = ScriptReference.member(name.text, of: "Call") else { return unknownMember(name, of: "Call", shown: "call") }
      if entry.kind != .function { return error(name.range, "'call.\(name.text)' is a value, no function: write 'call.\(name.text)'") }
      if name.text == "original" || name.text == "try", ["before", "after", "contain"].contains(handler.position) {
        error(name.range, "only an 'around' handler calls the original; '\(handler.position)' runs beside it")
      } else if name.text == "original", let family = handler.family, !arguments.isEmpty, countIsKnown(arguments) {
        let count = family.declaration.functionType.parameters.count
        if arguments.count != count {
          error(
            name.range,
            "'\(family.selector)' takes \(count) argument\(count == 1 ? "" : "s"), call:original got \(arguments.count); pass all or none")
        } else {
          checkLiterals(arguments[...], family)
        }
      }
    default: break
    }
  }

  /// - Parameter arguments: the handler and the options.
  private mutating func checkHook(_ position: Identifier, _ bound: BoundSelector?, _ arguments: some Collection<Expression>) {
    if let bound, let why = binding?.whyNotHookable(bound) {
      error(position.range, why)
    } else if ["around", "contain"].contains(position.text), let family = bound?.only, let why = family.declaration.refusesAround {
      error(position.range, "cannot hook '\(family.selector)': \(why)")
    }
    if !checkPolicy(bound, position.range) { countHook(bound, position.range) }
    checkAnswers(position, bound?.only, arguments.dropFirst().first)
    guard let handler = arguments.first else { return }
    switch handler.kind {
    case .table(let fields) where position.text == "contain":
      if let family = bound?.only, let answer = fields.first(where: { $0.key?.text == "value" })?.value { checkLiteral(answer, asResultOf: family) }
    case .string, .number, .table, .yes, .no, .nothing:
      return error(handler.range, "'\(position.text)' takes a handler function: function(call, …) … end")
    default: checkHandler(handler, HandlerContext(position: position.text, bound: bound))
    }
  }

  private mutating func checkHandler(_ handler: Expression, _ context: HandlerContext) {
    guard let body = function(handler) else { return }
    meanings.note(body, context)
    // What answers a trap gets the call and the reason, whatever the function takes.
    guard context.position != "contain", let family = context.family else { return }
    let expected = family.declaration.functionType.parameters.count
    if !body.parameters.isEmpty, body.parameters.count - 1 > expected {
      let extra = body.parameters[expected + 1]
      error(
        extra.range,
        "'\(family.selector)' takes \(expected) argument\(expected == 1 ? "" : "s"), the handler asks for \(body.parameters.count - 1); "
          + "remove '\(extra.text)'")
    }
    let answers = context.position == "around" || context.position == "override"
    if answers { checkReturns(of: body.block, family) }
    if answers, family.declaration.functionType.result != .tuple([]), !mayAnswer(body) {
      error(handler.range, "the handler neither calls the original nor returns a value; end it with 'return call:original()'")
    }
  }

  /// A function that is written here, or a local that is one.
  private func function(_ value: Expression) -> FunctionBody? {
    switch value.kind {
    case .function(let body): return body
    case .group(let inner): return function(inner)
    case .name(let name):
      guard let variable = meanings.names.local(name), variable.writes == 0, let initial = variable.initial, case .function(let body) = initial.kind
      else { return nil }
      return body
    default: return nil
    }
  }

  /// Some path returns a value, or the call goes on or somewhere else.
  private func mayAnswer(_ body: FunctionBody) -> Bool {
    if hasReturn(body.block) { return true }
    guard let call = body.parameters.first?.text else { return false }
    func isCall(_ value: Expression) -> Bool { if case .name(let name) = value.kind { name.text == call } else { false } }
    var answers = false
    body.block.forEachExpression { value in
      switch value.kind {
      case .method(let receiver, let name, let arguments):
        let goesOn = isCall(receiver) && ["original", "super", "try", "throw"].contains(name.text)
        // Whoever gets the call may answer it.
        answers = answers || goesOn || arguments.contains(where: isCall)
      case .call(_, let arguments): answers = answers || arguments.contains(where: isCall)
      case .table(let fields): answers = answers || fields.contains { isCall($0.value) }
      default: break
      }
      return !answers
    }
    body.block.forEachStatement { statement in
      if case .assignment(let targets, _) = statement.kind {
        for target in targets { if case .member(_, let member) = target.kind, member.text == "result" { answers = true } }
      }
    }
    return answers
  }

  /// Literals that the handler itself returns.
  private mutating func checkReturns(of block: Block, _ family: Family) {
    for statement in block.statements {
      if case .leave(let values) = statement.kind, let value = values.first { checkLiteral(value, asResultOf: family) }
      switch statement.kind {
      case .localFunction, .function: break
      default: for inner in statement.blocks { checkReturns(of: inner, family) }
      }
    }
  }

  private func hasReturn(_ block: Block) -> Bool {
    var found = false
    block.forEachStatement { if case .leave(let values) = $0.kind, !values.isEmpty { found = true } }
    return found
  }
}
