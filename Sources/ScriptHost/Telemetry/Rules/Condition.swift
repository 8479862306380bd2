// Condition — `where`, compiled for one function: asked on every call, without memory of its own.
internal import CHookTrampoline
internal import HookRuntime
private import Glibc

/// Immutable; lives as long as its rule.
final class Condition: @unchecked Sendable {
  private enum Operand {
    case path(Unmanaged<CapturePath>)
    case number(Double)
    case text(UnsafeRawBufferPointer)
    case bool(Bool)
    case null
  }

  private enum Node {
    case isTrue(Operand)
    case compare(ConditionText.Comparison, Operand, Operand)
    case function(ConditionText.Function, Operand, UnsafeRawBufferPointer)
    /// The path leads to one of the texts: it is read once.
    case among(Unmanaged<CapturePath>, UnsafeBufferPointer<UnsafeRawBufferPointer>)
    case both(Int, Int), either(Int, Int)
    case not(Int)
  }

  private let kept: KeptParts
  private let nodes: UnsafeBufferPointer<Node>
  private let root: Int
  /// Asked when the call is over: a path of it leads to what is known then only.
  let needsExit: Bool
  let needsTime: Bool

  /// Compiles a condition for the function: every path is checked, and what it is compared with.
  init(_ text: String, for family: Family, rights: PatchRights? = nil) throws(RuleProblem) {
    var compiler = Compiler(family: family, rights: rights)
    root = try compiler.node(ConditionText(reading: text))
    kept = compiler.kept
    nodes = kept.list(compiler.nodes)
    needsExit = compiler.paths.contains(where: \.needsExit)
    needsTime = compiler.paths.contains { $0.root == .duration }
  }

  private struct Compiler {
    let family: Family
    let rights: PatchRights?
    let kept = KeptParts()
    var nodes: [Node] = []
    var paths: [CapturePath] = []

    mutating func add(_ node: Node) -> Int {
      nodes.append(node)
      return nodes.count - 1
    }

    mutating func node(_ text: ConditionText) throws(RuleProblem) -> Int {
      switch text {
      case .both(let a, let b): return add(.both(try node(a), try node(b)))
      case .either(let a, let b):
        let left = try node(a), right = try node(b)
        return joined(left, right) ?? add(.either(left, right))
      case .not(let a): return add(.not(try node(a)))
      case .compare(let comparison, let a, let b): return try compare(comparison, a, b)
      case .function(let function, let path, let wanted):
        let found = try self.path(path)
        guard [.text, .unknown, .other].contains(found.valueClass) else {
          throw RuleProblem("'where': \(function.rawValue) looks into text, and '\(path)' is \(Self.name(found))")
        }
        return add(.function(function, .path(kept.object(found)), kept.text(wanted)))
      default: return add(.isTrue(try operand(text, with: nil)))
      }
    }

    /// `path == "a" or path == "b"` as one node; nil for other alternatives.
    private mutating func joined(_ left: Int, _ right: Int) -> Int? {
      guard let (path, one) = texts(left), let (other, more) = texts(right), path.toOpaque() == other.toOpaque() else { return nil }
      return add(.among(path, kept.list(one + more)))
    }

    /// The texts that a node compares a path with.
    private func texts(_ index: Int) -> (Unmanaged<CapturePath>, [UnsafeRawBufferPointer])? {
      switch nodes[index] {
      case .compare(.equal, .path(let path), .text(let text)): (path, [text])
      case .among(let path, let texts): (path, Array(texts))
      default: nil
      }
    }

    private mutating func compare(_ comparison: ConditionText.Comparison, _ a: ConditionText, _ b: ConditionText) throws(RuleProblem) -> Int {
      let left = try pathOf(a), right = try pathOf(b)
      if left == nil, right == nil { throw RuleProblem("'where': a comparison needs a path such as self.total") }
      try check(comparison, left, b)
      try check(comparison, right, a)
      return add(.compare(comparison, try operand(a, with: left ?? right), try operand(b, with: right ?? left)))
    }

    private mutating func pathOf(_ text: ConditionText) throws(RuleProblem) -> CapturePath? {
      if case .path(let path) = text { try self.path(path) } else { nil }
    }

    private mutating func path(_ text: String) throws(RuleProblem) -> CapturePath {
      if let known = paths.first(where: { $0.text == text }) { return known }
      do throws(RuleProblem) {
        let made = try CapturePath(text, for: family, rights: rights)
        paths.append(made)
        return made
      } catch { throw RuleProblem("'where': \(error.text)") }
    }

    /// A number is compared with numbers, a text with texts; anything may be nil.
    private func check(_ comparison: ConditionText.Comparison, _ path: CapturePath?, _ other: ConditionText) throws(RuleProblem) {
      guard let path else { return }
      let isOrder = comparison != .equal && comparison != .unequal
      let isRight: Bool
      switch (path.valueClass, other) {
      case (.unknown, _), (_, .path), (_, .null): isRight = !isOrder || other != .null
      case (.number, .number): isRight = true
      case (.text, .text): isRight = true
      case (.caseName, .text): isRight = !isOrder
      case (.bool, .bool): isRight = !isOrder
      default: isRight = false
      }
      if !isRight { throw RuleProblem("'where': '\(path.text)' is \(Self.name(path)), and is compared with \(Self.name(other))") }
    }

    private static func name(_ path: CapturePath) -> String { path.steps.type?.name ?? (path.valueClass == .number ? "a number" : "text") }
    private static func name(_ text: ConditionText) -> String {
      switch text {
      case .number: "a number"
      case .text: "text"
      case .bool: "true or false"
      case .null: "nil, which has no order"
      default: "a condition"
      }
    }

    private mutating func operand(_ text: ConditionText, with path: CapturePath?) throws(RuleProblem) -> Operand {
      switch text {
      case .number(let value): return .number(value)
      case .text(let text):
        // Cases are shown as Swift spells them.
        let isCase = path?.valueClass == .caseName && !text.hasPrefix(".")
        return .text(kept.text(isCase ? "." + text : text))
      case .bool(let value): return .bool(value)
      case .null: return .null
      case .path(let path): return .path(kept.object(try self.path(path)))
      default: throw RuleProblem("'where': a condition is compared with nothing; join conditions with 'and' or 'or'")
      }
    }
  }

  // MARK: Asking

  /// Whether the condition holds for the call.
  func holds(_ view: CallView, atExit: Bool) -> Bool { holds(root, view, atExit) }

  private func holds(_ index: Int, _ view: CallView, _ atExit: Bool) -> Bool {
    switch nodes[index] {
    case .both(let a, let b): return holds(a, view, atExit) && holds(b, view, atExit)
    case .either(let a, let b): return holds(a, view, atExit) || holds(b, view, atExit)
    case .not(let a): return !holds(a, view, atExit)
    case .isTrue(let operand):
      var answer = false
      Self.with(operand, view, atExit) { answer = $0.isTrue }
      return answer
    case .compare(let comparison, let a, let b):
      var answer = false
      Self.with(a, view, atExit) { a in Self.with(b, view, atExit) { b in answer = Self.compare(comparison, a, b) } }
      return answer
    case .among(let path, let texts):
      var answer = false
      path._withUnsafeGuaranteedRef {
        $0.read(view, atExit: atExit) { value in answer = texts.contains { Self.compare(.equal, value, .text($0)) } }
      }
      return answer
    case .function(let function, let operand, let wanted):
      var answer = false
      Self.with(operand, view, atExit) { if case .text(let text) = $0 { answer = Self.apply(function, text, wanted) } }
      return answer
    }
  }

  private static func with(_ operand: Operand, _ view: CallView, _ atExit: Bool, _ body: (CapturedValue) -> Void) {
    switch operand {
    case .path(let path): path._withUnsafeGuaranteedRef { $0.read(view, atExit: atExit, body) }
    case .number(let value): body(.double(value))
    case .text(let bytes): body(.text(bytes))
    case .bool(let value): body(.bool(value))
    case .null: body(.null)
    }
  }

  private static func compare(_ comparison: ConditionText.Comparison, _ a: CapturedValue, _ b: CapturedValue) -> Bool {
    switch (a, b) {
    // What cannot be read is neither equal nor unequal to anything.
    case (.missing, _), (_, .missing): return false
    case (.null, .null): return comparison == .equal
    case (.null, _), (_, .null): return comparison == .unequal
    case (.text(let a), .text(let b)): return decide(comparison, order(a, b))
    case (.integer(let a), .integer(let b)): return decide(comparison, a < b ? -1 : a == b ? 0 : 1)
    // A case with values is compared by its name alone.
    case (.other(let memory, let type), .text(let text)), (.text(let text), .other(let memory, let type)):
      let isIt = type._withUnsafeGuaranteedRef { isCase(text, $0, memory) }
      return comparison == .equal ? isIt : comparison == .unequal && !isIt
    default:
      guard let a = a.number, let b = b.number else { return comparison == .unequal }
      if a.isNaN || b.isNaN { return comparison == .unequal }
      return decide(comparison, a < b ? -1 : a == b ? 0 : 1)
    }
  }

  /// The value is the enum's case of that name.
  private static func isCase(_ text: UnsafeRawBufferPointer, _ type: TypeInfo, _ memory: UnsafeRawPointer) -> Bool {
    guard case .enumeration = type.kind, let number = type.caseNumber(of: memory) else { return false }
    let name = text.first == UInt8(ascii: ".") ? text.dropFirst() : text[...]
    return type.cases[number].name.utf8.elementsEqual(name)
  }

  /// Negative, 0 or positive as `a` comes before `b`, is equal to it, or comes behind it, byte by byte.
  private static func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    let shared = min(a.count, b.count)
    let first = shared == 0 ? 0 : Int(memcmp(a.baseAddress!, b.baseAddress!, shared))
    return first != 0 ? first : a.count - b.count
  }

  private static func decide(_ comparison: ConditionText.Comparison, _ order: Int) -> Bool {
    switch comparison {
    case .equal: order == 0
    case .unequal: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    }
  }

  /// Whether the text contains, begins with or ends in what is wanted.
  private static func apply(_ function: ConditionText.Function, _ text: UnsafeRawBufferPointer, _ wanted: UnsafeRawBufferPointer) -> Bool {
    guard wanted.count > 0 else { return true }
    guard text.count >= wanted.count, let start = text.baseAddress, let sought = wanted.baseAddress else { return false }
    switch function {
    case .contains: return (0...text.count - wanted.count).contains { memcmp(start + $0, sought, wanted.count) == 0 }
    case .starts_with: return memcmp(start, sought, wanted.count) == 0
    case .ends_with: return memcmp(start + text.count - wanted.count, sought, wanted.count) == 0
    }
  }
}
