// PatchCheck — everything that can be said of a patch before it is loaded: grammar, names, calls, and what they mean in a program.
internal import Glibc
internal import HookRuntime
internal import Journal
internal import LuaSyntax
internal import ScriptHost
internal import SwiftMangling

struct PatchCheck {
  let source: SourceText
  let fileName: String
  let path: RawPath
  let unit: CheckedUnit
  let program: ProgramView?
  let binding: SelectorBinding?
  let policy: Policy?
  /// What the patch may touch and do under the policy; nil: everything, or its header is wrong.
  var rights: PatchRights?
  var meanings: Meanings
  private(set) var findings: [CheckMessage] = []
  /// Classes that `class.define` makes in this file.
  private(set) var made: Set<String> = []
  /// The call that the file begins with.
  private(set) var first: Range<Int>?
  /// Hooks that certainly come to be, and what they are made by; see `PatchCheck+Policy`.
  var hookCount = 0
  var certain: Set<Int> = []

  /// Checks a whole file.
  /// - Parameters:
  ///   - unit: the patch it belongs to.
  ///   - program: nil: nothing is bound.
  ///   - policy: nil: nothing is denied.
  /// - Returns: findings in the order of their places.
  static func findings(_ bytes: [UInt8], path: RawPath, of unit: CheckedUnit, program: ProgramView?, policy: Policy? = nil) -> [CheckMessage] {
    findings(bytes, path: path, of: unit, binding: program.map { SelectorBinding($0) }, policy: policy)
  }

  /// - Parameter binding: knows what the script names when this returns.
  static func findings(_ bytes: [UInt8], path: RawPath, of unit: CheckedUnit, binding: SelectorBinding?, policy: Policy? = nil) -> [CheckMessage] {
    let source = SourceText(bytes)
    let script = Script(source)
    var check = PatchCheck(source, path, unit, Names(script.block), binding, policy)
    if source.bytes.isEmpty {
      check.error(0..<0, "the file is empty")
      return check.findings
    }
    if let problem = script.problem {
      check.error(problem.range, problem.message)
      return check.findings
    }
    check.checkHeader()
    if case .call(let value)? = script.block.statements.first?.kind { check.first = value.range }
    check.noteClasses(script.block)
    check.noteCertain(script.block)
    script.block.forEachExpression { value in
      check.check(value)
      return true
    }
    script.block.forEachStatement { check.check($0) }
    check.checkNames()
    return check.findings.sorted { $0.position < $1.position }
  }

  /// Two patches of one directory have one id: what is said of the second.
  static func taken(_ id: String, by other: RawPath, _ bytes: [UInt8]) -> CheckMessage {
    let source = SourceText(bytes)
    let place = Lexer.tokens(source).first { $0.kind == .string && source[$0.range].dropFirst().dropLast() == id }?.range.lowerBound ?? 0
    return CheckMessage(
      severity: .error, position: source.position(of: place),
      message: "id '\(EventText.printable(id))' is taken by '\(EventText.printable(other.description))'; give each patch its own")
  }

  /// The globals that these texts assign.
  static func globals(of texts: [[UInt8]]) -> Set<String> {
    Set(texts.flatMap { Names(Script(SourceText($0)).block).globals.filter(\.isAssigned).map(\.name.text) })
  }

  private init(_ source: SourceText, _ path: RawPath, _ unit: CheckedUnit, _ names: Names, _ binding: SelectorBinding?, _ policy: Policy?) {
    self.policy = policy
    self.source = source
    self.path = path
    self.unit = unit
    fileName = String(decoding: path.lastComponent, as: UTF8.self)
    program = binding?.program
    self.binding = binding
    meanings = Meanings(names, binding)
  }

  mutating func error(_ range: Range<Int>, _ message: String) { add(.error, range, message) }
  mutating func warn(_ range: Range<Int>, _ message: String) { add(.warning, range, message) }
  private mutating func add(_ severity: CheckMessage.Severity, _ range: Range<Int>, _ message: String) {
    findings.append(CheckMessage(severity: severity, position: source.position(of: range.lowerBound), message: message))
  }

  // MARK: Header

  private mutating func checkHeader() {
    // A module has none: what holds for it is its patch's.
    if path != unit.place.path { return noteRights(of: unit.permissions) }
    do throws(PatchError) {
      let header = try PatchHeader(source: source.bytes, fileName: fileName)
      noteRights(of: header.permissions)
      checkPermissions()
      checkTarget(header)
    } catch {
      // Its sentence begins with file and line.
      let (line, text) = Self.position(in: error.description, of: fileName)
      let column = line == 0 ? 1 : 1 + (sourceLine(line)?.prefix { $0.isBlankCharacter }.count ?? 0)
      findings.append(CheckMessage(severity: .error, position: SourcePosition(line: max(line, 1), column: column), message: text))
    }
  }

  /// What a load asks of the program.
  private mutating func checkTarget(_ header: PatchHeader) {
    if let time = header.expires, time <= Int64(Glibc.time(nil)) {
      warn(literal(header.expiresText) ?? 0..<0, "it expired on \(header.expiresText); it is not loaded any more")
    }
    guard let program else { return }
    let target = PatchTarget(program: program.name, buildID: program.buildID) { [binding] selector in
      if case .failure(let problem)? = binding?.resolve(selector) { problem.text } else { nil }
    }
    for misfit in header.misfits(in: target) {
      let advice = if case .program = misfit { "; correct target or check it against the other" } else { "" }
      error(literal(misfit.literal) ?? 0..<0, "\(misfit)\(advice)")
    }
  }

  /// What is said where code is not what the patch is pinned to.
  static func change(of header: PatchHeader, in program: ProgramView, _ bytes: [UInt8]) -> CheckMessage? {
    if header.isMade(forBuild: program.buildID) { return nil }
    let binding = SelectorBinding(program)
    for body in header.bodies {
      guard let why = PinnedBodies.firstChange([body], find: binding.families(of:)) else { continue }
      let source = SourceText(bytes)
      let place = Lexer.tokens(source).first { $0.kind == .string && source[$0.range].dropFirst().dropLast() == body.selector }
      return CheckMessage(severity: .error, position: source.position(of: place?.range.lowerBound ?? 0), message: why)
    }
    return nil
  }

  private static func position(in sentence: String, of file: String) -> (Int, String) {
    guard sentence.hasPrefix(file + ":") else { return (0, sentence) }
    let rest = sentence.dropFirst(file.count + 1)
    let digits = rest.prefix { $0.isNumber }
    guard let line = Int(digits), rest.dropFirst(digits.count).hasPrefix(": ") else { return (0, String(rest).trimmed) }
    return (line, String(rest.dropFirst(digits.count + 2)))
  }

  private func sourceLine(_ line: Int) -> Substring? {
    let lines = source[0..<source.bytes.count].split(separator: "\n", omittingEmptySubsequences: false)
    return lines.indices.contains(line - 1) ? lines[line - 1] : nil
  }

  /// The first string token with this text.
  private func literal(_ text: String) -> Range<Int>? {
    Lexer.tokens(source).first { $0.kind == .string && source[$0.range].dropFirst().dropLast() == text }?.range
  }

  private mutating func noteClasses(_ block: Block) {
    var found: Set<String> = []
    block.forEachExpression { value in
      if case .call(let function, let arguments) = value.kind, case .function(let entry) = meanings.of(function),
        entry.fullName == "class.define", let name = arguments.first?.text
      {
        found.insert(name)
      }
      return true
    }
    made = found
  }

  // MARK: Names

  private mutating func checkNames() {
    let assigned = unit.globals.union(meanings.names.globals.filter(\.isAssigned).map(\.name.text))
    var reported: Set<String> = []
    for use in meanings.names.globals where reported.insert(use.name.text).inserted {
      let name = use.name.text
      if use.isAssigned {
        let isOurs = ScriptReference.globalNames.contains(name)
        warn(
          use.name.range,
          isOurs ? "'\(name)' is a name of the host; assigning it hides that" : "global '\(name)' is assigned; write 'local' before it")
      } else if !assigned.contains(name), !ScriptReference.globalNames.contains(name) {
        let visible = Array(ScriptReference.globalNames) + meanings.names.locals.map(\.name.text)
        error(use.name.range, "unknown global '\(name)'" + (Nearest.name(to: name, among: visible).map { "; did you mean '\($0)'?" } ?? ""))
      }
    }
    for local in meanings.names.locals where local.reads == 0 && !local.name.text.hasPrefix("_") {
      switch local.kind {
      case .local: warn(local.name.range, unusedText(local))
      case .function: warn(local.name.range, "function '\(local.name.text)' is never called")
      case .parameter, .loop: break
      }
    }
  }

  private func unusedText(_ local: LocalVariable) -> String {
    let name = local.name.text
    switch local.initial.map({ meanings.of($0) }) {
    case .method?, .type?: return "'\(name)' is resolved and never hooked or used"
    default: return "'\(name)' is never used"
    }
  }

  // MARK: Statements

  private mutating func check(_ statement: Statement) {
    switch statement.kind {
    case .call(let value):
      switch meanings.of(value) {
      case .type where isDefinition(value): break
      case .method, .type: warn(value.range, "this is resolved and nothing is hooked; add ':before', ':around' or ':after'")
      default: checkIsWhole(value)
      }
    case .assignment(let targets, let values):
      for (target, value) in zip(targets, values) { checkAssigned(value, to: target) }
      for target in targets {
        checkConfig(target)
        guard case .member(let base, let member) = target.kind, case .call(let handler) = meanings.of(base) else { continue }
        if member.text == "result", handler.position == "before" {
          error(member.range, "a 'before' handler cannot set the result; use 'around' or 'after'")
        } else if member.text != "result", member.text != "errno", ScriptReference.member(member.text, of: "Call") != nil {
          error(member.range, "'call.\(member.text)' cannot be set; 'call.result', 'call.errno' and 'call.args.…' can")
        }
      }
    default: break
    }
  }

  /// `class.define(…)`, which makes a class whether anybody keeps the answer or not.
  private func isDefinition(_ value: Expression) -> Bool {
    guard case .call(let function, _) = value.kind, case .function(let entry) = meanings.of(function) else { return false }
    return entry.fullName == "class.define"
  }

  /// `track "name"` alone, and `track { … }`: what is called answers a function, and nobody calls that.
  private mutating func checkIsWhole(_ value: Expression) {
    guard case .call(let function, _) = value.kind, case .function(let entry) = meanings.of(function), entry.kind == .statement else { return }
    error(
      value.range,
      "'\(entry.name)' takes a name, and then what belongs to it: "
        + "\(entry.name) \"…\" \(entry.name == "test" ? "(function(t) … end)" : "{ … }")")
  }

  /// `config.x = 1`: nobody writes there.
  private mutating func checkConfig(_ target: Expression) {
    let base: Expression
    switch target.kind {
    case .member(let inner, _), .index(let inner, _): base = inner
    default: return
    }
    guard case .name(let name) = base.kind, name.text == "config", meanings.names.local(name) == nil else { return }
    error(target.range, "'config' is read only: its settings are in the header, in a file beside the patch or given with run --config")
  }

  /// A literal that becomes an argument or a result.
  private mutating func checkAssigned(_ value: Expression, to target: Expression) {
    switch target.kind {
    case .member(let base, let member):
      switch meanings.of(base) {
      case .arguments(let handler): if let family = handler.family { checkLiteral(value, ofArgument: member.text, family) }
      case .call(let handler) where member.text == "result" && handler.position != "before":
        if let family = handler.family { checkLiteral(value, asResultOf: family) }
      default: break
      }
    case .index(let base, let key):
      guard case .arguments(let handler) = meanings.of(base), let family = handler.family else { return }
      if let text = key.text { checkLiteral(value, ofArgument: text, family) }
      if case .number(let digits) = key.kind { checkLiteral(value, ofArgument: digits, family) }
    default: break
    }
  }
}

extension Character {
  var isBlankCharacter: Bool { self == " " || self == "\t" }
}

extension String {
  fileprivate var trimmed: String { String(drop(while: \.isBlankCharacter)) }
}
