// RecordCondition — a condition on records that were written, in the words of a rule's `where`: `name == "checkout" and total > 100`.
package import Journal

/// `name`, `kind` and `thread` are the record's own. Any other path is a field's name, or fields within each other with dots between; `fields.kind`
/// is the field of that name.
package struct RecordCondition: Sendable {
  package struct Problem: Error {
    package let text: String
  }

  private let condition: ConditionText

  package init(reading text: String) throws(Problem) {
    do throws(RuleProblem) { condition = try ConditionText(reading: text) } catch {
      // The condition's own sentences begin with the field of a rule.
      throw Problem(text: error.text.hasPrefix("'where': ") ? String(error.text.dropFirst("'where': ".count)) : error.text)
    }
  }

  package func holds(_ record: JournalRecord) -> Bool { Asked(record: record, fields: record.fields).holds(condition) }

  /// One record with its fields decoded.
  private struct Asked {
    let record: JournalRecord
    let fields: [Field]

    func holds(_ condition: ConditionText) -> Bool {
      switch condition {
      case .both(let a, let b): return holds(a) && holds(b)
      case .either(let a, let b): return holds(a) || holds(b)
      case .not(let a): return !holds(a)
      case .compare(let comparison, let a, let b): return Self.compare(comparison, value(a), value(b))
      case .function(let function, let path, let text):
        guard case .string(let found, _) = value(.path(path)) else { return false }
        switch function {
        case .contains: return text.isEmpty || found.contains(text)
        case .starts_with: return found.hasPrefix(text)
        case .ends_with: return found.hasSuffix(text)
        }
      default:
        switch value(condition) {
        case .null: return false
        case .bool(let value): return value
        default: return true
        }
      }
    }

    private func value(_ operand: ConditionText) -> FieldValue {
      switch operand {
      case .number(let value): .double(value)
      case .text(let text): .string(text, fullLength: nil)
      case .bool(let value): .bool(value)
      case .path(let path): own(path) ?? found(path.hasPrefix("fields.") ? path.dropFirst("fields.".count) : path[...], fields) ?? .null
      default: .null
      }
    }

    private func own(_ path: String) -> FieldValue? {
      switch path {
      case "name": .string(record.name, fullLength: nil)
      case "kind": .string("\(record.kind)", fullLength: nil)
      case "thread": .unsigned(UInt64(record.thread))
      default: nil
      }
    }

    /// Names may have dots themselves: the whole path is looked for first, then what is before its first dots.
    private func found(_ path: Substring, _ fields: [Field]) -> FieldValue? {
      if let whole = fields.first(where: { $0.name == path }) { return whole.value }
      for dot in path.indices where path[dot] == "." {
        guard let outer = fields.first(where: { $0.name == path[..<dot] }), case .object(let inner) = outer.value else { continue }
        if let value = found(path[path.index(after: dot)...], inner) { return value }
      }
      return nil
    }

    /// Numbers with numbers, texts with texts; what cannot be compared is unequal.
    private static func compare(_ comparison: ConditionText.Comparison, _ a: FieldValue, _ b: FieldValue) -> Bool {
      if let a = number(a), let b = number(b) { return holds(comparison, a, b) }
      if case .bool(let a) = a, case .bool(let b) = b { return comparison == .equal ? a == b : comparison == .unequal && a != b }
      if case .null = a, case .null = b { return comparison == .equal }
      if let a = text(a), let b = text(b) { return holds(comparison, a, b) }
      return comparison == .unequal
    }

    private static func holds<T: Comparable>(_ comparison: ConditionText.Comparison, _ a: T, _ b: T) -> Bool {
      switch comparison {
      case .equal: a == b
      case .unequal: a != b
      case .less: a < b
      case .lessOrEqual: a <= b
      case .greater: a > b
      case .greaterOrEqual: a >= b
      }
    }

    private static func number(_ value: FieldValue) -> Double? {
      switch value {
      case .integer(let value): Double(value)
      case .unsigned(let value): Double(value)
      case .double(let value): value
      default: nil
      }
    }

    private static func text(_ value: FieldValue) -> String? {
      switch value {
      case .string(let text, _): text
      case .identifier(let low, let high): EventText.hexadecimal(low, high)
      default: nil
      }
    }
  }
}
