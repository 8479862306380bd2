// StraightPlace — where a value of a call lies as memory would hold it, worked out once per body.
//
// Code of ours that names the type of a value asks whether it is exactly this one, and copies. Everything else goes by plan: values in
// pieces that are apart, closures in another form than generic code has them, casts.
internal import CHookTrampoline

struct StraightPlace: Sendable {
  /// Of the value's type; nil where it goes by plan.
  // Metadata is never freed.
  nonisolated(unsafe) private let metadata: UnsafeRawPointer?
  private let place: FramePlace
  /// The address of the value lies there.
  private let isIndirect: Bool
  /// Of a Bool in a register only bit 0 is there.
  private let isBool: Bool
  /// It is bits in one register or stack slot, and other bits may take their place.
  private let isWord: Bool
  /// The original does not end it.
  private let staysAfterwards: Bool

  static let none = StraightPlace(nil, FramePlace(bits: 0), isIndirect: false)

  private init(
    _ metadata: UnsafeRawPointer?, _ place: FramePlace, isIndirect: Bool, isBool: Bool = false, isWord: Bool = false, stays: Bool = false
  ) {
    self.metadata = metadata
    self.place = place
    self.isIndirect = isIndirect
    self.isBool = isBool
    self.isWord = isWord
    staysAfterwards = stays
  }

  // MARK: Using it

  /// The bytes of a value of exactly this type; nil where they have to be looked for by plan.
  @inline(__always)
  func memory(_ wanted: UnsafeRawPointer, in frame: UnsafeMutablePointer<HKTFrame>, hasRun: Bool) -> UnsafeRawPointer? {
    guard metadata == wanted, !hasRun || staysAfterwards else { return nil }
    let memory = UnsafeRawPointer(place.address(in: frame))
    if isIndirect { return memory.load(as: UnsafeRawPointer?.self) }
    return isBool ? UnsafeRawPointer(bools + Int(memory.load(as: UInt8.self) & 1)) : memory
  }

  /// A value of exactly this type is one word, which may be replaced.
  @inline(__always)
  func takesWord(_ wanted: UnsafeRawPointer) -> Bool { isWord && metadata == wanted }

  /// Replaces the value by another one, of which nothing was to be ended and nothing is to be kept.
  func put(_ word: UInt64, in frame: UnsafeMutablePointer<HKTFrame>) { place.address(in: frame).storeBytes(of: word, as: UInt64.self) }

  // MARK: Making

  static func argument(_ plan: ArgumentPlan) -> StraightPlace {
    make(plan.info, plan.location, in: .arguments, isReplaceable: plan.isReplaceable, stays: !plan.isConsumed)
  }

  static func result(_ plan: ResultPlan) -> StraightPlace {
    plan.isYielded ? .none : make(plan.info, plan.location, in: .results, isReplaceable: plan.isReplaceable, stays: true)
  }

  private static func make(
    _ info: TypeInfo?, _ location: Location, in registers: FramePlace.Registers, isReplaceable: Bool, stays: Bool
  ) -> StraightPlace {
    // Its form is to be the one that generic code expects.
    guard let info, info.size > 0, info.size == info.metadata.size, TypeResolver.shared.general(info) === info else { return .none }
    switch location {
    case .address(let place):
      guard let place = FramePlace(place) else { return .none }
      return StraightPlace(info.metadata.pointer, place, isIndirect: true, stays: stays)
    case .pieces(let pieces):
      let starts = pieces.map { piece in FramePlace(piece.place, in: registers).map { Int($0.bits) + piece.skip - piece.offset } }
      // In one run of bytes, and nothing of it missing.
      guard pieces.first?.offset == 0, let start = starts[0], starts.allSatisfy({ $0 == start }),
        let place = UInt16(exactly: start).map(FramePlace.init(bits:)), pieces.contains(where: { $0.offset + $0.size >= info.size })
      else { return .none }
      let isWord = pieces.count == 1 && pieces[0].skip == 0 && info.size <= 8
      let isBool = if case .bool = info.kind { true } else { false }
      return StraightPlace(
        info.metadata.pointer, place, isIndirect: false, isBool: isBool,
        isWord: isWord && isReplaceable && info.isTrivial && !info.isConstrained, stays: stays)
    case .parts, .optimizedOut, .unknown: return .none
    }
  }
}

/// False and true, as memory has them. Never freed, never changed.
nonisolated(unsafe) private let bools: UnsafePointer<UInt8> = {
  let both = UnsafeMutablePointer<UInt8>.allocate(capacity: 2)
  (both[0], both[1]) = (0, 1)
  return UnsafePointer(both)
}()
