// What of a call cannot be decoded.
private import SwiftMangling

extension CallPlan {
  /// The first of self, arguments and result that scripts cannot read, and why; nil when they read all there is.
  package var obstacle: String? {
    switch selfPlan {
    case .unknown(CallPlan.gone): break
    case .unknown(let reason): return "self: \(reason)"
    case .value(let value): if let reason = obstacle(value.location, value.info, value.type) { return "self: \(reason)" }
    case .none, .object, .metatype: break
    }
    for (index, argument) in arguments.enumerated() {
      if let reason = obstacle(argument.location, argument.info, argument.type) { return "argument \(index + 1): \(reason)" }
    }
    return obstacle(result.location, result.info, result.type, isOver: true).map { "result: \($0)" }
  }

  private func obstacle(_ location: Location, _ info: TypeInfo?, _ type: TypeSyntax, isOver: Bool = false) -> String? {
    switch location {
    case .unknown(let reason): return reason
    case .optimizedOut: return nil
    case .parts(let parts):
      for part in parts { if case .unknown(let reason) = part.location { return reason } }
    case .pieces, .address: break
    }
    if info != nil || type.isVoid || generics?.tells(type, isOver: isOver) ?? false { return nil }
    return "type '\(type.description(qualified: true))' is not known in this process"
  }
}
