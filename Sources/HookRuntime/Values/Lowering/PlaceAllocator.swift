// PlaceAllocator — hands out registers and stack slots (swiftcc, x86-64) for the scalars of values, in order.

struct PlaceAllocator {
  private(set) var integers = 0
  private(set) var floats = 0
  /// 8-byte stack slots taken so far.
  private(set) var slots = 0

  /// The place of one pointer or other integer of up to 8 bytes.
  mutating func takeInteger() -> Place {
    if integers < 6 {
      integers += 1
      return .integer(integers - 1)
    }
    slots += 1
    return .stack(slots - 1)
  }

  mutating func take(_ passing: Passing) -> Location {
    switch passing {
    case .indirect: .address(takeInteger())
    case .direct(let scalars): .pieces(scalars.flatMap { take($0) })
    }
  }

  private mutating func take(_ scalar: Scalar) -> [Piece] {
    switch scalar.kind {
    case .integer where scalar.size <= 8, .opaque where scalar.size <= 8:
      return [Piece(place: takeInteger(), offset: scalar.offset, size: scalar.size)]
    case .integer, .opaque:
      // A 128-bit integer is never split between registers and stack.
      if integers + 2 <= 6 {
        integers += 2
        return (0..<2).map { Piece(place: .integer(integers - 2 + $0), offset: scalar.offset + 8 * $0, size: 8) }
      }
      return takeAlignedSlots(scalar, lastSize: 8)
    case .extended: return takeAlignedSlots(scalar, lastSize: 2)
    case .vector where floats >= 8: return takeAlignedSlots(scalar, lastSize: 8)
    case .float, .vector:
      if floats < 8 {
        floats += 1
        return [Piece(place: .float(floats - 1), offset: scalar.offset, size: scalar.size)]
      }
      slots += 1
      return [Piece(place: .stack(slots - 1), offset: scalar.offset, size: scalar.size)]
    }
  }

  /// Two slots at a 16-byte boundary.
  private mutating func takeAlignedSlots(_ scalar: Scalar, lastSize: Int) -> [Piece] {
    slots = (slots + 1) / 2 * 2 + 2
    return [
      Piece(place: .stack(slots - 2), offset: scalar.offset, size: 8),
      Piece(place: .stack(slots - 1), offset: scalar.offset + 8, size: lastSize),
    ]
  }

  /// Where a value of the type is when the function returned.
  ///
  /// - Parameter other: what the same registers may hold instead (a result beside a typed error). The integers of both are
  ///   paired in order, and each pair is as wide as the wider one.
  static func returned(_ passing: Passing, beside other: [Scalar] = []) -> Location {
    guard case .direct(let scalars) = passing else { return .address(.indirectResult) }
    var integers = 0
    var floats = 0
    var extended = 0
    var pieces: [Piece] = []
    var others = other.filter { $0.kind == .integer || $0.kind == .opaque }[...]
    for scalar in scalars {
      if scalar.kind == .float || scalar.kind == .vector {
        pieces.append(Piece(place: .float(floats), offset: scalar.offset, size: scalar.size))
        floats += 1
      } else if scalar.kind == .extended {
        pieces.append(Piece(place: .x87(extended), offset: scalar.offset, size: 10))
        extended += 1
      } else {
        for part in stride(from: 0, to: scalar.size, by: 8) {
          pieces.append(Piece(place: .integer(integers), offset: scalar.offset + part, size: min(8, scalar.size - part)))
          integers += 1
        }
        if let beside = others.popFirst(), beside.size > 8, scalar.size <= 8 { integers += 1 }
      }
    }
    guard extended <= 2 else { return .unknown("it has more parts on the x87 stack than are looked at") }
    guard integers <= 4 else { return .unknown("result and error together take more registers than there are") }
    return .pieces(pieces)
  }
}

/// The result registers behind a coroutine's continuation. All together at most four, of both kinds, are used; what does not
/// fit goes elsewhere (IRGen, `expandCoroutineResult`).
struct YieldRegisters {
  private var integers = 1
  private var floats = 0

  /// nil when there are not enough left.
  mutating func take(_ passing: Passing) -> Location? {
    guard case .direct(let scalars) = passing else {
      integers += 1
      return integers + floats <= 4 ? .address(.yielded(integers - 1)) : nil
    }
    var pieces: [Piece] = []
    for scalar in scalars {
      switch scalar.kind {
      case .float, .vector:
        pieces.append(Piece(place: .float(floats), offset: scalar.offset, size: scalar.size))
        floats += 1
      case .integer where scalar.size <= 8, .opaque where scalar.size <= 8:
        pieces.append(Piece(place: .integer(integers), offset: scalar.offset, size: scalar.size))
        integers += 1
      case .integer, .opaque, .extended: return nil
      }
    }
    return integers + floats <= 4 ? .pieces(pieces) : nil
  }
}
