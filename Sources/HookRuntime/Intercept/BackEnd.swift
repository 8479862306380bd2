// BackEnd — the ways a call can be diverted (DESIGN 4).
internal import CHookTrampoline

/// What is changed so that calls come to us.
public enum BackEnd: String, Sendable, CaseIterable {
  /// The first bytes of every body of the method.
  case entry
  /// The method's word in a class's metadata: virtual calls to that class.
  case vtable
  /// The class word of one object: virtual calls on that object.
  case classSwitch = "class-switch"
  /// The variable that a function compiled `dynamic` calls through.
  case dynamic = "dynamic-replacement"
  /// The requirement's word in a conformance's table: calls through the protocol.
  case witness
  /// The words through which an image calls a C function of another one.
  case importSlot = "import"
}

extension BackEnd {
  /// Images that appear later may have words that a hook diverts.
  var hasMoreLater: Bool { self == .vtable || self == .witness }

  /// Whatever way a call is written, it comes: all others miss some, which is told where they are chosen.
  var seesEveryCall: Bool { self == .dynamic }

  /// What is tried for a hook that asked for none, when the entries cannot be used: what sees most first.
  static func besideEntry(for scope: HookScope) -> [BackEnd] {
    if case .object = scope { return [.dynamic, .classSwitch, .witness] }
    return [.dynamic, .vtable, .witness]
  }

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
