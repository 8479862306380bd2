// ValueSlot — where a scalar, a string or an object lies in the frame, worked out once per body.
//
// Reading by plan walks arrays and enums that own memory, which costs a hundred reference counts a call. A slot is
// four bytes and owns nothing; CFrame.h has its layout, which C reads too. It exists for values that lie whole in the
// frame in one run of bytes; all others have the kind `.none` and are read by plan.
package import CHookTrampoline

package typealias ValueSlot = HKTValueSlot

extension HKTValueSlot {
  /// To be matched, not compared: `==` of an enum of C is a call.
  package typealias Kind = HKTValueKind

  package static let none = ValueSlot(kind: .none, place: FramePlace(bits: 0))
  private static let void = ValueSlot(kind: .void, place: FramePlace(bits: 0))

  /// A number, a Bool or a String is there.
  var isPlain: Bool {
    switch kind {
    case .none, .void, .object: false
    default: true
    }
  }

  // MARK: Making

  static func argument(_ plan: ArgumentPlan) -> ValueSlot { plan.info.map { make($0, plan.location, in: .arguments) } ?? .none }

  static func result(_ plan: ResultPlan) -> ValueSlot {
    guard let info = plan.info else { return plan.type.isVoid ? .void : .none }
    // What the caller does not own cannot be replaced in the register alone.
    guard plan.isOwned || info.isTrivial, !plan.isYielded else { return .none }
    return make(info, plan.location, in: .results)
  }

  /// The reference to the instance a method runs on.
  static func object(_ plan: SelfPlan) -> ValueSlot {
    guard case .object(let place) = plan, let found = FramePlace(place), found.bits & FramePlace.stackBit == 0 else { return .none }
    return ValueSlot(kind: .object, place: found)
  }

  private static func make(_ info: TypeInfo, _ location: Location, in registers: FramePlace.Registers) -> ValueSlot {
    guard let kind = Kind(info.kind) else { return .none }
    if kind == .void { return .void }
    guard case .pieces(let pieces) = location, let first = pieces.first, first.offset == 0, let place = FramePlace(first.place, in: registers)
    else { return .none }
    let isAlone = pieces.count == 1
    let fits =
      switch (first.place, kind) {
      case (.float, .float), (.float, .double): isAlone
      case (.integer, .float), (.integer, .double): false
      // Two registers that are neighbours in the frame hold the string as memory would.
      case (.integer(let i), .string): pieces.count == 2 && pieces[1].place == .integer(i + 1) && pieces[1].offset == 8
      case (.stack(let i), .string): pieces.count == 2 && pieces[1].place == .stack(i + 1) && pieces[1].offset == 8
      case (.integer, _), (.stack, _): isAlone
      default: false
      }
    return fits ? ValueSlot(kind: kind, place: place) : .none
  }
}

extension HKTValueKind {
  init?(_ kind: ValueKind) {
    switch kind {
    case .void: self = .void
    case .bool: self = .bool
    case .integer(8, true): self = .int8
    case .integer(16, true): self = .int16
    case .integer(32, true): self = .int32
    case .integer(64, true): self = .int64
    case .integer(8, false): self = .uint8
    case .integer(16, false): self = .uint16
    case .integer(32, false): self = .uint32
    case .integer(64, false): self = .uint64
    case .float(32): self = .float
    case .float(64): self = .double
    case .string: self = .string
    case .object: self = .object
    default: return nil
    }
  }
}
