// ValueRecipe — how the bytes of one argument are put together from a frame, worked out once per body.
//
// For values that are no ValueSlot: structs, enums, tuples, Optionals, collections, closures in up to four words, and all
// that is passed by address. Owns nothing, so that reading costs no reference count; everything else is read by plan.
internal import CHookTrampoline

package struct ValueRecipe: Sendable {
  package enum Kind: UInt8, Sendable { case none, address, parts }

  /// It has at most eight bytes of the value, in one register or stack slot.
  package struct Part: Sendable {
    package var source = FramePlace(bits: 0)
    package var offset: UInt8 = 0
    package var size: UInt8 = 0
  }

  package let kind: Kind
  package let count: UInt8
  /// Of an address, the first one says where it is.
  package let parts: (Part, Part, Part, Part)
  /// The callee ends it: once it ran, the value is gone.
  package let isConsumed: Bool
  /// Kept by the resolver for ever; there unless the kind is none.
  package let info: Unmanaged<TypeInfo>?

  /// Bytes that hold all parts.
  package static let room = 48
  package static let none = ValueRecipe()

  private init() {
    (kind, count, parts, isConsumed, info) = (.none, 0, (Part(), Part(), Part(), Part()), false, nil)
  }

  /// Inout arguments change under a reader's hands, and are read by plan.
  init(_ plan: ArgumentPlan) {
    guard let info = plan.info, !plan.isInout, let (kind, found) = Self.parts(plan.location), kind == .address || info.size <= Self.room
    else {
      self = .none
      return
    }
    var parts = found
    let count = UInt8(found.count)
    while parts.count < 4 { parts.append(Part()) }
    self.kind = kind
    self.count = count
    self.parts = (parts[0], parts[1], parts[2], parts[3])
    isConsumed = plan.isConsumed
    self.info = .passUnretained(info)
  }

  private static func parts(_ location: Location) -> (Kind, [Part])? {
    switch location {
    case .address(let place): return FramePlace(place).map { (.address, [Part(source: $0, offset: 0, size: 8)]) }
    case .pieces(let pieces):
      guard pieces.count <= 4 else { return nil }
      var parts: [Part] = []
      for piece in pieces {
        guard piece.skip == 0, piece.size <= 8, piece.offset + piece.size <= room, let source = FramePlace(piece.place) else { return nil }
        parts.append(Part(source: source, offset: UInt8(piece.offset), size: UInt8(piece.size)))
      }
      return (.parts, parts)
    case .parts, .optimizedOut, .unknown: return nil
    }
  }
}
