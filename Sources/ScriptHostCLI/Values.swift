// Values — texts of the command line turned into numbers, durations and times.
internal import Glibc
internal import Journal
internal import ScriptHost

extension Arguments {
  /// A whole number in a range, or a usage failure that names the range.
  func number(_ option: String, in range: ClosedRange<Int>) throws(Failure) -> Int? {
    guard let text = text(option) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      let upper = range.upperBound == .max ? "or more" : "to \(range.upperBound)"
      throw .usage("'\(option)' needs a whole number, \(range.lowerBound) \(upper); found '\(EventText.printable(text))'")
    }
    return number
  }

  /// A duration such as "10ms", in nanoseconds.
  func duration(_ option: String) throws(Failure) -> UInt64? {
    guard let text = text(option) else { return nil }
    guard let nanoseconds = Duration.nanoseconds(text) else {
      throw .usage("'\(option)' needs a duration such as 10ms, 1.5s or 2m; found '\(EventText.printable(text))'")
    }
    return nanoseconds
  }

  /// A size such as "64MB", in bytes.
  func size(_ option: String) throws(Failure) -> Int? {
    guard let text = text(option) else { return nil }
    for (unit, factor) in [("KB", 1024.0), ("MB", 1_048_576), ("GB", 1_073_741_824)] where text.hasSuffix(unit) {
      if let number = Double(text.dropLast(2)), number > 0, number * factor < 9e15 { return Int(number * factor) }
    }
    throw .usage("'\(option)' needs a size such as 64MB, 512KB or 2GB; found '\(EventText.printable(text))'")
  }

  /// One of several words.
  func choice(_ option: String, of words: [String]) throws(Failure) -> String? {
    guard let text = text(option) else { return nil }
    guard words.contains(text) else {
      throw .usage(
        "'\(option)' needs one of \(words.joined(separator: ", ")); found '\(EventText.printable(text))'")
    }
    return text
  }
}

/// Durations as people type them.
enum Duration {
  private static let units: [(String, Double)] = [
    ("ns", 1), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("min", 60e9), ("s", 1e9), ("m", 60e9), ("h", 3600e9), ("d", 86_400e9),
  ]

  /// Nanoseconds of "250us", "1.5s", "2h"; nil without a unit or below zero.
  static func nanoseconds(_ text: String) -> UInt64? {
    guard let unit = units.first(where: { text.hasSuffix($0.0) }), let first = text.utf8.first, first != UInt8(ascii: "+"),
      let number = Double(text.dropLast(unit.0.count)), number >= 0, number * unit.1 < 9e18
    else { return nil }
    return UInt64(number * unit.1)
  }
}
