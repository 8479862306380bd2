// What of a call cannot be decoded.
private import SwiftMangling

extension CallPlan {
  /// The first of self, arguments and result that scripts cannot read, and why; nil when they read all there is.
  package var obstacle: String? {
    if case .unknown(let reason) = selfPlan { return "self: \(reason)" }
    for (index, argument) in arguments.enumerated() {
      if let reason = Self.obstacle(argument.location, argument.info, argument.type) { return "argument \(index + 1): \(reason)" }
    }
    return Self.obstacle(result.location, result.info, result.type).map { "result: \($0)" }
  }

  private static func obstacle(_ location: Location, _ info: TypeInfo?, _ type: TypeSyntax) -> String? {
    switch location {
    case .unknown(let reason): return reason
    case .optimizedOut: return nil
    case .parts(let parts) where !location.isWhole:
      return parts.lazy.compactMap { if case .unknown(let reason) = $0.location { reason } else { nil } }.first
    case .pieces, .address, .parts:
      if info != nil || type.isVoid { return nil }
      return "type '\(type.description(qualified: true))' is not known in this process"
    }
  }
}
