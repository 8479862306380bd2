// Metadata+Function — what the metadata of a function type says.
//
// Layout: swift/ABI/Metadata.h (TargetFunctionTypeMetadata) and MetadataValues.h (TargetFunctionTypeFlags,
// ParameterTypeFlags, TargetExtendedFunctionTypeFlags) of the Swift 6.3 runtime.

/// A function type as the runtime knows it.
package struct FunctionShape: Sendable {
  package enum Convention: Int, Sendable { case swift = 0, block, thin, c }
  package enum Ownership: UInt32, Sendable { case none = 0, `inout`, borrowed, owned }

  package struct Parameter: Sendable {
    package var type: Metadata
    package var ownership: Ownership
    package var isVariadic: Bool
    package var isAutoclosure: Bool
    package var isIsolated: Bool
  }

  package var parameters: [Parameter]
  package var result: Metadata
  /// nil for a convention this table does not know.
  package var convention: Convention?
  package var isThrowing: Bool
  /// The error's type, when the function type states one.
  package var thrown: Metadata?
  package var isAsync: Bool
  package var isEscaping: Bool
  package var isDifferentiable: Bool
}

extension Metadata {
  /// The parts of a function type; nil for other types.
  package var function: FunctionShape? {
    guard case .function = kind else { return nil }
    let flags = pointer.load(fromByteOffset: 8, as: UInt.self)
    let count = Int(flags & 0xFFFF)
    let hasParameterFlags = flags & 0x200_0000 != 0
    let types = 24
    let parameterFlags = types + 8 * count
    let parameters = (0..<count).map { i in
      let bits = hasParameterFlags ? pointer.load(fromByteOffset: parameterFlags + 4 * i, as: UInt32.self) : 0
      return FunctionShape.Parameter(
        type: Metadata(pointer.load(fromByteOffset: types + 8 * i, as: UnsafeRawPointer.self)),
        ownership: FunctionShape.Ownership(rawValue: bits & 0x7F) ?? .none, isVariadic: bits & 0x80 != 0, isAutoclosure: bits & 0x100 != 0,
        isIsolated: bits & 0x400 != 0)
    }
    // Every later group starts at a multiple of 8, also behind groups that are absent.
    var next = (parameterFlags + (hasParameterFlags ? 4 * count : 0) + 7) & -8
    let isDifferentiable = flags & 0x800_0000 != 0
    if isDifferentiable { next += 8 }
    if flags & 0x1000_0000 != 0 { next += 8 }  // the global actor
    let hasExtendedFlags = flags & 0x8000_0000 != 0
    let extended = hasExtendedFlags ? pointer.load(fromByteOffset: next, as: UInt32.self) : 0
    let thrown = extended & 1 != 0 ? Metadata(pointer.load(fromByteOffset: next + 8, as: UnsafeRawPointer.self)) : nil
    return FunctionShape(
      parameters: parameters, result: Metadata(pointer.load(fromByteOffset: 16, as: UnsafeRawPointer.self)),
      convention: FunctionShape.Convention(rawValue: functionConvention), isThrowing: flags & 0x100_0000 != 0, thrown: thrown,
      isAsync: flags & 0x2000_0000 != 0, isEscaping: flags & 0x400_0000 != 0, isDifferentiable: isDifferentiable)
  }
}

extension Metadata {
  private static let escaping: UInt = 0x400_0000

  /// Both are function types that differ at most in whether their values may escape.
  func isSameFunction(as other: Metadata) -> Bool {
    guard let mine = function, let its = other.function else { return false }
    let flags = pointer.load(fromByteOffset: 8, as: UInt.self) ^ other.pointer.load(fromByteOffset: 8, as: UInt.self)
    // Bit 28: a global actor, which is not looked at here.
    guard flags & ~Self.escaping == 0, pointer.load(fromByteOffset: 8, as: UInt.self) & 0x1800_0000 == 0 else { return false }
    return mine.result == its.result && mine.thrown == its.thrown
      && zip(mine.parameters, its.parameters).allSatisfy {
        $0.type == $1.type && $0.ownership == $1.ownership && $0.isIsolated == $1.isIsolated
      }
  }
}

extension TypeInfo {
  /// A closure whose values do not own their contexts.
  package var isBorrowedFunction: Bool {
    guard case .closure = kind, let shape = metadata.function else { return false }
    return shape.convention == .swift && !shape.isEscaping
  }
}
