// DelegateProperty — a property that holds a delegate: whose it is, what protocols its values conform to, how it holds them.
internal import CHookTrampoline
internal import SwiftMangling

/// Why the objects in a property cannot stand behind proxies.
enum DelegateProblem: Error, Equatable {
  case notFound(String)
  case notOfClass
  case noProtocol(String)
  /// `unowned`: what is there may be gone without anybody's knowing.
  case unowned
  /// Computed: whether its values are kept alive there does not show.
  case unknownStorage
  case proto(String, ProtocolProblem)
  case other(String)
}

extension DelegateProblem: CustomStringConvertible {
  var description: String {
    switch self {
    case .notFound(let text): text
    case .notOfClass: "it is no instance property of a class"
    case .noProtocol(let type): "its values are of type '\(type)', which is no protocol of classes"
    case .unowned: "it holds its values unowned: what is there may be gone, and a proxy would hide that"
    case .unknownStorage: "it is computed, and whether what it stores keeps its values alive does not show"
    case .proto(let name, let problem): "'\(name)': \(problem)"
    case .other(let text): text
    }
  }
}

struct DelegateProperty {
  /// `Shop.Cart.delegate`
  let selector: String
  let owner: Metadata
  let setter: [(ImageCatalog, Family)]
  let getter: [(ImageCatalog, Family)]
  /// Where it is stored; nil for computed properties.
  let field: StoredField?
  /// Of a computed property: the one stored property of its class that holds such values; nil where there is none, or several.
  let backing: StoredField?
  /// Setters and getters of subclasses that override the property.
  let subclasses: [(image: ImageCatalog, family: Family)]
  /// `any P`, or an Optional of it.
  let type: TypeInfo
  let protocols: [ProtocolDescriptor]

  var image: ImageCatalog { setter[0].0 }
  var module: String { setter[0].1.declaration.module }
  var isOptional: Bool { if case .optional = type.kind { true } else { false } }
  /// Values are kept alive by others.
  var isWeak: Bool { (field ?? backing)?.reference == .weak }

  init(_ selector: String) throws(DelegateProblem) {
    self.selector = selector
    switch SelectorLookup.resolve(selector + ".set") {
    case .success(let found): setter = found
    case .failure(.noSelectorInType(_, let type, let nearest)):
      throw .notFound(Self.noProperty(selector, type, nearest))
    case .failure(let problem): throw .notFound(problem.description)
    }
    if case .success(let found) = SelectorLookup.resolve(selector + ".get", suggesting: false) { getter = found } else { getter = [] }
    let declaration = setter[0].1.declaration
    guard declaration.contextKind == .classType, !declaration.isStatic, let context = declaration.context,
      case .success(let ownerInfo) = TypeResolver.shared.type(.nominal(context, kind: .classType, arguments: [])),
      let valueType = declaration.functionType.parameters.first?.type
    else { throw .notOfClass }
    let owner = ownerInfo.metadata
    self.owner = owner
    guard case .success(let type) = TypeResolver.shared.type(valueType) else { throw .noProtocol(valueType.description(qualified: true)) }
    self.type = type
    field = owner.storedFields.first { $0.name == declaration.name && $0.owner == owner }
    let like = owner.storedFields.filter { (try? $0.type.get().metadata) == type.metadata }
    backing = field == nil && like.count == 1 ? like[0] : nil
    subclasses = Self.subclasses(of: owner, declaration.name)
    let payload: TypeInfo
    if case .optional(let wrapped) = type.kind { payload = wrapped } else { payload = type }
    guard case .existential = payload.metadata.kind, payload.metadata.existential.isClassBound, !payload.metadata.existential.isError,
      payload.metadata.existential.witnessTables > 0, payload.metadata.existential.witnessTables == payload.metadata.protocols.count,
      payload.size == 8 * (1 + payload.metadata.protocols.count)
    else { throw .noProtocol(type.name) }
    protocols = payload.metadata.protocols
  }

  private static func noProperty(_ selector: String, _ type: String, _ nearest: [String]) -> String {
    let properties = nearest.filter { $0.hasSuffix(".set") || $0.hasSuffix(".get") }.map { "'\($0.dropLast(4))'" }.uniqued()
    let advice = properties.isEmpty ? "" : "; did you mean \(properties.joined(separator: " or "))?"
    return "'\(type)' has no property '\(selector.dropFirst(type.count + 1))' that is set by a setter\(advice)"
  }

  /// Why its values cannot stand behind proxies; nil when they can.
  func problem() -> DelegateProblem? {
    guard let place = field ?? backing else { return .unknownStorage }
    return place.reference == .unowned || place.reference == .unmanaged ? .unowned : nil
  }

  /// Accessors of the property that classes which inherit from `owner` have of their own: with observers, mostly.
  private static func subclasses(of owner: Metadata, _ name: String) -> [(image: ImageCatalog, family: Family)] {
    let escaped = name.split(separator: "*", omittingEmptySubsequences: false).joined(separator: "\\*")
    return ["get", "set"].flatMap { accessor in
      ProcessCatalog.shared.families(matching: SelectorPattern("**.\(escaped).\(accessor)")).filter { _, family in
        let declaration = family.declaration
        guard declaration.name == name, !declaration.isStatic, !declaration.isSubscript,
          declaration.kind == .getter || declaration.kind == .setter, let type = Self.type(of: declaration)
        else { return false }
        return type != owner && type.isSubclass(of: owner)
      }
    }.map { (image: $0, family: $1) }
  }

  /// The class whose member it is; nil for members of other types.
  static func type(of declaration: Declaration) -> Metadata? {
    guard declaration.contextKind == .classType, let context = declaration.context,
      case .success(let info) = TypeResolver.shared.type(.nominal(context, kind: .classType, arguments: []))
    else { return nil }
    return info.metadata
  }

  // MARK: Values

  /// The object of the value at `memory`, 0 for none.
  static func object(_ memory: UnsafeRawPointer) -> UInt { memory.load(as: UInt.self) }

  /// A value of the property's type: an object and its tables. Retains the object.
  /// - Parameter tables: in the order of `protocols`.
  func value(_ object: UInt, tables: [UnsafeRawPointer]) -> OwnedValue {
    let value = OwnedValue(uninitialized: type)
    value.memory.storeBytes(of: object, as: UInt.self)
    guard let pointer = UnsafeRawPointer(bitPattern: object) else { return value }
    for (index, table) in tables.enumerated() { value.memory.storeBytes(of: table, toByteOffset: 8 + 8 * index, as: UnsafeRawPointer.self) }
    // The value owns one reference.
    _ = Unmanaged<AnyObject>.fromOpaque(pointer).retain()
    return value
  }
}
