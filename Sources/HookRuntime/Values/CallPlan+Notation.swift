// The notation in which plans are compared with other sources: `i0:8@0+f1:4@8` (place, size, offset), `*i2` (the place
// holds the address), `-` (removed), `?reason` (unknown), `[0+8=…,8+8=…]` (by parts).

extension Place {
  package var notation: String {
    switch self {
    case .integer(let i): "i\(i)"
    case .float(let i): "f\(i)"
    case .stack(let i): "s\(i)"
    case .selfRegister: "self"
    case .indirectResult: "sret"
    case .yielded(let i): "r\(i)"
    }
  }
}

extension Location {
  package var notation: String {
    switch self {
    case .pieces(let pieces): pieces.isEmpty ? "()" : pieces.map { "\($0.place.notation):\($0.size)@\($0.offset)" }.joined(separator: "+")
    case .address(let place): "*" + place.notation
    case .parts(let parts): "[" + parts.map { "\($0.offset)+\($0.size)=\($0.location.notation)" }.joined(separator: ",") + "]"
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
