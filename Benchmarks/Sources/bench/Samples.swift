// Samples — everything measured in one run, by name.

struct Samples {
  private(set) var values: [String: [Double]] = [:]

  mutating func add(_ name: String, _ value: Double) { values[name, default: []].append(value) }

  /// Reads the lines `S`, name, value that a measured program printed.
  mutating func read(_ output: String, prefix: String = "") {
    for line in output.split(separator: "\n") {
      let words = line.split(separator: "\t")
      if words.count == 3, words[0] == "S", let value = Double(words[2]) { add(prefix + words[1], value) }
    }
  }

  func statistic(_ name: String) -> Statistic? { values[name].flatMap { Statistic($0) } }
}

struct Statistic {
  let median: Double, least: Double, most: Double

  init?(_ values: [Double]) {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    median = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    least = sorted[0]
    most = sorted[sorted.count - 1]
  }
}
