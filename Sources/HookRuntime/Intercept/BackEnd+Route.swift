// BackEnd+Route — which calls come by a back end, and how the dispatcher knows them.
internal import CHookTrampoline

extension BackEnd {
  /// Images that appear later may have words that a hook diverts.
  var hasMoreLater: Bool { self == .vtable || self == .witness }

  /// Whatever way a call is written, it comes: all others miss some, which is reported where they are chosen.
  var seesEveryCall: Bool { self == .dynamic }

  /// How the dispatcher knows calls that came by it. What is hooked at its entry sees calls that come by slots, too.
  var route: HKTRoute {
    switch self {
    case .entry: HKT_ROUTE_ENTRY
    case .vtable: HKT_ROUTE_VTABLE
    case .classSwitch: HKT_ROUTE_CLASS_SWITCH
    case .dynamic: HKT_ROUTE_DYNAMIC
    case .witness: HKT_ROUTE_WITNESS
    case .importSlot: HKT_ROUTE_IMPORT
    }
  }
}
