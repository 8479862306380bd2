// NeutralValue — what a call comes back with that nobody answers, when that is to be harmless.

package enum NeutralValue {
  /// `nil`, false, 0, an empty text or collection; nil for types that have no such value.
  package static func make(_ info: TypeInfo) -> OwnedValue? {
    let value = OwnedValue(uninitialized: info)
    switch info.kind {
    case .optional: info.metadata.injectEnumTag(value.memory, 1)
    case .bool, .integer, .float, .void: break  // the memory is zeros
    default:
      guard initialize(value.memory, info.metadata.type) else {
        value.forget()
        return nil
      }
    }
    return value
  }

  /// Makes the neutral value of a type the compiler knows.
  static func make<T>() -> T? {
    guard case .success(let info) = TypeResolver.shared.type(of: Metadata(T.self)), let value = make(info) else { return nil }
    defer { value.forget() }
    return value.memory.assumingMemoryBound(to: T.self).move()
  }

  static func exists(_ info: TypeInfo) -> Bool {
    guard let value = make(info) else { return false }
    value.destroy()
    return true
  }

  /// Initializes the memory with an empty collection, set or dictionary; false for other types.
  private static func initialize(_ memory: UnsafeMutableRawPointer, _ type: Any.Type) -> Bool {
    func put<T>(_ value: T) -> Bool {
      memory.bindMemory(to: T.self, capacity: 1).initialize(to: value)
      return true
    }
    func collection<T: RangeReplaceableCollection>(_: T.Type) -> Bool { put(T()) }
    func set<T: SetAlgebra>(_: T.Type) -> Bool { put(T()) }
    func dictionary<T: ExpressibleByDictionaryLiteral>(_: T.Type) -> Bool { put(T()) }
    if let type = type as? any RangeReplaceableCollection.Type { return collection(type) }
    if let type = type as? any SetAlgebra.Type { return set(type) }
    if let type = type as? any ExpressibleByDictionaryLiteral.Type { return dictionary(type) }
    return false
  }
}
