// SILTypeLowering — how a value of a SIL type travels: by its pattern where that decides, by its layout elsewhere.
package import SwiftMangling

struct SILTypeLowering {
  let types: TypeResolver

  func info(_ type: TypeSyntax) -> TypeInfo? { try? types.type(type).get() }

  /// The scalars of a value of the type, nil when it is address-only.
  func scalars(of type: SILType) -> Result<[Scalar]?, TypeProblem> {
    switch type.pattern {
    case .metatype(let instance): .success(instance.hasOneMetatype ? [] : [Self.word])
    case .function(let function):
      .success((0..<(function.convention.isOneWord ? 1 : 2)).map { Self.word.moved(by: 8 * $0) })
    // Metadata has a word for the metatype where the code has a case number alone.
    case .nominal(let name, .enumeration, let arguments) where name.isOptional && arguments.count == 1 && arguments[0].isThinMetatype:
      .success([Scalar(offset: 0, size: 1, kind: .integer)])
    default: types.type(type.type).map(\.scalars)
    }
  }

  func passing(of type: SILType) -> Result<Passing, TypeProblem> {
    // An unspecialised generic value goes by address, or is a reference: one integer register in either case.
    if type.type.isGenericValue { return .success(.direct([Self.word])) }
    if type.isAbstract { return .success(.indirect) }
    return scalars(of: type).map { $0.map(AggregateLowering.lower) ?? .indirect }
  }

  func passing(of parameter: SILParameter) -> Result<Passing, TypeProblem> {
    if parameter.role == .result || parameter.role == .error || parameter.convention == .address { return .success(.indirect) }
    // The actor an async function runs on: an object and its witness table.
    if parameter.role == .hidden, case .tuple(let words) = parameter.type.type, words.allSatisfy({ $0.type == Self.rawPointer }) {
      return .success(.direct(words.indices.map { Self.word.moved(by: 8 * $0) }))
    }
    return parameter.part.map { .success($0.info.passing) } ?? passing(of: parameter.type)
  }

  static let rawPointer = TypeSyntax.builtin("Builtin.RawPointer")
  private static let word = Scalar(offset: 0, size: 8, kind: .integer)
}

extension Convention {
  fileprivate var isOneWord: Bool {
    switch self {
    case .c, .thin, .block, .escapingBlock: true
    default: false
    }
  }
}

extension NominalName {
  fileprivate var isOptional: Bool { module == "Swift" && shortName == "Optional" }
}

extension TypeSyntax {
  /// A generic parameter, or one in Optionals: its representation is not known here, but it is never more than a pointer.
  var isGenericValue: Bool {
    switch self {
    case .genericParameter, .dependentMember: true
    case .nominal(let name, .enumeration, let arguments) where name.isOptional && arguments.count == 1: arguments[0].isGenericValue
    default: false
    }
  }

  fileprivate var isThinMetatype: Bool { if case .metatype(let instance) = self { instance.hasOneMetatype } else { false } }

  /// The type has no subtypes, so that its metatype has one value and no bits.
  fileprivate var hasOneMetatype: Bool {
    switch self {
    case .nominal(_, .structure, _), .nominal(_, .enumeration, _), .tuple, .function, .existential, .constrainedExistential: true
    case .metatype(let instance): instance.hasOneMetatype
    default: false
    }
  }

  package var isVoid: Bool { if case .tuple(let elements) = self { elements.isEmpty } else { false } }
}
