// TypeShape — how values of a type that mentions generic parameters lie in memory, as far as the declaration tells.
//
// IRGen lays out types the same way for a generic body as for any other: what does not depend on an opaque parameter has
// its fixed layout (`[T]` is one reference), the rest goes by address. Concrete types come from TypeResolver.
internal import SwiftMangling

/// The layout of a type all of whose values are laid out alike.
struct TypeShape {
  var size: Int
  var alignment: Int
  /// Sorted by offset.
  var scalars: [Scalar]
  /// Bit patterns that are no value of the type, which an enum around it may use.
  var extraInhabitants: Int

  static let empty = TypeShape(size: 0, alignment: 1, scalars: [], extraInhabitants: 0)
  /// A reference to an object: addresses below the first page are no objects.
  static let reference = TypeShape(
    size: 8, alignment: 8, scalars: [Scalar(offset: 0, size: 8, kind: .integer)], extraInhabitants: 4096)

  static func words(_ count: Int) -> TypeShape {
    TypeShape(size: 8 * count, alignment: 8, scalars: (0..<count).map { reference.scalars[0].moved(by: 8 * $0) }, extraInhabitants: 4096)
  }

  /// Fields one after the other, each at its alignment.
  init(fields: [TypeShape]) {
    self = .empty
    for field in fields {
      let offset = (size + field.alignment - 1) / field.alignment * field.alignment
      scalars += field.scalars.map { $0.moved(by: offset) }
      size = offset + field.size
      alignment = max(alignment, field.alignment)
      extraInhabitants = max(extraInhabitants, field.extraInhabitants)
    }
  }

  init(size: Int, alignment: Int, scalars: [Scalar], extraInhabitants: Int) {
    self.size = size
    self.alignment = alignment
    self.scalars = scalars
    self.extraInhabitants = extraInhabitants
  }

  /// An enum with one payload: empty cases take bit patterns that the payload leaves, or a byte behind it.
  func wrapped(emptyCases: Int) -> TypeShape {
    if emptyCases == 0 { return self }
    var enumeration = TypeShape(
      size: size, alignment: alignment, scalars: Self.integers(size), extraInhabitants: max(0, extraInhabitants - emptyCases))
    if extraInhabitants >= emptyCases { return enumeration }
    // One number of the tag stands for the payload cases; the payload's own bits tell empty cases apart.
    let perTag = size >= 4 ? Int(UInt32.max) : 1 << (8 * size)
    let tags = 1 + (emptyCases - extraInhabitants + perTag - 1) / perTag
    let bytes = tags <= 256 ? 1 : tags <= 65536 ? 2 : 4
    enumeration.scalars.append(Scalar(offset: size, size: bytes, kind: .integer))
    enumeration.size += bytes
    // What the tag leaves unused stays unused.
    enumeration.extraInhabitants = 0
    return enumeration
  }

  /// IRGen keeps payloads as integers of a word and what is left.
  static func integers(_ size: Int) -> [Scalar] {
    stride(from: 0, to: size, by: 8).map { offset in
      let width = min(8, size - offset)
      return Scalar(offset: offset, size: width, kind: width & (width - 1) == 0 ? .integer : .opaque)
    }
  }
}

/// Works out shapes under one generic signature.
struct ShapeReader {
  let types: TypeResolver
  let environment: GenericEnvironment?
  private var depth = 0

  init(types: TypeResolver, environment: GenericEnvironment?) {
    self.types = types
    self.environment = environment
  }

  /// nil when values go by address.
  mutating func shape(_ type: TypeSyntax) throws(TypeProblem) -> TypeShape? {
    depth += 1
    defer { depth -= 1 }
    guard depth < 64 else { throw .layout("recursive type") }
    switch type {
    case .genericParameter, .dependentMember: return try parameter(type)
    case .metatype(let instance): return instance.hasOneMetatype ? .empty : .words(1)
    case .existentialMetatype, .existential, .constrainedExistential: return try existential(type)
    case .function(let function):
      switch function.convention {
      case .c, .thin, .block, .escapingBlock: return .words(1)
      default: return .words(2)
      }
    case .tuple(let elements):
      var fields: [TypeShape?] = []
      for element in elements {
        if case .packExpansion = element.type { return nil }
        fields.append(try shape(element.type))
      }
      return fields.contains { $0 == nil } ? nil : TypeShape(fields: fields.compactMap { $0 })
    case .dynamicSelf(let type): return try shape(type)
    case .unowned, .unmanaged: return .reference
    case .packExpansion: throw .generic
    case .weak, .opaqueResult: return nil
    case .nominal(let name, let kind, let arguments): return try nominal(type, name, kind, arguments)
    case .builtin, .known, .integer, .pack, .constrainedSelf, .unknown: return try known(type)
    }
  }

  private mutating func parameter(_ type: TypeSyntax) throws(TypeProblem) -> TypeShape? {
    guard let environment else { throw .generic }
    switch environment.representation(of: type) {
    case .opaque:
      // A member of a type that is known is known itself.
      if case .dependentMember(let base, _, _) = type, base.deepestParameter < 0 { return try known(type) }
      // A member of a generic type is what that type's conformance says, which is not asked here.
      if !type.isMemberOfParameter { throw .generic }
      return nil
    case .reference: return .reference
    case .concrete(let concrete): return try shape(concrete)
    }
  }

  /// A type without generic parameters, from its metadata.
  private func known(_ type: TypeSyntax) throws(TypeProblem) -> TypeShape? {
    let info = try types.type(type).get()
    return info.scalars.map {
      TypeShape(size: info.size, alignment: info.alignment, scalars: $0, extraInhabitants: info.metadata.extraInhabitants)
    }
  }

  private mutating func existential(_ type: TypeSyntax) throws(TypeProblem) -> TypeShape? {
    switch type {
    case .existentialMetatype(let instance):
      return .words(1 + (try witnessTables(of: instance).tables))
    case .constrainedExistential(let base, _): return try existential(base)
    case .existential(_, let superclass?, _) where superclass.deepestParameter >= 0:
      return .words(1 + (try witnessTables(of: type).tables))
    default:
      if type.deepestParameter < 0 { return try known(type) }
      throw .generic
    }
  }

  private func witnessTables(of type: TypeSyntax) throws(TypeProblem) -> (tables: Int, isClass: Bool) {
    switch type {
    case .constrainedExistential(let base, _): return try witnessTables(of: base)
    case .existential(let protocols, _, let isClassBound):
      var isClass = isClassBound
      var tables = 0
      for proto in protocols where !proto.isMarker {
        guard let descriptor = types.protocolDescriptor(proto) else { throw .unresolved(proto.description) }
        isClass = isClass || descriptor.isClassBound
        tables += 1
      }
      return (tables, isClass)
    default: return (0, false)
    }
  }

  // MARK: Nominal types

  private mutating func nominal(
    _ type: TypeSyntax, _ name: NominalName, _ kind: NominalKind, _ arguments: [TypeSyntax]
  ) throws(TypeProblem) -> TypeShape? {
    if name.isOptional, arguments.count == 1 {
      guard let payload = try shape(arguments[0]) else { return nil }
      return payload.wrapped(emptyCases: 1)
    }
    if kind == .classType || name.isArrayLike && type.holdsConstrained { return .reference }
    if name == .fixedArray { return try fixedArray(arguments) }
    guard type.deepestParameter >= 0 else { return try known(type) }
    guard let descriptor = types.descriptor(name) else { throw .unresolved(name.description) }
    if try types.isAddressOnlyOutside(descriptor, name) { return nil }
    let table = try substitutions(descriptor, arguments, name)
    return descriptor.isStruct ? try structure(descriptor, table, name) : try enumeration(descriptor, table, name)
  }

  /// The type's own parameters, by depth and index, as these arguments.
  private func substitutions(
    _ descriptor: TypeDescriptor, _ arguments: [TypeSyntax], _ name: NominalName
  ) throws(TypeProblem) -> [GenericParameterKey: TypeSyntax] {
    var table: [GenericParameterKey: TypeSyntax] = [:]
    var rest = arguments[...]
    for (depth, count) in descriptor.genericLevels.enumerated() {
      for index in 0..<count {
        guard let argument = rest.popFirst() else { throw .layout(name.description) }
        table[GenericParameterKey(depth: depth, index: index)] = argument
      }
    }
    guard rest.isEmpty else { throw .layout(name.description) }
    return table
  }

  private mutating func structure(
    _ descriptor: TypeDescriptor, _ table: [GenericParameterKey: TypeSyntax], _ name: NominalName
  ) throws(TypeProblem) -> TypeShape? {
    let records = descriptor.fields
    // A raw layout has no fields to tell of it; outside this module it is an experiment.
    if records.isEmpty, TypeCatalog.shared.name(of: descriptor)?.hasPrefix("Synchronization.") ?? true { return nil }
    var fields: [TypeShape] = []
    for record in records {
      guard let bytes = record.typeName else { throw .layout(name.description) }
      if bytes.hasSuffix("Xw") { return nil }
      if bytes.hasSuffix("Xo") || bytes.hasSuffix("Xu") { fields.append(.reference); continue }
      guard let field = try fieldShape(bytes, table, name) else { return nil }
      fields.append(field)
    }
    return TypeShape(fields: fields)
  }

  private mutating func fixedArray(_ arguments: [TypeSyntax]) throws(TypeProblem) -> TypeShape? {
    guard arguments.count == 2, case .integer(let count) = arguments[0], count >= 0, count < 4096 else { return nil }
    guard let element = try shape(arguments[1]) else { return nil }
    let padded = (element.size + element.alignment - 1) / element.alignment * element.alignment
    var array = TypeShape(fields: [TypeShape](repeating: element, count: count))
    array.size = padded * count
    return array
  }

  private mutating func fieldShape(
    _ bytes: MangledBytes, _ table: [GenericParameterKey: TypeSyntax], _ name: NominalName
  ) throws(TypeProblem) -> TypeShape? {
    if case .pointer? = bytes.builtin { return TypeShape(size: 8, alignment: 8, scalars: TypeShape.reference.scalars, extraInhabitants: 1) }
    guard let declared = types.syntax(bytes) else { throw .layout(name.description) }
    // In a generic type the metatype of a parameter is a word in all instances; what is around it is not worked out here.
    if case .metatype(let instance) = declared, instance.deepestParameter >= 0 { return .words(1) }
    if table.values.contains(where: \.mentionsMetatype) || declared.mentionsMetatype { throw .layout(name.description) }
    return try shape(declared.substituting(table))
  }

  private mutating func enumeration(
    _ descriptor: TypeDescriptor, _ table: [GenericParameterKey: TypeSyntax], _ name: NominalName
  ) throws(TypeProblem) -> TypeShape? {
    var payloads: [TypeShape] = []
    var isOpaque = false
    for record in descriptor.fields.prefix(descriptor.payloadCases) {
      if record.isIndirectCase { payloads.append(.reference); continue }
      guard let bytes = record.typeName else { throw .layout(name.description) }
      if let payload = try fieldShape(bytes, table, name) { payloads.append(payload) } else { isOpaque = true }
    }
    if isOpaque { return nil }
    if payloads.count == 1 { return payloads[0].wrapped(emptyCases: descriptor.emptyCases) }
    // Which bits several payloads leave free is the compiler's secret, unless all are references: those leave seven.
    guard !payloads.isEmpty, payloads.allSatisfy({ $0.size == 8 && $0.extraInhabitants == 4096 && $0.scalars.count == 1 }),
      payloads.count <= 8,
      descriptor.emptyCases < 1 << 20
    else { throw .layout(name.description) }
    return TypeShape(size: 8, alignment: 8, scalars: TypeShape.integers(8), extraInhabitants: 0)
  }
}

extension TypeSyntax {
  /// The metatype of a type without subtypes is part of the value itself, which has no bits for it, unlike the same type
  /// made by the runtime.
  var holdsMetatype: Bool {
    switch self {
    case .metatype(let instance): instance.hasOneMetatype
    case .tuple(let elements): elements.contains { $0.type.holdsMetatype }
    case .nominal(let name, _, let arguments): name.isOptional && arguments.contains(where: \.holdsMetatype)
    default: false
    }
  }

  /// A metatype that may or may not have bits occurs anywhere.
  fileprivate var mentionsMetatype: Bool {
    mentions { if case .metatype(let instance) = $0 { instance.hasOneMetatype || instance.deepestParameter >= 0 } else { false } }
  }

  /// A constrained existential that is no generic argument: laid out as its base.
  var holdsConstrained: Bool {
    switch self {
    case .constrainedExistential: true
    case .tuple(let elements): elements.contains { $0.type.holdsConstrained }
    case .nominal(let name, _, let arguments): (name.isOptional || name.isArrayLike) && arguments.contains(where: \.holdsConstrained)
    default: false
    }
  }
}

extension NominalName {
  /// One reference, whatever the elements.
  fileprivate var isArrayLike: Bool { module == "Swift" && ["Array", "Dictionary", "Set", "ContiguousArray"].contains(shortName) }
}

extension TypeSyntax {
  /// A generic parameter, or a member of one, or of that in turn.
  fileprivate var isMemberOfParameter: Bool {
    switch self {
    case .genericParameter: true
    case .dependentMember(let base, _, _): base.isMemberOfParameter
    default: false
    }
  }
}
