// ValueSlot — where a scalar, a string or an object lies in the frame, worked out once per body.
//
// Reading by plan walks arrays and enums that own memory, which costs a hundred reference counts a call. A slot is
// three bytes and owns nothing. It exists for values that lie whole in the frame in one run of bytes; all others have
// the kind `.none` and are read by plan.
internal import CHookTrampoline

package struct ValueSlot: Sendable {
  package enum Kind: UInt8, Sendable {
    case none
    case void
    case bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float, double
    /// Two words, as StringBits reads them.
    case string
    /// A reference to a class instance, 0 for none.
    case object
  }

  /// To be matched, not compared: `==` of an enum with raw values is a call.
  package let kind: Kind
  /// Bytes from the start of the frame; of its stack arguments where the top bit is set.
  package let offset: UInt16
  package static let stackBit: UInt16 = 1 << 15

  package static let none = ValueSlot(kind: .none, offset: 0)

  /// A number, a Bool or a String is there.
  var isPlain: Bool {
    switch kind {
    case .none, .void, .object: false
    default: true
    }
  }

  private init(kind: Kind, offset: Int) {
    self.kind = kind
    self.offset = UInt16(offset)
  }

  /// The value's first byte. Results are there after the original ran.
  @inline(__always)
  func address(in frame: UnsafeMutablePointer<HKTFrame>) -> UnsafeMutableRawPointer {
    if offset & Self.stackBit != 0 { return UnsafeMutableRawPointer(frame.pointee.stack) + Int(offset & ~Self.stackBit) }
    return UnsafeMutableRawPointer(frame) + Int(offset)
  }

  // MARK: Making

  static func argument(_ plan: ArgumentPlan) -> ValueSlot {
    guard let info = plan.info else { return .none }
    return make(info, plan.location, integers: 0, floats: MemoryLayout<HKTFrame>.offset(of: \.xmm)!)
  }

  static func result(_ plan: ResultPlan) -> ValueSlot {
    guard let info = plan.info else { return plan.type.isVoid ? ValueSlot(kind: .void, offset: 0) : .none }
    // What the caller does not own cannot be replaced in the register alone.
    guard plan.isOwned || info.isTrivial, !plan.isYielded else { return .none }
    let results = MemoryLayout<HKTFrame>.offset(of: \.results)!
    return make(info, plan.location, integers: results, floats: results + MemoryLayout<HKTResults>.offset(of: \.xmm)!)
  }

  /// The reference to the instance a method runs on.
  static func object(_ plan: SelfPlan) -> ValueSlot {
    switch plan {
    case .object(.selfRegister): ValueSlot(kind: .object, offset: MemoryLayout<HKTFrame>.offset(of: \.self_register)!)
    case .object(.integer(let i)): ValueSlot(kind: .object, offset: 8 * i)
    default: .none
    }
  }

  /// - Parameters: where the integer and the floating point registers start in the frame.
  private static func make(_ info: TypeInfo, _ location: Location, integers: Int, floats: Int) -> ValueSlot {
    guard let kind = Kind(info.kind) else { return .none }
    if kind == .void { return ValueSlot(kind: .void, offset: 0) }
    guard case .pieces(let pieces) = location, let first = pieces.first, first.offset == 0 else { return .none }
    switch (first.place, kind) {
    case (.float(let i), .float), (.float(let i), .double):
      return pieces.count == 1 ? ValueSlot(kind: kind, offset: floats + 16 * i) : .none
    case (.integer(let i), .string):
      // Two registers that are neighbours in the frame hold the string as memory would.
      guard pieces.count == 2, case .integer(i + 1) = pieces[1].place, pieces[1].offset == 8 else { return .none }
      return ValueSlot(kind: kind, offset: integers + 8 * i)
    case (.integer(let i), _):
      return pieces.count == 1 && kind != .float && kind != .double ? ValueSlot(kind: kind, offset: integers + 8 * i) : .none
    case (.stack(let i), .string):
      guard pieces.count == 2, case .stack(i + 1) = pieces[1].place, pieces[1].offset == 8 else { return .none }
      return stack(kind, i)
    case (.stack(let i), _): return pieces.count == 1 ? stack(kind, i) : .none
    default: return .none
    }
  }

  private static func stack(_ kind: Kind, _ slot: Int) -> ValueSlot {
    slot < 4095 ? ValueSlot(kind: kind, offset: 8 * slot | Int(stackBit)) : .none
  }
}

extension ValueSlot.Kind {
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
