// HookPlace — from a place and a selector to the functions that are hooked, and for whose calls.
private import SwiftMangling

extension HookPlace {
  /// The functions a selector means here.
  func resolve(_ selector: String, _ scope: HookScope) throws(HookError) -> [HookRequest] {
    switch self {
    case .program: return try Self.find(selector).map { HookRequest(image: $0, family: $1, scope: scope) }
    case .type(let type): return try resolve(selector, Metadata(type), .type)
    case .object(let object): return try resolve(selector, Metadata(Swift.type(of: object) as Any.Type), .object(object))
    }
  }

  /// A member of the type, or the nearest it inherits.
  private func resolve(_ selector: String, _ type: Metadata, _ scope: HookScope) throws(HookError) -> [HookRequest] {
    let (prefix, member) = selector.hasPrefix("static ") ? ("static ", String(selector.dropFirst(7))) : ("", selector)
    var each: Metadata? = type
    while let owner = each {
      let name = Self.selectorName(of: owner)
      do throws(HookError) {
        // What a miss may have meant is of interest only where no class has it.
        let found = try Self.find("\(prefix)\(name).\(member)", suggesting: false)
        return found.map { HookRequest(image: $0, family: $1, scope: scoped(scope, owner, type, $1)) }
      } catch {
        guard case .notFound = error else { throw error }
      }
      each = owner.superclass
    }
    _ = try Self.find("\(prefix)\(Self.selectorName(of: type)).\(member)")
    throw .typeNotFound(Self.selectorName(of: type), nearest: [])
  }

  /// A member that another class declares is hooked for this one's instances.
  private func scoped(_ scope: HookScope, _ owner: Metadata, _ type: Metadata, _ family: Family) -> HookScope {
    guard case .type = scope, owner != type, family.declaration.hasInstance else { return scope }
    return .subclass(type.type)
  }

  /// A type as selectors spell it: without generic arguments.
  private static func selectorName(of type: Metadata) -> String {
    if let name = type.descriptor.flatMap(TypeCatalog.shared.name) { return name }
    return String(type.name.prefix { $0 != "<" })
  }

  private static func find(_ selector: String, suggesting: Bool = true) throws(HookError) -> [(ImageCatalog, Family)] {
    switch SelectorLookup.resolve(selector, suggesting: suggesting) {
    case .success(let found): return found
    case .failure(let problem): throw HookError(problem)
    }
  }

  func explain(_ selector: String) throws(HookError) -> String {
    Explanation.text(try resolve(selector, .type).map { ($0.image, $0.family) })
  }
}
