// Meanings — what an expression of a script is, as far as the text tells: a method, a type, a call, a name of the reference.
//
// A local that is assigned once means what it was declared with. All else is unknown, and nothing is claimed of it.
internal import HookRuntime
internal import LuaSyntax
internal import ScriptHost

/// One handler: which calls come to it.
final class HandlerContext {
  let position: String
  /// nil when the selector is not known, or is a glob.
  let bound: BoundSelector?
  init(position: String, bound: BoundSelector?) {
    self.position = position
    self.bound = bound
  }
  var family: Family? { bound?.only }
}

/// What an expression is.
enum Meaning {
  case unknown
  /// A global table: `swift`, `string`.
  case table(String)
  case function(ScriptEntry)
  case method(BoundSelector?)
  case type(String?)
  /// Another handle of the reference: `Hook`, `Observation`.
  case handle(String)
  case call(HandlerContext)
  case arguments(HandlerContext)
}

/// Reads meanings, and keeps which parameters are calls.
struct Meanings {
  let names: Names
  let binding: SelectorBinding?
  /// Parameters of handlers, by declaration.
  private var calls: [ObjectIdentifier: HandlerContext] = [:]
  /// Parameters of tests.
  private var tests: Set<ObjectIdentifier> = []
  /// A local that names itself (`local a = a`) ends somewhere.
  private let deepest = 32

  init(_ names: Names, _ binding: SelectorBinding?) {
    self.names = names
    self.binding = binding
  }

  /// The first parameter of a handler is its call.
  mutating func note(_ handler: FunctionBody, _ context: HandlerContext) {
    if let first = handler.parameters.first, let variable = names.local(first) { calls[ObjectIdentifier(variable)] = context }
  }

  /// The parameter of a test is its `t`.
  mutating func note(test body: FunctionBody) {
    if let first = body.parameters.first, let variable = names.local(first) { tests.insert(ObjectIdentifier(variable)) }
  }

  func of(_ value: Expression, depth: Int = 0) -> Meaning {
    guard depth < deepest else { return .unknown }
    switch value.kind {
    case .group(let inner): return of(inner, depth: depth + 1)
    case .name(let name): return of(name, depth)
    case .member(let base, let member): return of(member, in: of(base, depth: depth + 1))
    case .call(let function, let arguments):
      // `track "name" { … }`: its result is behind the last colon of the signature.
      if case .call(let inner, _) = function.kind, case .function(let entry) = of(inner, depth: depth + 1), entry.kind == .statement {
        let result = entry.signature.split(separator: ":").last.map { $0.split(separator: " ").joined() } ?? ""
        return Self.isType(result) ? .handle(result) : .unknown
      }
      guard case .function(let entry) = of(function, depth: depth + 1) else { return .unknown }
      return result(of: entry, arguments)
    case .method(let receiver, let name, _):
      let type: String
      switch of(receiver, depth: depth + 1) {
      case .method: type = "Method"
      case .type: type = "Class"
      case .handle(let other): type = other
      default: return .unknown
      }
      guard let result = ScriptReference.member(name.text, of: type)?.result, Self.isType(result) else { return .unknown }
      return .handle(result)
    default: return .unknown
    }
  }

  private static func isType(_ name: String) -> Bool { ScriptReference.types.contains { $0.name == name } }

  private func of(_ name: Identifier, _ depth: Int) -> Meaning {
    if let variable = names.local(name) {
      if let context = calls[ObjectIdentifier(variable)], variable.writes == 0 { return .call(context) }
      if tests.contains(ObjectIdentifier(variable)), variable.writes == 0 { return .handle(ScriptEntry.test) }
      guard variable.writes == 0, let initial = variable.initial else { return .unknown }
      return of(initial, depth: depth + 1)
    }
    if names.globals.contains(where: { $0.isAssigned && $0.name.text == name.text }) { return .unknown }
    if let entry = ScriptReference.entry(name.text), entry.kind != .value { return .function(entry) }
    return ScriptReference.members(ofTable: name.text) == nil ? .unknown : .table(name.text)
  }

  private func of(_ member: Identifier, in base: Meaning) -> Meaning {
    switch base {
    case .table(let table): ScriptReference.entry("\(table).\(member.text)").map { .function($0) } ?? .unknown
    case .function(let entry): ScriptReference.entry("\(entry.fullName).\(member.text)").map { .function($0) } ?? .unknown
    case .call(let context) where member.text == "args": .arguments(context)
    case .handle(ScriptEntry.test): ScriptReference.member(member.text, of: ScriptEntry.test).map { .function($0) } ?? .unknown
    default: .unknown
    }
  }

  private func result(of entry: ScriptEntry, _ arguments: [Expression]) -> Meaning {
    switch entry.fullName {
    case "method":
      guard let text = arguments.first?.text, case .success(let bound)? = binding?.resolve(text) else { return .method(nil) }
      return .method(bound)
    case "class": return .type(arguments.first?.text)
    default:
      guard let result = entry.result, Self.isType(result) else { return .unknown }
      return result == "Class" ? .type(nil) : .handle(result)
    }
  }
}
