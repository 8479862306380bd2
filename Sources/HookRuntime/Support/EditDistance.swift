// EditDistance — which of some names are spelled most like a text.

package enum EditDistance {
  package static func closest(_ names: [String], to text: String, most: Int) -> [String] {
    let wanted = Array(text.utf8)
    let bound = max(1, wanted.count / 5)
    var steps = LimitedWork.Steps()
    let near = names.uniqued().compactMap { name -> (Int, String)? in
      if steps.areOver() { return nil }
      let distance = editDistance(wanted, Array(name.utf8), bound: bound)
      return distance <= bound ? (distance, name) : nil
    }
    let least = near.map(\.0).min()
    return near.filter { $0.0 == least }.sorted { $0.1 < $1.1 }.prefix(most).map(\.1)
  }

  /// How many letters are left out, put in or taken for others, two that changed places being one; `bound + 1` when it is more than `bound`.
  package static func editDistance(_ a: [UInt8], _ b: [UInt8], bound: Int) -> Int {
    if abs(a.count - b.count) > bound { return bound + 1 }
    var row = Array(0...b.count)
    var above = row, twoAbove = row
    for i in a.indices {
      (above, row, twoAbove) = (row, twoAbove, above)
      row[0] = i + 1
      var least = row[0]
      for j in b.indices {
        row[j + 1] = min(above[j + 1] + 1, row[j] + 1, above[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { row[j + 1] = min(row[j + 1], twoAbove[j - 1] + 1) }
        least = min(least, row[j + 1])
      }
      if least > bound { return bound + 1 }
    }
    return row[b.count]
  }
}
