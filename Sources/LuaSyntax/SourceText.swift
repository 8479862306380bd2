// SourceText — a script's bytes, and where in them lines begin.

/// A place as editors name it; both count from 1.
package struct SourcePosition: Sendable, Equatable, Comparable, CustomStringConvertible {
  package let line: Int
  /// In Unicode scalars, as editors count.
  package let column: Int

  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  /// `3:8`
  package var description: String { "\(line):\(column)" }

  package static func < (a: Self, b: Self) -> Bool { (a.line, a.column) < (b.line, b.column) }
}

/// The text of one script. Ranges everywhere in this module are byte offsets into it.
package struct SourceText: Sendable {
  package let bytes: [UInt8]
  /// Offsets of the first bytes of lines.
  private let lines: [Int]

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var lines = [0]
    for (offset, byte) in bytes.enumerated() where byte == 10 { lines.append(offset + 1) }
    self.lines = lines
  }

  package init(_ text: String) { self.init(Array(text.utf8)) }

  /// The text of a range; broken UTF-8 is replaced.
  package subscript(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// The place of a byte; one behind the end is the end.
  package func position(of offset: Int) -> SourcePosition {
    let offset = min(max(offset, 0), bytes.count)
    var low = 0
    var high = lines.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if lines[middle] <= offset { low = middle } else { high = middle }
    }
    // Continuation bytes are no scalars of their own.
    let column = bytes[lines[low]..<offset].count { $0 & 0xC0 != 0x80 }
    return SourcePosition(line: low + 1, column: column + 1)
  }
}
