// SILTypeLowering — how a value of a SIL type travels: by its pattern where that decides, by its layout elsewhere.
package import SwiftMangling

struct SILTypeLowering: Sendable {
  let types: TypeResolver
  /// The signature the declaration is compiled under; nil for what is not generic.
  var environment: GenericEnvironment?
  /// What generic parameters stand for in one call: decides what values are, never where they are.
  var actual: [GenericParameterKey: TypeSyntax] = [:]

  /// nil also where code keeps the type otherwise than its metadata says: an Optional metatype that needs no bits is a case number.
  func info(_ type: TypeSyntax) -> TypeInfo? {
    if type.isOptionalOfThinMetatype { return nil }
    if type.deepestParameter < 0 { return try? types.type(type).get() }
    return try? types.type(fixed(type).substituting(actual)).get()
  }

  /// nil as for `info(_:)`. Closures and metatypes have the form that the declaration of the place asks for.
  func info(_ type: TypeSyntax, declaredAs pattern: TypeSyntax) -> TypeInfo? {
    guard pattern.deepestParameter >= 0 else { return info(type) }
    let form = pattern.closureForm(environment: environment)
    let spellsMetatype = pattern.mentions { if case .metatype = $0 { true } else { false } }
    if form == .general, !spellsMetatype, let metadata = types.metadata(fixed(type).substituting(actual)) {
      return try? types.general(of: metadata).get()
    }
    return info(type).map { types.type($0, in: form) }
  }

  /// Puts in what same-type requirements fix.
  private func fixed(_ type: TypeSyntax) -> TypeSyntax {
    environment.map { type.substituting($0.fixed) } ?? type
  }

  /// Generic parameters are left that this body was not compiled for: its signature tells how such values are held.
  private func isGeneric(_ type: TypeSyntax) -> Bool { type.deepestParameter >= 0 }

  /// From metadata; from the declaration where a call site and metadata differ, or there is none.
  private func known(_ type: TypeSyntax) -> Result<[Scalar]?, TypeProblem> {
    if !type.holdsMetatype {
      let found = types.type(type)
      if case .success(let info) = found { return .success(info.scalars) }
      if !type.holdsConstrained { return found.map(\.scalars) }
    }
    var reader = ShapeReader(types: types, environment: environment)
    do throws(TypeProblem) { return .success(try reader.shape(type)?.scalars) } catch { return .failure(error) }
  }

  /// The layout of a value that is returned directly.
  func returnedShape(of type: SILType) -> Result<TypeShape, TypeProblem> {
    var reader = ShapeReader(types: types, environment: environment)
    do throws(TypeProblem) {
      guard let shape = try reader.shape(type.type) else { return .failure(.layout(type.type.description(qualified: true))) }
      return .success(shape)
    } catch { return .failure(error) }
  }

  private func shape(of type: TypeSyntax) -> Result<[Scalar]?, TypeProblem> {
    guard environment != nil else { return .failure(.generic) }
    var reader = ShapeReader(types: types, environment: environment)
    do throws(TypeProblem) { return .success(try reader.shape(type)?.scalars) } catch { return .failure(error) }
  }

  /// The scalars of a value of the type, nil when it is address-only.
  func scalars(of type: SILType) -> Result<[Scalar]?, TypeProblem> {
    if isGeneric(type.type) { return shape(of: type.type) }
    return switch type.pattern {
    case .metatype(let instance): .success(instance.hasOneMetatype ? [] : [Self.word])
    case .function(let function):
      .success((0..<(function.convention.isOneWord ? 1 : 2)).map { Self.word.moved(by: 8 * $0) })
    // Where the declaration has a generic parameter there is a word also for a metatype of one value.
    case let pattern where pattern.isOpaquePattern && type.type.isThinMetatype: .success([Self.word])
    // Metadata has a word for the metatype where the code has a case number alone.
    case let pattern where pattern.isOptionalOfThinMetatype:
      .success([Scalar(offset: 0, size: 1, kind: .integer)])
    default: known(type.type)
    }
  }

  func passing(of type: SILType) -> Result<Passing, TypeProblem> {
    if isGeneric(type.type) {
      // Whatever it stands for, a generic value is one integer: its address, or a reference.
      if environment == nil, type.type.isGenericValue { return .success(.direct([Self.word])) }
      return shape(of: type.type).map { $0.map(AggregateLowering.lower) ?? .indirect }
    }
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
  var isOptional: Bool { module == "Swift" && shortName == "Optional" }
}

extension TypeSyntax {
  /// Functions of this result do not return.
  var isNever: Bool {
    if case .nominal(let name, _, _) = self { name.module == "Swift" && name.shortName == "Never" } else { false }
  }

  /// A generic parameter, or one in Optionals: its representation is not known here, but it is never more than a pointer.
  var isGenericValue: Bool {
    switch self {
    case .genericParameter, .dependentMember: true
    case .nominal(let name, .enumeration, let arguments) where name.isOptional && arguments.count == 1: arguments[0].isGenericValue
    default: false
    }
  }

  fileprivate var isOptionalOfThinMetatype: Bool {
    guard case .nominal(let name, .enumeration, let arguments) = self, name.isOptional, arguments.count == 1 else { return false }
    return arguments[0].isThinMetatype
  }

  /// A metatype that needs no bits: code never writes one to memory, metadata has a word for it.
  var isThinMetatype: Bool { if case .metatype(let instance) = self { instance.hasOneMetatype } else { false } }

  /// The type has no subtypes, so that its metatype has one value and no bits.
  var hasOneMetatype: Bool {
    switch self {
    case .nominal(_, .structure, _), .nominal(_, .enumeration, _), .tuple, .function, .existential, .constrainedExistential: true
    case .metatype(let instance): instance.hasOneMetatype
    default: false
    }
  }

  package var isVoid: Bool { if case .tuple(let elements) = self { elements.isEmpty } else { false } }
}
