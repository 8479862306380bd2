// AggregateLowering — which machine values a Swift value is passed as.
//
// Follows clang's SwiftAggLowering (CodeGen/SwiftCallingConv.cpp) as IRGen uses it: the scalars of a type are laid
// out at their offsets, integers and pointers that share an 8-byte unit are merged into one integer, floating-point
// scalars never merge, and a value that would need more than four registers in total goes by address.

/// One scalar of a type's in-memory layout.
package struct Scalar: Hashable, Sendable {
  /// `extended`: an 80-bit float, passed in memory and returned on the x87 stack.
  package enum Kind: Hashable, Sendable { case integer, float, vector, extended, opaque }
  package var offset: Int
  package var size: Int
  package var kind: Kind
  package init(offset: Int, size: Int, kind: Kind) {
    self.offset = offset
    self.size = size
    self.kind = kind
  }
  func moved(by distance: Int) -> Scalar { Scalar(offset: offset + distance, size: size, kind: kind) }
}

/// How the values of a type travel.
package enum Passing: Hashable, Sendable {
  /// As these machine values, in this order (none for an empty type).
  case direct([Scalar])
  /// As the address of memory that holds the value.
  case indirect
}

extension Scalar {
  /// A SIMD vector: as many 16-byte vectors as it has, and its elements one by one where it has less than one.
  /// Source: clang's `swiftcall::legalizeVectorType` with x86-64's legal sizes.
  static func vector(at offset: Int, elementSize: Int, count: Int, isFloat: Bool) -> [Scalar] {
    let size = elementSize * count
    if size >= 16, size % 16 == 0 {
      return stride(from: 0, to: size, by: 16).map { Scalar(offset: offset + $0, size: 16, kind: .vector) }
    }
    return (0..<count).map { Scalar(offset: offset + elementSize * $0, size: elementSize, kind: isFloat ? .float : .integer) }
  }
}

enum AggregateLowering {
  static let unit = 8
  static let mostRegisters = 4

  /// The machine values for a loadable type with these scalars.
  static func lower(_ scalars: [Scalar]) -> Passing {
    let pieces = merge(scalars.sorted { $0.offset < $1.offset })
    let registers = pieces.reduce(0) { $0 + ($1.kind == .integer ? ($1.size + 7) / 8 : ($1.size + 15) / 16) }
    return pieces.count > 1 && registers > mostRegisters ? .indirect : .direct(pieces)
  }

  /// No member of a C struct that Swift has no name for (a bit-field, a union) can need a register of its own: wherever
  /// one might hide, an integer of the same unit would take it in.
  static func hidesNothing(_ scalars: [Scalar], size: Int) -> Bool {
    var covered = [Bool](repeating: false, count: size)
    var hasInteger = [Bool](repeating: false, count: size / unit + 1)
    for scalar in scalars where scalar.offset + scalar.size <= size {
      for byte in scalar.offset..<scalar.offset + scalar.size { covered[byte] = true }
      if merges(scalar.kind) { hasInteger[scalar.offset / unit] = true }
    }
    return covered.indices.allSatisfy { covered[$0] || hasInteger[$0 / unit] }
  }

  private static func sameUnit(_ a: Int, _ b: Int) -> Bool { a / unit == b / unit }
  private static func merges(_ kind: Scalar.Kind) -> Bool { kind == .integer || kind == .opaque }

  private static func merge(_ scalars: [Scalar]) -> [Scalar] {
    var entries = scalars
    guard !entries.isEmpty else { return [] }
    for i in entries.indices.dropFirst()
    where merges(entries[i - 1].kind) && merges(entries[i].kind)
      && sameUnit(entries[i - 1].offset + entries[i - 1].size - 1, entries[i].offset)
    {
      entries[i - 1].kind = .opaque
      entries[i].kind = .opaque
      entries[i - 1].size = entries[i].offset - entries[i - 1].offset
    }
    var result: [Scalar] = []
    var i = 0
    while i < entries.count {
      guard entries[i].kind == .opaque else { result.append(entries[i]); i += 1; continue }
      let begin = entries[i].offset
      var end = begin + entries[i].size
      while i + 1 < entries.count, entries[i + 1].kind == .opaque, entries[i + 1].offset == end {
        i += 1
        end += entries[i].size
      }
      appendUnits(from: begin, to: end, into: &result)
      i += 1
    }
    return result
  }

  /// Covers a range of opaque bytes with the smallest aligned integers, one per 8-byte unit.
  private static func appendUnits(from begin: Int, to end: Int, into result: inout [Scalar]) {
    var begin = begin
    while begin < end {
      let localEnd = min(end, begin / unit * unit + unit)
      var size = 1
      while begin / size * size + size < localEnd { size *= 2 }
      result.append(Scalar(offset: begin / size * size, size: size, kind: .integer))
      begin = localEnd
    }
  }
}
