// RuleTexts — what rules, filters and settings are written in: names, durations, shares, and the sentence that says what is wrong.
private import HookRuntime

/// Why a rule cannot be: one sentence.
package struct RuleProblem: Error, Sendable, Equatable {
  package let text: String
  package init(_ text: String) { self.text = text }
}

/// Names that a rule may have meant.
enum RuleNames {
  /// The nearest of them; nil when none is near. Two letters that changed places are near.
  static func nearest(to name: String, _ known: [String]) -> String? {
    let wanted = Array(name.utf8)
    let bound = wanted.count < 3 ? 0 : wanted.count < 4 ? 1 : 2
    return known.map { ($0, EditDistance.editDistance(wanted, Array($0.utf8), bound: bound)) }.filter { $0.1 <= bound }.min { $0.1 < $1.1 }?.0
  }
}

/// Texts of durations, shares and rates, as rules and conditions spell them.
package enum RuleUnits {
  private static let times: [(suffix: String, nanoseconds: Double)] = [
    ("ns", 1), ("us", 1e3), ("ms", 1e6), ("min", 60e9), ("s", 1e9), ("h", 3600e9),
  ]

  /// Repeating timers do not call more often than this, in nanoseconds.
  package static let shortestRepetition: UInt64 = 1_000_000

  /// "100ms", "2.5s", "1min" in nanoseconds; nil for anything else.
  package static func duration(_ text: String) -> UInt64? {
    for (suffix, factor) in times where text.hasSuffix(suffix) {
      guard let number = Double(text.dropLast(suffix.count)), number >= 0, number * factor < 1e18 else { return nil }
      return UInt64(number * factor)
    }
    return nil
  }

  /// "10%" or "0.1"; nil for anything outside 0 to 1.
  package static func share(_ text: String) -> Double? {
    let isPercent = text.hasSuffix("%")
    guard let number = Double(isPercent ? text.dropLast() : text[...]) else { return nil }
    let share = isPercent ? number / 100 : number
    return (0...1).contains(share) ? share : nil
  }
}
