// BackEnd — the ways a call can be diverted, and which are tried.

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
  /// What is tried for a hook that asked for none, when the entries cannot be used: what sees most first.
  static func besideEntry(for scope: HookScope) -> [BackEnd] {
    if case .object = scope { return [.dynamic, .classSwitch, .witness] }
    return [.dynamic, .vtable, .witness]
  }
}
