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
        var found = try Self.named(owner, member, isStatic: !prefix.isEmpty) ?? []
        if found.isEmpty { found = try Self.find("\(prefix)\(name).\(member)", suggesting: false) }
        return found.map { HookRequest(image: $0, family: $1, scope: scoped(scope, owner, type, $1)) }
      } catch {
        guard case .notFound = error else { throw error }
      }
      each = owner.superclass
    }
    _ = try Self.find("\(prefix)\(Self.selectorName(of: type)).\(member)")
    throw .typeNotFound(Self.selectorName(of: type), nearest: [])
  }

  /// A member that another class declares is hooked for this one's instances, a static one for calls on this class.
  private func scoped(_ scope: HookScope, _ owner: Metadata, _ type: Metadata, _ family: Family) -> HookScope {
    guard case .type = scope, owner != type, family.declaration.hasInstance || family.declaration.isStatic else { return scope }
    return .subclass(type.type)
  }

  /// A type as selectors spell it: without generic arguments.
  private static func selectorName(of type: Metadata) -> String {
    if let name = type.descriptor.flatMap(TypeCatalog.shared.name) { return name }
    return String(type.name.prefix { $0 != "<" })
  }

  /// Members of a type whose name is not its own: private to a file, or of a function. Found by the symbol of the type's descriptor, with
  /// which the names of its members begin. Nil for other types, and where the symbol was stripped: then names alone tell.
  private static func named(_ type: Metadata, _ member: String, isStatic: Bool) throws(HookError) -> [(ImageCatalog, Family)]? {
    guard let descriptor = type.descriptor, TypeDescriptor.isInAnonymousContext(descriptor.pointer),
      let image = ConformanceScan.image(containing: descriptor.pointer)
    else { return nil }
    let address = UInt64(UInt(bitPattern: descriptor.pointer)) - image.bias
    guard let symbol = image.metadataSymbols.names(at: address).first(where: { $0.hasSuffix("Mn") }) else { return nil }
    let beginning = symbol.dropLast(2), name = selectorName(of: type).split(separator: ".").last ?? ""
    let text = "\(isStatic ? "static " : "")**.\(name).\(member)"
    let found = image.families(matching: SelectorPattern(text)).filter { family in
      family.declaration.isStatic == isStatic && family.key.hasPrefix(beginning)
    }
    if found.isEmpty { throw .notFound(selector: member, type: String(selectorName(of: type)), nearest: []) }
    if SelectorPattern(member).isGlob || Set(found.map(\.key)).count == 1 { return found.map { (image, $0) } }
    throw .ambiguous(selector: member, candidates: found.map { image.fullName($0, typed: true) }.uniqued())
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
