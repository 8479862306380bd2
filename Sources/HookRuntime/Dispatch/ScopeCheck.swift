// ScopeCheck — whether a selector's calls can be distinguished by whom they are on, before anything is changed.
//
// A hook for a subclass or an object must not be one that never fires: a class that has its own implementation does not
// run this one, a body that does not get self cannot tell whose call it is.
private import CHookTrampoline
private import SwiftMangling

extension HookedFamily {
  /// What the dispatcher compares, or why there is nothing to compare.
  /// - Parameter object: the object's entry; nil when the object is ending.
  func scope(_ scope: HookScope, by backEnd: BackEnd, _ object: (AnyObject) -> HookedObject?) -> Result<LayerScope, ScopeRefusal> {
    do throws(ScopeRefusal) {
      switch scope {
      case .type: return .success(.type)
      case .subclass(let type):
        try check(Metadata(type), by: backEnd, forObject: false)
        return .success(.subclass(Metadata(type)))
      case .object(let target):
        if let reason = ScopeRefusal.ofObjects(family) { throw reason }
        // An object's first word is its class; the runtime's own answer may be another one, for a switched class.
        let memory = Unmanaged.passUnretained(target).toOpaque()
        try check(Metadata(memory.load(as: UnsafeRawPointer.self)), by: backEnd, forObject: true)
        guard let hooked = object(target) else { throw .objectEnding }
        return .success(.object(hooked))
      }
    } catch { return .failure(error) }
  }

  /// How many bodies a hook with this scope sees all calls of.
  func reach(of scope: LayerScope) -> Int {
    if case .type = scope { return bodies.count }
    var reached = bodies.filter(\.knowsSelf)
    var rest = bodies.filter { !$0.knowsSelf }
    // What is entered from bodies alone that hand their calls on was seen there.
    while let index = rest.firstIndex(where: { each in
      image.isEntered(each.body, onlyFrom: reached.map(\.body).filter { $0.forwards(to: each.body) })
    }) {
      reached.append(rest.remove(at: index))
    }
    return reached.count
  }

  private func check(_ type: Metadata, by backEnd: BackEnd, forObject: Bool) throws(ScopeRefusal) {
    let key = ScopeKey(type: type, forObject: forObject)
    if let known = checkedScopes[key] {
      if let known { throw known }
    } else {
      do throws(ScopeRefusal) {
        try checkClass(type, forObject: forObject)
        checkedScopes[key] = .some(nil)
      } catch {
        checkedScopes[key] = error
        throw error
      }
    }
    // Bodies may have come since the class was checked.
    planAll()
    // A body may not look at self where the words of tables lead to it with one: its own entry does not tell.
    guard (backEnd == .entry ? bodies : bodies + arrivals).contains(where: \.knowsSelf) else { throw .selfRemoved }
  }

  func checkClass(_ type: Metadata, forObject: Bool) throws(ScopeRefusal) {
    let declaration = family.declaration
    guard let context = declaration.context else { throw .noObject }
    // Members of a protocol that only classes conform to run on objects, whatever their class.
    if declaration.contextKind == .protocolType, forObject { return }
    guard declaration.contextKind == .classType else { throw .noObject }
    guard case .classType = type.kind else { throw .notAClass(type.name) }
    guard let owner = type.ancestor(named: context) else { throw .notASubclass(type.name, of: "\(context)") }
    if declaration.kind.isDeinit { return }  // every class's runs, one after the other
    guard let other = Overrides.implementer(of: family, in: image, owner: owner, for: type) else { return }
    let selector = Overrides.selector(of: family, in: other)
    throw .overridden(class: type.name, by: other.name, selector: selector)
  }
}

/// What a scope was checked for.
struct ScopeKey: Hashable {
  let type: Metadata
  let forObject: Bool
}

extension Metadata {
  /// This class, or the one it inherits from, that has the name.
  fileprivate func ancestor(named name: NominalName) -> Metadata? {
    if case .success(let info) = TypeResolver.shared.type(.nominal(name, kind: .classType, arguments: [])) {
      return isSubclass(of: info.metadata) ? info.metadata : nil
    }
    // A generic class has metadata for each set of arguments, and the descriptor in common; a private one's name is not looked up.
    var each: Metadata? = self
    while let metadata = each {
      if let descriptor = metadata.descriptor, TypeCatalog.shared.name(of: descriptor) == PrivateNames.stripped("\(name)") {
        return metadata
      }
      each = metadata.superclass
    }
    return nil
  }
}
