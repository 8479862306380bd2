// CallableLookup — from a selector, or an object and a member's name, to the function that is called.
private import Glibc
private import SwiftMangling

/// Finds callables and remembers them. Any thread.
package final class CallableLookup: @unchecked Sendable {
  // All state is behind `lock`.
  package static let shared = CallableLookup()
  private let lock = RecursiveLock()
  private var bySelector: [String: Result<Made, CallError>] = [:]
  private var seen: UInt64 = .max
  private let planner = CallPlanner()

  private enum Made {
    case callable(Callable)
    case generic(GenericFunction)

    func callable(on type: Metadata?) throws(CallError) -> Callable {
      switch self {
      case .callable(let callable): callable
      case .generic(let function): try function.callable(on: type)
      }
    }
  }

  /// The function an exact selector means.
  /// - Parameter type: of the instances it will be called on, which settles what members of generic types are; nil: not known.
  package func callable(_ selector: String, on type: Metadata? = nil) throws(CallError) -> Callable {
    if let added = RuntimeMembers.addedMethod(selector) { return added }
    if let type, let own = RuntimeMembers.with(type)?.implementedMember(selector) { return own }
    let made = try lock.withLock { () throws(CallError) in
      // What was not found may have come with an image since.
      let change = LoadedImages.changeCount
      if seen != change {
        seen = change
        bySelector = bySelector.filter { if case .success = $0.value { true } else { false } }
      }
      if let known = bySelector[selector] { return try known.get() }
      let made: Result<Made, CallError>
      do throws(CallError) { made = .success(try find(selector)) } catch { made = .failure(error) }
      // Of a search that was given up nothing is known.
      if !LimitedWork.isOver { bySelector[selector] = made }
      return try made.get()
    }
    return try made.callable(on: type)
  }

  private func find(_ selector: String) throws(CallError) -> Made {
    guard !SelectorPattern(selector).isGlob else {
      throw .notFound("'\(selector)' is a pattern; a call needs one function's name, and '\\*' is the operator")
    }
    switch SelectorLookup.resolve(selector, toCall: true) {
    case .failure(let problem): throw CallError(problem)
    case .success(let found):
      if found.count > 1, let requirement = found[0].1.requirement {
        throw .notFound(
          "'\(requirement.selectorName)' is a protocol's requirement, which \(found.count) types carry out; name the type's own")
      }
      return try make(found)
    }
  }

  /// One family, or the same generic one in several images.
  private func make(_ found: [(ImageCatalog, Family)]) throws(CallError) -> Made {
    let (image, family) = found.first { Self.base(of: $0.1) != nil } ?? found[0]
    do throws(CallRefusal) { return try make(family, image) } catch {
      throw .refused(selector: family.selector, reason: error.description)
    }
  }

  private func make(_ family: Family, _ image: ImageCatalog) throws(CallRefusal) -> Made {
    let body = try Self.body(of: family, in: image)
    if let generic = try genericPlan(body, image) {
      return .generic(
        try GenericFunction(
          body.declaration, selector: family.selector, generic, selfPlan: image.selfPlan(of: body, by: generic.plan),
          entry: UInt(body.address),
          asyncPointer: try asyncPointer(body, generic.plan, image)))
    }
    let (plan, selfPlan) = try plan(body, family, image)
    return .callable(
      try Callable(
        body.declaration, selector: family.selector, plan: plan, selfPlan: selfPlan, entry: UInt(body.address),
        asyncPointer: try asyncPointer(body, plan, image)))
  }

  /// nil for what is not async.
  private func asyncPointer(_ body: Body, _ plan: CallPlan, _ image: ImageCatalog) throws(CallRefusal) -> UInt? {
    guard plan.isAsync else { return nil }
    guard let record = image.asyncEntries.record(at: body.address - image.bias) else { throw .isAsync }
    switch image.callersActor(body) {
    case .taken: throw .needsActor
    case .undecided: throw .convention(Declaration.callersActorIsUnknown)
    case .notTaken: break
    }
    return UInt(record.address + image.bias)
  }

  /// nil for what is not generic.
  private func genericPlan(_ body: Body, _ image: ImageCatalog) throws(CallRefusal) -> GenericPlan? {
    let plan: GenericPlan?
    do throws(TypeProblem) { plan = try image.genericPlanToCall(body) } catch { throw .generic(error.description) }
    if plan != nil, let reason = CallPlanner.distrust(body.declaration) { throw .convention(reason) }
    return plan
  }

  /// The plan of the declared convention, and where `self` goes.
  private func plan(_ body: Body, _ family: Family, _ image: ImageCatalog) throws(CallRefusal) -> (CallPlan, SelfPlan) {
    if CallPlanner.distrust(body.declaration) != nil {
      // What the body's code bears out, or nothing.
      let plan = image.plan(of: body, in: family)
      if let reason = plan.obstacle { throw .convention(reason) }
      return (plan, plan.selfPlan)
    }
    // Whoever else enters the same code, and whatever they leave out, a call made here is this selector's and whole.
    let plan = planner.plan(body.declaration)
    switch body.declaration.contextKind {
    case .structure, .enumeration:
      if body.declaration.isStatic || body.declaration.kind == .allocatingInit { return (plan, plan.selfPlan) }
      // Whether it is mutating only the code tells.
      let shown = image.planToCall(body, in: family)
      return (shown.thrownValue == nil ? plan : shown, image.selfPlan(of: body, by: shown))
    default: return (plan.changed(selfUse: image.selfUse(of: body, by: plan)), plan.selfPlan)
    }
  }

  private static func base(of family: Family) -> Body? {
    family.bodies.first { body in
      switch body.form {
      case .base, .sharesCodeOf: body.declaration.specialization.isEmpty
      default: false
      }
    }
  }

  private static func body(of family: Family, in image: ImageCatalog) throws(CallRefusal) -> Body {
    let declaration = family.declaration
    if family.imported != nil { throw .imported }
    if let name = image.forbiddenName, name.lowercased().hasPrefix("libscripthost") { throw .ownMachinery(name) }
    if declaration.kind.isDeinit { throw .deinitialiser }
    if declaration.isCoroutine { throw .coroutine }
    let function = declaration.functionType
    if case .typed = function.thrown, function.isAsync { throw .isAsync }
    if declaration.isAsyncAccessor { throw .convention("whether an async getter throws is not in its name") }
    if declaration.contextKind == .protocolType { throw .receiver("it is a member of a protocol; name the type's own") }
    guard let base = base(of: family) else {
      guard let first = family.bodies.first else { throw .noBody }
      if first.form == .initialising { throw .onlyClones([first.form.words]) }
      throw .onlyClones(family.bodies.map(\.form.words).uniqued())
    }
    return base
  }

  // MARK: Members of an object or type

  /// What a name after a dot means for values of one type.
  package enum Member: Sendable {
    /// `set` is nil where the program has no setter.
    case property(get: Result<Callable, CallError>, set: Result<Callable, CallError>?, isObserved: Bool)
    /// Methods of that base name, by their selectors.
    case methods([String])
  }

  /// Types whose members `type` has, the nearest first, with their names.
  private static func owners(of type: Metadata) -> [(name: String, type: Metadata)] {
    var owners: [(name: String, type: Metadata)] = []
    var each: Metadata? = type
    while let metadata = each {
      let name = _typeName(metadata.type, qualified: true)
      // A generic class's members are named without its arguments; a private one's cannot be spelled.
      if !name.contains("(unknown context") { owners.append((String(name.prefix { $0 != "<" }), metadata)) }
      each = metadata.superclass
    }
    return owners
  }

  /// The member `name` of the type or its superclasses, extensions included; nil when there is none.
  package func member(_ name: String, of type: Metadata, isStatic: Bool) -> Member? {
    let escaped = name.split(separator: "*", omittingEmptySubsequences: false).joined(separator: "\\*")
    var methods: [String] = []
    var seen: Set<String> = []
    if !isStatic, let own = RuntimeMembers.with(type)?.implementedMember(base: name) { return own }
    for each in RuntimeMembers.chain(of: type) where !isStatic {
      // The nearest class's override hides what it overrides.
      methods += each.addedSelectors(base: name).filter { seen.insert(Self.withoutOwner($0)).inserted }
    }
    for (owner, metadata) in Self.owners(of: type) {
      if methods.isEmpty, let property = property(families("\(owner).\(escaped).*", owner, name, isStatic), on: type) { return property }
      for (_, family) in families("\(owner).\(escaped)(**", owner, name, isStatic) where family.declaration.kind == .function {
        // An override has the typed member name of what it overrides, and hides it.
        let typed = family.typedSelector.dropStatic().dropFirst(owner.utf8.count)
        if seen.insert(Self.typedMember(of: family, in: metadata)).inserted {
          methods.append(selector(of: family, typed: String(typed), owner))
        }
      }
    }
    return methods.isEmpty ? nil : .methods(methods.uniqued())
  }

  /// `discount(for:)` of the selector of an added method.
  private static func withoutOwner(_ selector: String) -> String {
    let head = selector.prefix { $0 != "(" }
    return head.lastIndex(of: ".").map { String(selector[selector.index(after: $0)...]) } ?? selector
  }

  /// The member with its types as they are for this very type, without its owner's name.
  private static func typedMember(of family: Family, in type: Metadata) -> String {
    var declaration = family.declaration
    var table: [GenericParameterKey: TypeSyntax] = [:]
    var arguments = type.genericArgumentMetadata[...]
    for (depth, count) in (type.descriptor?.genericLevels ?? []).enumerated() {
      for index in 0..<count {
        if let argument = arguments.popFirst() ?? nil { table[GenericParameterKey(depth: depth, index: index)] = TypeSyntax(argument) }
      }
    }
    declaration.type = declaration.type?.substituting(table)
    let name = declaration.typedName(qualified: false).dropStatic()
    return String(name.dropFirst(declaration.context?.description.utf8.count ?? 0))
  }

  /// Overloads that differ by type alone are distinguished by their types.
  private func selector(of family: Family, typed: String, _ owner: String) -> String {
    let plain = family.selector
    guard case .success(let found) = SelectorLookup.resolve(plain, suggesting: false), Set(found.map(\.1.key)).count == 1 else {
      return (family.declaration.isStatic ? "static " : "") + owner + typed
    }
    return plain
  }

  private func property(_ found: [(ImageCatalog, Family)], on type: Metadata) -> Member? {
    let accessors = found.filter { !$0.1.declaration.isSubscript }
    guard let first = accessors.first else { return nil }
    func made(_ kind: EntityKind) -> Result<Callable, CallError>? {
      guard let accessor = accessors.first(where: { $0.1.declaration.kind == kind }) else { return nil }
      do throws(CallError) { return .success(try make([accessor]).callable(on: type)) } catch { return .failure(error) }
    }
    let name = String(first.1.selector[..<(first.1.selector.lastIndex(of: ".") ?? first.1.selector.endIndex)])
    return .property(
      get: made(.getter) ?? .failure(.refused(selector: name + ".get", reason: CallRefusal.noBody.description)), set: made(.setter),
      isObserved: accessors.contains { $0.1.declaration.kind == .didSet || $0.1.declaration.kind == .willSet })
  }

  private func families(_ glob: String, _ owner: String, _ name: String, _ isStatic: Bool) -> [(ImageCatalog, Family)] {
    ProcessCatalog.shared.families(matching: SelectorPattern(glob)).filter { _, family in
      let declaration = family.declaration
      return declaration.name == name && declaration.isStatic == isStatic && declaration.context?.description == owner
    }
  }

  /// The function `member` (`add(_:price:)`, `title.get`, or with its type before it) is for objects of `type`.
  package func callable(_ member: String, of type: Metadata, isStatic: Bool = false) throws(CallError) -> Callable {
    let names = Self.owners(of: type).map(\.name)
    let prefix = isStatic ? "static " : ""
    let bare = String(member.dropStatic())
    for owner in names {
      guard bare.hasPrefix(owner + ".") else { continue }
      let found = try callable(prefix + bare, on: type)
      // Named by the class that added it, called on a subclass's object: as all calls do, it runs the nearest class's.
      guard !isStatic, RuntimeMembers.addedMethod(bare) != nil else { return found }
      let name = Self.withoutOwner(bare)
      return RuntimeMembers.chain(of: type).lazy.compactMap { $0.addedCallable(name) }.first ?? found
    }
    for each in RuntimeMembers.chain(of: type) where !isStatic {
      if let own = each.addedCallable(bare) ?? each.implementedMember(bare) { return own }
    }
    var first: CallError?
    for owner in names {
      do throws(CallError) { return try callable("\(prefix)\(owner).\(bare)", on: type) } catch {
        // Found and refused, or ambiguous: the superclass's is another function.
        switch error {
        case .noMember, .notFound: first = first ?? error
        default: throw error
        }
      }
    }
    // A member of a class that is none of these: the receiver is what is wrong. The nearest names, for which all of the program's are
    // read, nobody would see.
    if case .success = SelectorLookup.resolve(prefix + bare, suggesting: false, toCall: true), let other = try? callable(prefix + bare) {
      return other
    }
    throw first ?? .noMember(selector: member, type: nil, nearest: [])
  }
}
