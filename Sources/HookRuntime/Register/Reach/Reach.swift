// Reach — which back ends are possible for a selector, and how far each would reach: by the images' files alone, so that the
// same is said of a program that does not run.
//
// "All" is claimed only where it is proven: the code was compiled without the optimiser, its debug information covers the
// function and knows no inlined copy of it, and all images that could hold one are known in the same way. What the compiler
// made of a call in optimised code is not known.
private import SwiftMangling

package struct Reach {
  private let family: Family
  private let image: ImageCatalog
  private let images: [ImageCatalog]

  /// - Parameter images: those of the program, `image` among them.
  package init(_ family: Family, in image: ImageCatalog, among images: [ImageCatalog]) {
    self.family = family
    self.image = image
    self.images = images
  }

  /// Every back end but for C functions', in the order in which they are reported.
  package func all() -> [BackEndReach] {
    var all = [entry(), vtable(), classSwitch(), dynamic(), witness()]
    // As the engine does for a hook of the type's calls.
    let possible = ([.entry] + BackEnd.besideEntry(for: .type)).first { backEnd in
      all.contains { $0.backEnd == backEnd && $0.refusal == nil }
    }
    for index in all.indices { all[index].isChosen = all[index].backEnd == possible }
    return all
  }

  // MARK: What is known

  /// Every call of the function, however it is written, runs one of its bodies.
  private func isProven() -> Bool {
    guard image.inlineTable.isUnoptimized, let body = family.bodies.first, image.inlineTable.covers(body.mangledName),
      image.inlinedCopies(of: family) == 0, !isStoredProperty, !image.isEnteredByNobody(family)
    else { return false }
    return clients.allSatisfy {
      $0.inlineTable.isUnoptimized && $0.inlineTable.copies(ofMangledName: Array(body.mangledName.utf8)) == .known(0)
    }
  }

  /// Images whose code was compiled with knowledge of this one's.
  private var clients: [ImageCatalog] {
    let name = image.path.split(separator: "/").last.map(String.init) ?? image.path
    return images.filter { $0 !== image && $0.file.needed.contains(name) }
  }

  /// Whoever knows the layout reads and writes the memory itself.
  private var isStoredProperty: Bool {
    guard family.declaration.kind.isAccessor, !family.declaration.isSubscript,
      let address = image.metadataSymbols.typeDescriptor(aroundMember: family.key),
      let type = image.types.types.first(where: { $0.descriptor == address })
    else { return false }
    return type.fields.contains { $0.name == family.declaration.name }
  }

  // MARK: Each back end

  private func entry() -> BackEndReach {
    guard !family.bodies.isEmpty else { return BackEndReach(.entry, HookRefusal.noBody) }
    let refused = family.bodies.compactMap { image.refusal(of: $0, in: family) }
    if refused.count == family.bodies.count { return BackEndReach(.entry, refused[0]) }
    let isAll = refused.isEmpty && isProven()
    return BackEndReach(
      .entry, "the first bytes of \(family.bodies.count - refused.count) of \(count(family.bodies.count, "body", "bodies"))",
      Dictionary(uniqueKeysWithValues: CallWay.allCases.map { ($0, isAll ? .all : .some) }),
      limits: refused.isEmpty ? [] : ["calls that go to a refused body are missed"])
  }

  private func vtable() -> BackEndReach {
    switch tables() {
    case .failure(let reason): return BackEndReach(.vtable, reason)
    case .success(let (name, subclasses)):
      let generic = subclasses.filter(\.isGeneric).map(\.name)
      return BackEndReach(
        .vtable,
        "a word in the metadata of '\(name)'"
          + (subclasses.isEmpty ? "" : " and of its \(count(subclasses.count, "subclass", "subclasses")) where they inherit it"),
        tableClaims(isAll: generic.isEmpty), limits: generic.map { "objects of generic subclass '\($0)' that was used before are missed" })
    }
  }

  private func classSwitch() -> BackEndReach {
    if let reason = ScopeRefusal.ofObjects(family) { return BackEndReach(.classSwitch, .scope(reason)) }
    switch tables() {
    case .failure(let reason): return BackEndReach(.classSwitch, reason)
    case .success(let (name, subclasses)):
      guard let record = image.classRecord(of: family) else { return BackEndReach(.classSwitch, .noSlot(.inExtension)) }
      if record.isActor { return BackEndReach(.classSwitch, .actor(name)) }
      // Of a class that may be final, a subclass's objects can be switched; it has none.
      if subclasses.isEmpty, !record.vtable.contains(where: { $0.kind != .initializer }) { return BackEndReach(.classSwitch, .mayBeFinal(name)) }
      return BackEndReach(
        .classSwitch, "the class of one object", tableClaims(isAll: true),
        limits: ["'type(of:)' of the object is another class", "an object of a class that may be final is refused"])
    }
  }

  private func tableClaims(isAll: Bool) -> [CallWay: ReachClaim] {
    // Without the optimiser, what subclasses may override is called through the table; what a witness or a key path does is
    // theirs.
    let virtual: ReachClaim = isAll && isProven() ? .all : .some
    return [.virtual: virtual, .direct: .some, .viaProtocol: .some, .keyPath: .some, .closure: .some]
  }

  /// The class that has the slot, and its subclasses.
  private func tables() -> Result<(name: String, subclasses: [TypeRecord]), BackEndRefusal> {
    if family.declaration.hasCoroutineRecord { return .failure(.coroutineRecord) }
    let slots: [MethodSlot]
    do throws(NoSlot) { slots = try image.methodSlots(of: family).get() } catch { return .failure(.noSlot(error)) }
    guard !slots.isEmpty, let record = image.classRecord(of: family) else { return .failure(.noSlot(.notVirtual)) }
    if record.isGeneric { return .failure(.genericClass(record.name)) }
    return .success((record.name, subclasses(of: record.name)))
  }

  private func subclasses(of name: String) -> [TypeRecord] {
    var found: [TypeRecord] = []
    var queue = [name]
    while let next = queue.popLast() {
      for image in images {
        for subclass in image.subclasses[next] ?? [] where !found.contains(where: { $0.name == subclass.name }) {
          found.append(subclass)
          queue.append(subclass.name)
        }
      }
    }
    return found
  }

  private func dynamic() -> BackEndReach {
    guard image.dynamicVariable(of: family) != nil else { return BackEndReach(.dynamic, .notDynamic) }
    return BackEndReach(
      .dynamic, "the variable through which the function is replaced",
      // The compiler never looks into such a function: every call of it runs it, and it asks for its variable.
      Dictionary(uniqueKeysWithValues: CallWay.allCases.map { ($0, .all) }),
      limits: ["a replacement that is loaded later stands before it: the hook sees what that forwards, and lists tell"])
  }

  private func witness() -> BackEndReach {
    // A requirement is hooked by the tables of all who conform; a method, by those that lead to it alone.
    var witnesses: [(ImageCatalog, Witness)] = image.witnesses(of: family).map { (image, $0) }
    if let requirement = family.requirement {
      witnesses = images.flatMap { image in image.witnesses(likeMember: requirement).all.map { (image, $0) } }
        .filter { $0.1.requirement.typedName(qualified: true) == requirement.typedName(qualified: true) }
    }
    if witnesses.isEmpty { return BackEndReach(.witness, .noWitness) }
    if family.declaration.hasCoroutineRecord { return BackEndReach(.witness, .coroutineRecord) }
    let generic = witnesses.filter { $0.0.isTableInstantiated($0.1) }
    if generic.count == witnesses.count {
      return BackEndReach(.witness, .genericConformance("\(generic[0].1.conformer)", to: generic[0].1.protocolName))
    }
    let names = witnesses.map(\.1.protocolName).uniqued()
    var limits = generic.map { "'\($0.1.conformer)' is missed: it has a table for each set of generic arguments" }
    let conformers = Set(images.flatMap { image in image.witnesses(likeMember: witnesses[0].1.requirement).all.map { "\($0.conformer)" } })
    if conformers.count == 1, !image.inlineTable.isUnoptimized {
      limits.append("one type conforms: calls through the protocol may be direct where the compiler knew")
    }
    return BackEndReach(
      .witness,
      "a word in \(count(witnesses.count - generic.count, "table", "tables")) of \(names.map { "'\($0)'" }.joined(separator: " and "))",
      // Key paths and closures may have been made of the requirement.
      [.viaProtocol: generic.isEmpty && isProven() ? .all : .some, .keyPath: .some, .closure: .some], limits: limits)
  }

  private func count(_ n: Int, _ one: String, _ many: String) -> String { n == 1 ? "1 \(one)" : "\(n) \(many)" }
}

extension ImageCatalog {
  /// The conformance's table is made at run time for each set of generic arguments.
  fileprivate func isTableInstantiated(_ witness: Witness) -> Bool {
    let name = PrivateNames.stripped("\(witness.conformer)")
    let records = conformances[name]?.filter { $0.protocolName == witness.protocolName } ?? []
    guard !records.isEmpty, records.allSatisfy(\.isTableMade) else { return false }
    return types.types.first { $0.name == name }?.isGeneric ?? true
  }
}

extension ImageCatalog {
  /// The variable through which the family's function is replaced, and the function; nil unless it was compiled `dynamic`.
  func dynamicVariable(of family: Family) -> (address: UInt64, body: Body)? {
    for body in family.bodies where body.isOwn {
      if let address = metadataSymbols.address(body.mangledName + "TX") { return (address, body) }
    }
    return nil
  }
}
