// ArgumentReason — why a value of a call is not to be had, in words.
private import SwiftMangling

enum ArgumentReason {
  /// nil where the value can be read.
  static func unreadable(_ argument: ArgumentPlan) -> String? { unreadable(argument.location, argument.info, argument.type) }

  static func unreadable(_ result: ResultPlan) -> String { unreadable(result.location, result.info, result.type) ?? "it is not known" }

  private static func unreadable(_ location: Location, _ info: TypeInfo?, _ type: TypeSyntax) -> String? {
    switch location {
    case .optimizedOut: return "the optimiser removed it from this body"
    case .unknown(let reason): return reason
    case .parts(let parts):
      if let reason = parts.lazy.compactMap({ unreadable($0.location, info, type) }).first { return reason }
    case .pieces, .address: break
    }
    guard info == nil else { return nil }
    if type.deepestParameter >= 0 { return "its type is generic; take 'Any'" }
    return "type '\(type.description(qualified: true))' is not known in this process"
  }

  static func unreplaceable(_ argument: ArgumentPlan) -> String {
    if let reason = unreadable(argument) { return reason }
    return argument.hasMixedOwnership ? "parts of it are owned, others borrowed" : "it is not passed whole"
  }

  static func unreplaceable(_ result: ResultPlan) -> String {
    if result.isYielded { return "it is borrowed by the caller, and stays where it is" }
    if !result.isOwned { return "somebody else owns it" }
    return unreadable(result)
  }
}
