// GivenTypes — what a script's values tell of a generic function's parameters before they are made.
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

extension ValueBridge {
  /// The type that the value has, or would have where any type will do.
  func givenType(_ value: SHLValue) -> GivenType {
    switch value.tag {
    case SHL_INT: return .natural(Metadata(Int.self))
    case SHL_NUMBER: return .natural(Metadata(Double.self))
    case SHL_BOOL: return .natural(Metadata(Bool.self))
    case SHL_STRING: return .natural(Metadata(String.self))
    case SHL_TABLE: return tableType(value)
    case SHL_HANDLE: return handleType(value).map(GivenType.exact) ?? .unknown
    default: return .unknown
    }
  }

  private func handleType(_ value: SHLValue) -> Metadata? {
    if let object = classes.object(value) { return Metadata(object.load(as: UnsafeRawPointer.self)) }
    if let borrowed = classes.borrowedValue(value) { return borrowed.info.metadata }
    if value.cls == classes.closure { return ClosureBridge.value(value).type.metadata }
    return classes.errorBox(value).flatMap(ErrorAPI.opened)?.type.metadata
  }

  private func tableType(_ table: SHLValue) -> GivenType {
    var keys: [GivenType] = []
    var values: [GivenType] = []
    guard let inner = try? nested() else { return .unknown }
    forEach(in: table) { key, value in
      keys.append(inner.givenType(key))
      values.append(inner.givenType(value))
      return true
    }
    return .table(keys: keys, values: values)
  }
}
