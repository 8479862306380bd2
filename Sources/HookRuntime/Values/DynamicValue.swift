// DynamicValue — arguments of which only the callee knows the type: what a literal in a dynamic call may become.
//
// The compiler gives a literal in `cart.add("x", price: 2)` its default type, whatever the parameter's is. So numbers become
// numbers of the type that is asked for, where the value is the same afterwards; nothing else is converted.

enum DynamicValue {
  /// Makes a value of `type` at `memory`; nil when that was done, otherwise what was found instead.
  static func store(_ value: Any?, as type: TypeInfo, at memory: UnsafeMutableRawPointer) -> String? {
    guard let value else {
      guard case .optional = type.kind else {
        // An empty Optional is a value of type Any.
        return type.metadata == Metadata(Any.self) && TypedValue.store(Any?.none as Any, as: type, at: memory) ? nil : "nil"
      }
      type.metadata.injectEnumTag(memory, 1)
      return nil
    }
    if TypedValue.store(value, as: type, at: memory) { return nil }
    if let fault = number(value, as: type, at: memory) { return fault.isEmpty ? nil : fault }
    return Metadata(Swift.type(of: value)).name
  }

  /// The value as a T; nil where it is no such value.
  static func typed<T>(_ value: Any?) -> T? {
    if let value, Metadata(Swift.type(of: value)) == Metadata(T.self) { return value as? T }
    guard case .success(let info) = TypeResolver.shared.type(of: Metadata(T.self)) else { return value as? T }
    // As generic code has it: closures lie there in their general form.
    let made = OwnedValue(uninitialized: TypeResolver.shared.general(info))
    defer { made.forget() }
    guard store(value, as: made.info, at: made.memory) == nil else { return nil }
    return made.memory.assumingMemoryBound(to: T.self).move()
  }

  /// nil where numbers are not what this is about; "" when the number was made.
  private static func number(_ value: Any, as type: TypeInfo, at memory: UnsafeMutableRawPointer) -> String? {
    if case .optional(let payload) = type.kind {
      guard let fault = number(value, as: payload, at: memory) else { return nil }
      if fault.isEmpty { type.metadata.injectEnumTag(memory, 0) }
      return fault
    }
    let isMade: Bool?
    if let wanted = type.metadata.type as? any BinaryInteger.Type {
      isMade = integer(value, wanted, memory)
    } else if let wanted = type.metadata.type as? any BinaryFloatingPoint.Type {
      isMade = float(value, wanted, memory)
    } else {
      return nil
    }
    guard let isMade else { return nil }
    return isMade ? "" : "\(value), which is no \(type.name)"
  }

  /// Stores the number as an integer that is exactly equal; nil where the value is no number.
  private static func integer<N: BinaryInteger>(_ value: Any, _: N.Type, _ memory: UnsafeMutableRawPointer) -> Bool? {
    func exactly(_ number: some BinaryFloatingPoint) -> N? { N(exactly: number) }
    return Self.number(value, { exactly($0) }, memory)
  }

  /// Stores the number as one of floating point that is exactly equal; nil where the value is no number.
  private static func float<N: BinaryFloatingPoint>(_ value: Any, _: N.Type, _ memory: UnsafeMutableRawPointer) -> Bool? {
    Self.number(value, { number -> N? in Self.exactly(number) }, memory)
  }

  /// Stores what `exactly` makes of the number; false where it makes nothing, nil where the value is no number.
  private static func number<N: Numeric>(
    _ value: Any, _ exactly: (any BinaryFloatingPoint) -> N?, _ memory: UnsafeMutableRawPointer
  ) -> Bool? {
    let exact: N?
    if let number = value as? any BinaryInteger {
      exact = N(exactly: number)
    } else if let number = value as? any BinaryFloatingPoint {
      exact = exactly(number)
    } else {
      return nil
    }
    return exact.map { memory.initializeMemory(as: N.self, to: $0) } != nil
  }

  private static func exactly<N: BinaryFloatingPoint, F: BinaryFloatingPoint>(_ number: F) -> N? {
    // The literal 0.1 is a Double; a Float parameter takes the nearest Float, as the literal itself would.
    N(exactly: number) ?? (N.significandBitCount < F.significandBitCount && number.isFinite ? N(number) : nil)
  }
}
