// ShareRule — how much of the process's time a patch's hooks may take.

/// How much of the process's time the handlers of one hook may take, and what is done about those that take more.
package struct ShareRule: Sendable, Equatable {
  package enum Consequence: String, Sendable { case off, sample }

  /// 0.05 for 5%.
  package var share: Double
  /// Nil: rules are sampled, handlers are switched off.
  package var consequence: Consequence?

  package init(share: Double, consequence: Consequence? = nil) {
    self.share = share
    self.consequence = consequence
  }

  /// "5%" or "0.5%" as a share; nil for anything else, and for what is not above 0 and at most 100.
  package static func share(_ text: String) -> Double? {
    guard text.hasSuffix("%"), let first = text.utf8.first, (48...57).contains(first) || first == UInt8(ascii: "."),
      let number = Double(text.dropLast()), number > 0, number <= 100
    else { return nil }
    return number / 100
  }

  /// "5%"
  static func text(_ share: Double) -> String {
    let tenths = (share * 1000).rounded()
    return tenths.truncatingRemainder(dividingBy: 10) == 0 ? "\(Int(tenths / 10))%" : "\(tenths / 10)%"
  }
}
