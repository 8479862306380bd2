// The notation in which plans are compared with other sources: `i0:8@0+f1:4@8` (place, size, offset; `^4` when it starts
// at byte 4 of the place), `*i2` (the place holds the address), `-` (removed), `?reason` (unknown), `[0+8=…,8+8=…]` (by
// parts; `*sret^16` is 16 bytes behind the address).

extension Place {
  package var notation: String {
    switch self {
    case .integer(let i): "i\(i)"
    case .float(let i): "f\(i)"
    case .stack(let i): "s\(i)"
    case .selfRegister: "self"
    case .indirectResult: "sret"
    case .yielded(let i): "r\(i)"
    case .x87(let i): "st\(i)"
    }
  }
}

extension Piece {
  fileprivate var notation: String { "\(place.notation):\(size)@\(offset)" + (skip > 0 ? "^\(skip)" : "") }
}

extension Location {
  package var notation: String {
    switch self {
    case .pieces(let pieces): pieces.isEmpty ? "()" : pieces.map { $0.notation }.joined(separator: "+")
    case .address(let place): "*" + place.notation
    case .parts(let parts):
      "[" + parts.map { "\($0.offset)+\($0.size)=\($0.location.notation)" + ($0.skip > 0 ? "^\($0.skip)" : "") }.joined(separator: ",")
        + "]"
    case .optimizedOut: "-"
    case .unknown(let reason): "?" + reason
    }
  }
}

extension SelfPlan {
  package var notation: String {
    switch self {
    case .none: "()"
    case .object(let place), .metatype(let place): place.notation + ":8@0"
    case .value(let plan): plan.location.notation
    case .unknown(let reason): "?" + reason
    }
  }
}
