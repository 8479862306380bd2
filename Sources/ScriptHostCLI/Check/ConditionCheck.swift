// ConditionCheck — what a condition of a rule compares: a number with numbers, a text with texts, by what the program's files say of its paths.
//
// The rules are those of the process (ScriptHost/Telemetry/Rules/Condition.swift), as far as types are known for certain.
internal import HookRuntime
internal import ScriptHost
internal import SwiftMangling

struct ConditionCheck {
  let paths: CapturePathCheck

  /// What is wrong with a condition on calls of `family`, whose paths resolve; nil when nothing is, or nothing is known.
  func problem(_ condition: ConditionText, on family: Family) -> String? {
    switch condition {
    case .both(let a, let b), .either(let a, let b): return problem(a, on: family) ?? problem(b, on: family)
    case .not(let inner): return problem(inner, on: family)
    case .compare(let comparison, let a, let b):
      if !Self.isPath(a), !Self.isPath(b) { return "'where': a comparison needs a path such as self.total" }
      return problem(comparison, a, b, family) ?? problem(comparison, b, a, family)
    case .function(let function, let path, _):
      guard let (kind, name) = kind(of: path, family), kind != .text, kind != .other else { return nil }
      return "'where': \(function.rawValue) looks into text, and '\(path)' is \(name)"
    case .number, .text, .bool, .null, .path: return nil
    }
  }

  private static func isPath(_ text: ConditionText) -> Bool { if case .path = text { true } else { false } }

  private func problem(_ comparison: ConditionText.Comparison, _ path: ConditionText, _ other: ConditionText, _ family: Family) -> String? {
    guard case .path(let path) = path, let (kind, name) = kind(of: path, family) else { return nil }
    let isOrder = comparison != .equal && comparison != .unequal
    let isRight: Bool
    switch (kind, other) {
    case (_, .path): isRight = true
    case (_, .null): isRight = !isOrder
    case (.number, .number), (.text, .text): isRight = true
    case (.bool, .bool): isRight = !isOrder
    default: isRight = false
    }
    return isRight ? nil : "'where': '\(path)' is \(name), and is compared with \(Self.shown(other))"
  }

  private static func shown(_ text: ConditionText) -> String {
    switch text {
    case .number: "a number"
    case .text: "text"
    case .bool: "true or false"
    case .null: "nil, which has no order"
    default: "a condition"
    }
  }

  private enum Kind { case number, text, bool, other }

  /// What a path leads to, and how that is called; nil where nothing is known, or it is an enum, whose cases have names.
  private func kind(of path: String, _ family: Family) -> (Kind, String)? {
    switch paths.end(of: path, on: family) {
    case .number: return (.number, "a number")
    case .text: return (.text, "text")
    case .problem, .unknown: return nil
    case .type(let type): return Self.kind(of: type).map { ($0, CapturePathCheck.name(of: type)) }
    }
  }

  private static let numbers: Set<String> = [
    "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Double", "Float",
  ]

  private static func kind(of type: TypeSyntax) -> Kind? {
    guard case .nominal(let name, let kind, let arguments) = type, kind != .protocolType else { return nil }
    guard name.module == "Swift", name.steps.count == 1 else { return kind == .classType ? .other : nil }
    switch name.shortName {
    case "Optional": return arguments.first.flatMap { Self.kind(of: $0) }
    case "String": return .text
    case "Bool": return .bool
    case "Array", "Dictionary", "Set": return .other
    case let other: return numbers.contains(other) ? .number : nil
    }
  }
}
