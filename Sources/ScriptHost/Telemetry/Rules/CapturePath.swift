// CapturePath — `self.title`, `args.tax`, `result.id`, `self.total()`: what a rule reads of a call.
//
// Read without a lock and without memory of its own, as long as it names stored fields, counts and values that are numbers, Bools or
// texts. What is shown otherwise (a struct, an object) is made into text; `()` runs code of the program.
internal import CHookTrampoline
internal import HookRuntime
internal import Journal
internal import SwiftMangling

final class CapturePath: Sendable {
  enum Root: Sendable, Equatable { case selfValue, argument(Int), result, error, errno, duration, literal(String) }
  /// What kind of value it leads to, where that is known before it is read.
  enum Class: Sendable, Equatable { case number, text, caseName, bool, other, unknown }

  let text: String
  let root: Root
  let steps: PathSteps
  /// The declared type of the root; nil where only a call tells.
  private let start: TypeInfo?

  /// Reads a path; each of its steps is checked against the types that the selector declares.
  /// - Parameter rights: what the rule's patch may touch; nil: everything.
  init(_ text: String, for family: Family, rights: PatchRights? = nil) throws(RuleProblem) {
    self.text = text
    if text.utf8.count >= 2, text.hasPrefix("'"), text.hasSuffix("'") {
      root = .literal(String(text.dropFirst().dropLast()))
      start = nil
      steps = try PathSteps([], from: nil, path: text, rights: rights)
      return
    }
    var parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if parts.contains("") { throw RuleProblem("'\(text)' has an empty step") }
    root = try Self.root(&parts, text, family)
    if root == .duration || root == .errno, let next = parts.first {
      throw RuleProblem("'\(text)': '\(text.prefix { $0 != "." })' is a number, which has no '\(next)'")
    }
    if root == .selfValue, Self.makesSelf(family.declaration), let name = parts.first, name != PathSteps.typeStep {
      throw RuleProblem("'\(text)': an initialiser has no 'self' to look at; what it makes is its result: 'result.\(name)'")
    }
    start = Self.type(of: root, family)
    if start == nil, let name = parts.first { try Self.checkGeneric(name, root, family, text) }
    steps = try PathSteps(parts[...], from: start, path: text, rights: rights)
  }

  private static func makesSelf(_ declaration: Declaration) -> Bool {
    (declaration.kind == .`init` || declaration.kind == .allocatingInit) && declaration.contextKind == .classType
  }

  /// Takes the parts that name the root.
  private static func root(_ parts: inout [String], _ text: String, _ family: Family) throws(RuleProblem) -> Root {
    let head = parts.removeFirst()
    switch head {
    case "self": return .selfValue
    case "result": return .result
    case "error": return .error
    case "duration": return .duration
    case "errno" where family.imported != nil: return .errno
    case "args": return .argument(try argument(&parts, family))
    default:
      let known = ["self", "args", "result", "error", "duration"] + (family.imported == nil ? [] : ["errno"])
      let near = RuleNames.nearest(to: head, known).map { "; did you mean '\($0)'?" } ?? ""
      throw RuleProblem(
        "'\(text)' begins with neither self, args, result, error nor duration" + (family.imported == nil ? "" : ", nor errno") + near)
    }
  }

  private static func argument(_ parts: inout [String], _ family: Family) throws(RuleProblem) -> Int {
    guard !parts.isEmpty else { throw RuleProblem("'args' needs a label or a position: 'args.name' or 'args.1'") }
    let name = parts.removeFirst()
    let parameters = family.declaration.functionType.parameters
    if let position = Int(name), parameters.indices.contains(position - 1) { return position - 1 }
    if let index = parameters.firstIndex(where: { $0.label == name }) { return index }
    let known = parameters.enumerated().map { $1.label ?? "\($0 + 1)" }
    let near = RuleNames.nearest(to: name, known).map { "; did you mean '\($0)'?" }
    throw RuleProblem(
      "'\(family.selector)' has no argument '\(name)'"
        + (near ?? "; it has \(known.isEmpty ? "none" : known.joined(separator: ", "))"))
  }

  /// The declared type of the path's root; nil where only a call tells.
  private static func type(of root: Root, _ family: Family) -> TypeInfo? {
    if root == .error { return PathSteps.error }
    return syntax(of: root, family.declaration).flatMap { try? TypeResolver.shared.type($0).get() }
  }

  private static func syntax(of root: Root, _ declaration: Declaration) -> TypeSyntax? {
    switch root {
    case .selfValue:
      guard let context = declaration.context, let kind = declaration.contextKind, kind != .protocolType else { return nil }
      // Of a class, an instance knows more than the declaration: a subclass's fields are not there for all.
      return .nominal(context, kind: kind, arguments: [])
    case .argument(let index): return declaration.functionType.parameters[index].type
    case .result: return declaration.functionType.result
    case .error, .errno, .duration, .literal: return nil
    }
  }

  /// Which fields or cases a generic struct or enum has does not depend on what it is generic over.
  private static func checkGeneric(_ name: String, _ root: Root, _ family: Family, _ path: String) throws(RuleProblem) {
    guard !name.hasSuffix("()"), case .nominal(let type, let kind, _)? = syntax(of: root, family.declaration),
      kind == .structure || kind == .enumeration, type.module != "Swift",
      let descriptor = TypeCatalog.shared.descriptor(type.description), descriptor.isGeneric
    else { return }
    let known = descriptor.fields.map(\.name)
    if known.contains(name) { return }
    throw RuleProblem(PathSteps.missing(name, kind == .structure ? "stored field" : "case", type.description, known, path))
  }

  var needsExit: Bool {
    switch root {
    case .result, .error, .errno, .duration: true
    case .selfValue, .argument, .literal: false
    }
  }

  var valueClass: Class {
    if root == .duration || root == .errno { return .number }
    if root == .error, steps.steps.isEmpty { return .text }
    if case .literal = root { return .text }
    guard var type = steps.type else { return .unknown }
    while case .optional(let payload) = type.kind { type = payload }
    switch type.kind {
    case .integer, .float: return .number
    case .string, .cString: return .text
    case .bool: return .bool
    case .enumeration: return .caseName
    case .existential: return .unknown
    default: return type.isPieceOfText ? .text : .other
    }
  }

  // MARK: Reading

  /// Gives `body` the value, once. Valid only inside.
  func read(_ view: CallView, atExit: Bool, _ body: (CapturedValue) -> Void) {
    switch root {
    case .duration: body(.integer(Int64(clamping: view.durationNanoseconds)))
    // Of a call that did not fail it would be that of one before.
    case .errno: body(view.saysFailure ? .integer(Int64(view.errno)) : .null)
    case .error:
      let error = view.errorBox()
      if error == 0 { return body(view.didThrow ? .missing("not decoded") : .null) }
      guard let start, !steps.steps.isEmpty else { return Self.give(ValuePrinter.error(error), body) }
      withUnsafePointer(to: error) { walk(0, UnsafeRawPointer($0), .passUnretained(start), steps, then: body) }
    case .literal(let text): Self.give(text, body)
    case .selfValue: readSelf(view, atExit, body)
    case .argument(let index): readArgument(index, view, atExit, body)
    case .result where view.didThrow: body(.null)
    case .result:
      let result = view.plan.result
      value(result.location, result.info, view, isResult: true, body)
    }
  }

  private static func give(_ text: String, _ body: (CapturedValue) -> Void) {
    var text = text
    text.withUTF8 { body(.text(UnsafeRawBufferPointer($0))) }
  }

  private func readSelf(_ view: CallView, _ atExit: Bool, _ body: (CapturedValue) -> Void) {
    if atExit, view.withPlan({ $0.selfEndsWithCall }) { return body(.null) }
    if view.withPlan({ $0.makesSelf }) {
      // The class is known of what is being made, and nothing else.
      guard let type = UnsafeRawPointer(bitPattern: view.selfClass) else { return body(.missing("not decoded")) }
      return Self.give(Metadata(type).name, body)
    }
    if let object = view.selfObject {
      // The object's own class is asked for its name only, and where nothing was declared.
      let known = steps.steps.isEmpty ? nil : start
      guard let type = known ?? (try? TypeResolver.shared.type(of: Metadata(object.load(as: UnsafeRawPointer.self))).get()) else {
        return body(.missing("not decoded"))
      }
      if steps.steps.isEmpty { return Self.give(type.name, body) }
      return withUnsafePointer(to: object) { walk(0, UnsafeRawPointer($0), .passUnretained(type), steps, then: body) }
    }
    switch view.plan.selfPlan {
    case .value(let plan):
      switch atExit ? view.selfAfterCall(plan) : .left {
      case .left, .presumed: break
      case .gone: return body(.missing("consumed"))
      case .unknown: return body(.missing("perhaps consumed"))
      }
      value(plan.readable, plan.info, view, isResult: false, body)
    case .metatype(let place):
      // There is no instance yet, and so no field of one.
      if let name = steps.steps.first, case .typeName = name {} else if !steps.steps.isEmpty { return body(.missing("not decoded")) }
      guard let word = UnsafeRawPointer(bitPattern: UInt(view.reader.argumentWord(place))),
        case .success(let type) = TypeResolver.shared.type(of: Metadata(word))
      else { return body(.missing("not decoded")) }
      Self.give(type.name, body)
    case .object: body(.null)
    case .none: body(.missing("no self"))
    case .unknown: body(.missing("not decoded"))
    }
  }

  private func readArgument(_ index: Int, _ view: CallView, _ atExit: Bool, _ body: (CapturedValue) -> Void) {
    let recipe = view.withPlan { $0.recipes[index] }
    if let type = recipe.info, !(atExit && recipe.isConsumed) {
      let done: Void? = recipe.withMemory(view.call) { walk(0, $0, type, steps, then: body) }
      if done != nil { return }
    }
    let argument = view.plan.arguments[index]
    if atExit, argument.isConsumed { return body(.missing("consumed")) }
    value(argument.location, argument.info, view, isResult: false, body)
  }

  private func value(
    _ location: Location, _ info: TypeInfo?, _ view: CallView, isResult: Bool, _ body: (CapturedValue) -> Void
  ) {
    let missing = CapturedValue.missing(location == .optimizedOut ? "optimized out" : "not decoded")
    guard let info else { return body(missing) }
    let reader = view.reader
    let done: Void? =
      location.isWhole || !isThere(location, info)
      ? reader.withMemory(location, info, isResult: isResult) { walk(0, $0, .passUnretained(info), steps, then: body) }
      : reader.withParts(location, info, isResult: isResult) { walk(0, $0, .passUnretained(info), steps, then: body) }
    if done == nil { body(missing) }
  }

  /// Of a value that the optimiser left in parts: the part that the path goes through is among them.
  private func isThere(_ location: Location, _ info: TypeInfo) -> Bool {
    var offset = 0
    var size = info.size
    for step in steps.steps {
      guard case .field(let next, let type) = step else { break }
      offset += next
      size = type._withUnsafeGuaranteedRef { $0.size }
    }
    return location.has(offset: offset, size: size)
  }

  // MARK: Walking

  private typealias Walk = (UnsafeRawPointer, Unmanaged<TypeInfo>) -> Void

  /// From the step at `index` to the end, and then the value there.
  private func walk(
    _ index: Int, _ memory: UnsafeRawPointer, _ type: Unmanaged<TypeInfo>, _ path: PathSteps, then body: (CapturedValue) -> Void
  ) {
    go(path.steps, index, memory, type, body) { finish($0, $1, body) }
  }

  /// What is at the end of a path.
  private func finish(_ memory: UnsafeRawPointer, _ type: Unmanaged<TypeInfo>, _ body: (CapturedValue) -> Void) {
    type._withUnsafeGuaranteedRef { info in
      switch info.kind {
      case .string:
        StringBits.withUTF8(memory.loadUnaligned(as: UInt64.self), memory.loadUnaligned(fromByteOffset: 8, as: UInt64.self)) {
          body(.text($0))
        }
      case .cString:
        let isText: Void? = CText.withBytes(memory.loadUnaligned(as: UInt.self)) { body(.text($0)) }
        if isText == nil { body(.null) }
      case .optional(let payload):
        if info.metadata.enumTag(memory) != 0 { body(.null) } else { finish(memory, .passUnretained(payload), body) }
      case .enumeration:
        if let number = info.caseNumber(of: memory), !info.cases[number].hasPayload {
          Self.give("." + info.cases[number].name, body)
        } else {
          body(.other(memory, type))
        }
      case .existential:
        if info.metadata.existentialForm != .error, let (value, inner) = info.openExistential(memory) {
          finish(value, .passUnretained(inner), body)
        } else {
          body(.other(memory, type))
        }
      default:
        let isText: Void? = info.withPieceOfText(memory) { body(.text($0)) }
        if isText == nil { body(CapturedValue(memory, type)) }
      }
    }
  }

  /// Takes the steps from `index` on; `end` gets what is behind the last, or `body` why there is nothing.
  private func go(
    _ steps: UnsafeBufferPointer<PathStep>, _ index: Int, _ memory: UnsafeRawPointer, _ type: Unmanaged<TypeInfo>,
    _ body: (CapturedValue) -> Void, _ end: Walk
  ) {
    guard index < steps.count else { return end(memory, type) }
    func on(_ memory: UnsafeRawPointer, _ type: Unmanaged<TypeInfo>) { go(steps, index + 1, memory, type, body, end) }
    switch steps[index] {
    case .field(let offset, let next): on(memory + offset, next)
    case .objectField(let offset, let next):
      guard let object = UnsafeRawPointer(bitPattern: memory.loadUnaligned(as: UInt.self)) else { return body(.null) }
      on(object + offset, next)
    case .weakField(let offset, let next):
      guard let object = UnsafeRawPointer(bitPattern: memory.loadUnaligned(as: UInt.self)) else { return body(.null) }
      // The field is a weak reference to a native object, as the one of WeakSlot is.
      guard let strong = (object + offset).assumingMemoryBound(to: WeakSlot.self).pointee.object else { return body(.null) }
      withExtendedLifetime(strong) {
        withUnsafePointer(to: UInt(bitPattern: Unmanaged.passUnretained(strong).toOpaque())) { on(UnsafeRawPointer($0), next) }
      }
    case .unwrap(let optional, let payload):
      if optional._withUnsafeGuaranteedRef({ $0.metadata.enumTag(memory) }) != 0 { return body(.null) }
      on(memory, payload)
    case .payload(let owner, let number):
      owner._withUnsafeGuaranteedRef { owner in
        guard owner.caseNumber(of: memory) == number else { return body(.null) }
        if !owner.borrowPayload(of: memory, { on($0, .passUnretained($1)) }) { body(.null) }
      }
    case .open(let owner):
      owner._withUnsafeGuaranteedRef {
        guard let (value, inner) = $0.openExistential(memory) else { return body(.missing("not decoded")) }
        on(value, .passUnretained(inner))
      }
    case .element(let list, let position):
      list._withUnsafeGuaranteedRef { list in
        let done: Void? = list.withElement(memory, position) { on($0, .passUnretained(list.element)) }
        if done == nil { body(.null) }
      }
    case .count(let list): number(list._withUnsafeGuaranteedRef { $0.count(memory) }, on)
    case .isEmpty(let list): bool(list._withUnsafeGuaranteedRef { $0.count(memory) == 0 }, on)
    case .typeName: dynamic(memory, type)._withUnsafeGuaranteedRef { Self.give($0.name, body) }
    case .textCount: number(memory.assumingMemoryBound(to: String.self).pointee.count, on)
    case .textIsEmpty: bool(memory.assumingMemoryBound(to: String.self).pointee.isEmpty, on)
    case .call(let step):
      if let problem = step._withUnsafeGuaranteedRef({ $0.call(on: memory, type, on) }) { body(.missing(problem)) }
    case .byName(let step): byName(step, memory, dynamic(memory, type), body, on)
    }
  }

  /// Goes on along a step that is looked up by the type of the value at hand.
  private func byName(
    _ step: Unmanaged<NamedStep>, _ memory: UnsafeRawPointer, _ type: Unmanaged<TypeInfo>, _ body: (CapturedValue) -> Void, _ end: Walk
  ) {
    step._withUnsafeGuaranteedRef {
      $0.find(type) {
        switch $0.steps {
        case .failure(let problem): body(.missing(problem.text))
        case .success(let found): go(found.steps, 0, memory, type, body, end)
        }
      }
    }
  }

  /// An object's own class; of anything else the type that is known.
  private func dynamic(_ memory: UnsafeRawPointer, _ type: Unmanaged<TypeInfo>) -> Unmanaged<TypeInfo> {
    guard case .object = type._withUnsafeGuaranteedRef({ $0.kind }),
      let object = UnsafeRawPointer(bitPattern: memory.loadUnaligned(as: UInt.self)),
      case .success(let own) = TypeResolver.shared.type(of: Metadata(object.load(as: UnsafeRawPointer.self)))
    else { return type }
    return .passUnretained(own)
  }

  private func number(_ value: Int, _ on: Walk) {
    guard let type = PathSteps.integer else { return }
    withUnsafePointer(to: value) { on(UnsafeRawPointer($0), .passUnretained(type)) }
  }

  private func bool(_ value: Bool, _ on: Walk) {
    guard let type = PathSteps.boolean else { return }
    withUnsafePointer(to: value) { on(UnsafeRawPointer($0), .passUnretained(type)) }
  }
}

/// How a weak reference lies in memory.
private struct WeakSlot { weak var object: AnyObject? }
