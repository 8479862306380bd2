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
  /// `any P`, or an Optional of it.
  let type: TypeInfo
  let protocols: [ProtocolDescriptor]

  var image: ImageCatalog { setter[0].0 }
  var module: String { setter[0].1.declaration.module }
  var isOptional: Bool { if case .optional = type.kind { true } else { false } }
  /// Values are kept alive by others.
  var isWeak: Bool { field?.reference == .weak }

  init(_ selector: String) throws(DelegateProblem) {
    self.selector = selector
    switch SelectorLookup.resolve(selector + ".set") {
    case .success(let found): setter = found
    case .failure(.noSelectorInType(_, let type, let nearest)):
      throw .notFound(Self.noProperty(selector, type, nearest))
    case .failure(let problem): throw .notFound(problem.description)
    }
    if case .success(let found) = SelectorLookup.resolve(selector + ".get") { getter = found } else { getter = [] }
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
    if let field, field.reference == .unowned || field.reference == .unmanaged { return .unowned }
    return nil
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
