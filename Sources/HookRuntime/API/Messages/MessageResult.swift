// MessageResult — what came back from a message, until somebody says as what it is wanted.

enum MessageResult {
  /// What a function of the program returned; the owner is who holds this. nil for nothing.
  case returned(OwnedValue?)
  /// What a handler answered.
  case answered(Any?)
  /// Nobody answered, and that is to be harmless.
  case neutral

  /// As `Any`; nil for nothing, and for an empty Optional.
  func any() throws -> Any? {
    switch self {
    case .answered(let value): return value
    case .returned(nil), .neutral: return nil
    case .returned(let value?):
      defer { ProgramCall.asProgram { value.destroy() } }
      if case .optional(let payload) = value.info.kind {
        // Case 0 holds the payload, which begins where the Optional does.
        guard value.info.metadata.enumTag(value.memory) == 0 else { return nil }
        return TypedValue.load(value.memory, payload, as: Any.self)
      }
      return TypedValue.load(value.memory, value.info, as: Any.self)
    }
  }

  /// The result as a T.
  func value<T>(_ selector: String) throws -> T {
    // T is Dynamic.
    if T.self == Dynamic.self { return Dynamic(try any()) as! T }
    switch self {
    case .returned(nil):
      if let nothing = () as? T { return nothing }
      throw CallError.wrongResult(selector: selector, expected: "nothing", found: Metadata(T.self).name)
    case .returned(let value?):
      defer { ProgramCall.asProgram { value.destroy() } }
      if let result = TypedValue.cast(value.memory, value.info, to: T.self) { return result }
      throw CallError.wrongResult(selector: selector, expected: value.info.name, found: Metadata(T.self).name)
    case .neutral:
      if let value: T = Self.neutralValue() { return value }
      throw CallError.wrongResult(selector: selector, expected: "a type with a neutral value", found: Metadata(T.self).name)
    case .answered(let value):
      if let nothing = () as? T { return nothing }
      guard let result: T = DynamicValue.typed(value) else {
        throw CallError.wrongResult(
          selector: selector, expected: value.map { Metadata(type(of: $0)).name } ?? "nil", found: Metadata(T.self).name)
      }
      return result
    }
  }

  /// false, 0, "", an empty collection, an empty Optional, nothing; nil for types without such a value.
  private static func neutralValue<T>() -> T? {
    guard case .success(let info) = TypeResolver.shared.type(of: Metadata(T.self)), let value = NeutralValue.make(info) else { return nil }
    defer { value.forget() }
    return value.memory.assumingMemoryBound(to: T.self).move()
  }
}
