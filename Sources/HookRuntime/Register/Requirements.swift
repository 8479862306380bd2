// Requirements — a protocol's requirement as a selector: `Shop.CartDelegate.cartDidChange(_:)` means what all conforming
// types run for it.
//
// A requirement has no code. Its families are those of the methods that carry it out: the conforming types' own, what their
// subclasses override them with, default implementations of protocol extensions. Where a conformance's table holds a copy of the
// method and not a call of it, that witness is one more body of the method's family.
internal import SwiftMangling

extension [ImageCatalog] {
  /// The families that a pattern means: those that bear its name, and those that carry out the requirement it names.
  /// - Parameter toCall: without the copies in conformances' tables, for which the members of that name of all types are read: a call enters
  ///   the function itself.
  /// - Parameter isMeant: of a glob, those that are wanted; the copies in conformances' tables are not looked for of others.
  /// - Parameter limited: given up with `LimitedWork.isOver`; nothing may be kept of the answer then.
  package func families(
    matching pattern: SelectorPattern, toCall: Bool = false, limited: Bool = false, where isMeant: ((Family) -> Bool)? = nil
  ) -> [(ImageCatalog, Family)] {
    let wanted = pattern.module == nil ? filter(\.isMainProgram) : self
    let own = wanted.flatMap { image in
      image.families(matching: pattern, limited: limited).filter { isMeant?($0) ?? true }.map { (image, $0) }
    }
    if limited, LimitedWork.isOver { return [] }
    let named = toCall ? own : own.withWitnessCopies(limited: limited)
    // A glob for members of one type may name a protocol's; others name what types have.
    if pattern.isGlob { return pattern.isOfOneContext ? RequirementFamilies(named, pattern, self).found : named }
    // What is a type's own member is no requirement; of a protocol's name there may be default implementations.
    if !named.isEmpty, named.allSatisfy({ $0.1.declaration.contextKind != .protocolType }) { return named }
    return RequirementFamilies(named, pattern, self).found
  }
}

extension [ImageCatalog] {
  /// The families by which a requirement's calls are seen where they come through a conformance's table: the method's own,
  /// or the witness where that hands calls on to a virtual table, for objects of subclasses that override the method as well.
  /// - Parameter declaring: the images whose conformances are meant.
  func tableFamilies(of requirement: Declaration, declaring: [ImageCatalog]) -> [(ImageCatalog, Family)] {
    let pattern = SelectorPattern(PrivateNames.stripped(requirement.selectorName))
    return RequirementFamilies([], pattern, self, of: declaring, byTable: true, like: requirement).found
  }
}

extension ImageCatalog {
  /// The witnesses whose calls run the family's method and no other, or hold a copy of it.
  func witnesses(of family: Family) -> [Witness] {
    let all = witnesses(likeMember: family.declaration).all
    if hasWitness(named: family.key), let own = all.first(where: { $0.mangledName == family.key }) { return [own] }
    // Hundreds of types have an '==': what serves whom is found out for all of them at once.
    return servedWitnesses(like: family.declaration) {
      var served: [String: [Witness]] = [:]
      for witness in all {
        for (_, family) in RequirementFamilies([], in: self, of: witness).found { served[family.key, default: []].append(witness) }
      }
      return served
    }[family.key] ?? []
  }
}

/// One question, answered by init.
private struct RequirementFamilies {
  private(set) var found: [(ImageCatalog, Family)]
  private let images: [ImageCatalog]
  /// Calls are seen at the table's word, not at the method's entry.
  private let byTable: Bool

  init(
    _ named: [(ImageCatalog, Family)], _ pattern: SelectorPattern, _ images: [ImageCatalog], of declaring: [ImageCatalog]? = nil,
    byTable: Bool = false, like requirement: Declaration? = nil
  ) {
    found = named
    self.images = images
    self.byTable = byTable
    for image in declaring ?? images {
      for witness in image.witnesses(matching: pattern) {
        if let requirement, requirement.typedName(qualified: true) != witness.requirement.typedName(qualified: true) { continue }
        add(witness, in: image)
      }
    }
  }

  /// The methods that one witness runs, by its table.
  init(_ named: [(ImageCatalog, Family)], in image: ImageCatalog, of witness: Witness) {
    found = named
    images = [image]
    byTable = true
    add(witness, in: image)
  }

  private mutating func add(_ witness: Witness, in image: ImageCatalog) {
    let able = image.families(likeMember: witness.requirement)
    let own = ownMethods(able, witness)
    // With a method of just its type there is no other that could be meant.
    let isExact = own.contains { $0.declaration.functionType == witness.requirement.functionType }
    let serving = isExact ? own : own + able.all.filter { serves($0, witness, own) && !isOwn($0, of: witness) }
    let entries = Dictionary(
      serving.enumerated().flatMap { position, family in family.bodies.map { ($0.address, position) } },
      uniquingKeysWith: { first, _ in first })
    let methods = serving.filter { isClass($0, atOrAbove: witness.conformer) }
    switch image.destination(of: witness, among: Set(entries.keys), orAt: methods.map { image.virtualPlaces(of: $0) }) {
    case .bodies(let addresses):
      for address in addresses { include(serving[entries[address]!], image, witness) }  // it is one of the keys
    case .virtualTable where byTable: include(Family(witness, in: image), image, witness, body: Body(witness))
    case .virtualTable(let position):
      include(methods[position], image, witness)
      for (other, family) in overrides(of: methods[position], below: witness.conformer) { include(family, other, witness) }
    case .here:
      let elsewhere = byTable ? [] : imported(by: witness, in: image, own)
      for (other, family) in elsewhere { include(family, other, witness) }
      if elsewhere.isEmpty { includeItself(witness, able, image) }
    }
  }

  /// Puts the family in, once, as one that carries the requirement out.
  private mutating func include(_ family: Family, _ image: ImageCatalog, _ witness: Witness, body: Body? = nil) {
    var position = found.firstIndex { $0.0 === image && $0.1.key == family.key }
    if position == nil {
      found.append((image, family))
      position = found.count - 1
    }
    guard let position else { return }
    found[position].1.requirement = witness.requirement
    if let body, !found[position].1.bodies.contains(where: { $0.address == body.address }) { found[position].1.bodies.append(body) }
  }

  /// The witness is where the method runs.
  private mutating func includeItself(_ witness: Witness, _ able: Namesakes<Family>, _ image: ImageCatalog) {
    let inherited = able.all.first { isClass($0, atOrAbove: witness.conformer) }
    let family = ownMethods(able, witness).first ?? inherited ?? defaultImplementation(able, witness)
    var body = Body(witness)
    if let way = image.wayOfJump(body) { body.way = way }
    body.passage = image.passage(of: body)
    include(family ?? Family(witness, in: image), image, witness, body: body)
  }

  /// What the witness calls in other images: default implementations in the library that has the protocol. Their calls are seen there.
  private func imported(by witness: Witness, in image: ImageCatalog, _ own: [Family]) -> [(ImageCatalog, Family)] {
    let names = image.importedCallees(of: witness)
    if names.isEmpty { return [] }
    return images.filter { $0 !== image }.flatMap { other in
      other.families(likeMember: witness.requirement).all.filter { family in
        family.bodies.contains { names.contains($0.mangledName) } && (isOwn(family, of: witness) || serves(family, witness, own))
      }.map { (other, $0) }
    }
  }

  /// What the conforming type has under the requirement's name: of overloads the one that has its type, as far as that can be known. The
  /// others are what a copy of it in the witness may call.
  private func ownMethods(_ able: Namesakes<Family>, _ witness: Witness) -> [Family] {
    let own = able[witness.conformer.description]
    let exact = own.filter { $0.declaration.functionType == witness.requirement.functionType }
    return exact.isEmpty ? own : exact
  }

  private func isOwn(_ family: Family, of witness: Witness) -> Bool {
    family.declaration.context?.description == witness.conformer.description
  }

  /// The family's method may be what the conforming type has instead of one of its own: an ancestor's, or a default implementation.
  /// Where there is one of its own, and for methods of other types, it is what a copy of the type's method in the witness calls.
  private func serves(_ family: Family, _ witness: Witness, _ own: [Family]) -> Bool {
    guard family.declaration.contextKind == .protocolType || isClass(family, atOrAbove: witness.conformer) else { return false }
    return !own.contains { $0.declaration.functionType == family.declaration.functionType }
  }

  private func defaultImplementation(_ able: Namesakes<Family>, _ witness: Witness) -> Family? {
    let defaults = able.all.filter { $0.declaration.contextKind == .protocolType && $0.declaration.extensionModule != nil }
    return defaults.count == 1 ? defaults[0] : nil
  }

  /// The family is a method of the class, or of one that it inherits from.
  private func isClass(_ family: Family, atOrAbove name: NominalName) -> Bool {
    guard family.declaration.contextKind == .classType, let context = family.declaration.context?.description else { return false }
    var each: String? = "\(name)"
    for _ in 0..<Self.deepest {
      guard let here = each else { return false }
      if here == context { return true }
      each = images.lazy.compactMap { $0.superclasses[here] }.first
    }
    return false
  }
  private static let deepest = 64

  /// The methods with which subclasses of the class override the family's.
  private func overrides(of family: Family, below name: NominalName) -> [(ImageCatalog, Family)] {
    var result: [(ImageCatalog, Family)] = []
    for image in images {
      for other in image.families(likeMember: family.declaration).all
      where other.key != family.key && other.declaration.contextKind == .classType && image.isOverride(other) {
        guard let context = other.declaration.context, context != name else { continue }
        if isBelow(context, name) { result.append((image, other)) }
      }
    }
    return result
  }

  private func isBelow(_ subclass: NominalName, _ name: NominalName) -> Bool {
    var each: String? = "\(subclass)"
    for _ in 0..<Self.deepest {
      guard let here = each else { return false }
      if here == "\(name)" { return true }
      each = images.lazy.compactMap { $0.superclasses[here] }.first
    }
    return false
  }
}

extension Body {
  init(_ witness: Witness) {
    var declaration = witness.requirement
    declaration.isWitness = true
    self.init(
      form: .witness("of \(PrivateNames.stripped(witness.requirement.selectorName)) for \(witness.conformer.shortName)"),
      declaration: declaration, mangledName: witness.mangledName, address: witness.address, size: witness.size,
      available: witness.available)
  }
}

extension Family {
  /// A method of which nothing is left but the witness.
  fileprivate init(_ witness: Witness, in image: ImageCatalog) {
    let protocolName = PrivateNames.stripped("\(witness.requirement.context?.description ?? witness.requirement.module)")
    let requirement = PrivateNames.stripped(witness.requirement.selectorName)
    let prefix = witness.requirement.isStatic ? "static " : ""
    let member = requirement.dropFirst(prefix.utf8.count + protocolName.utf8.count)
    self.init(
      selector: prefix + PrivateNames.stripped("\(witness.conformer)") + member, declaration: witness.requirement, key: witness.mangledName,
      imagePath: image.path, bodies: [])
  }
}

extension ImageCatalog {
  func destination(of witness: Witness, among entries: Set<UInt64>, orAt places: [[VirtualPlace]]) -> Witness.Destination {
    let witness = behindEqualWitnesses(witness, among: entries)
    guard let code = file.bytes(at: witness.address - bias, count: witness.size)?.baseAddress else { return .here }
    let reader = MetadataReader(file: file)
    return witness.destination(code, among: entries, orAt: places) { address in
      if let imported = reader.importStub(at: address &- bias) { return String(decoding: imported, as: UTF8.self) }
      return symbols.symbols(at: address &- bias).first?.nameText
    }
  }

  /// Equal witnesses of several classes are one function without a name, to which they jump, or which is all that they call.
  private func behindEqualWitnesses(_ witness: Witness, among entries: Set<UInt64>) -> Witness {
    func isUnnamed(_ address: UInt64) -> Bool {
      symbols.symbols(at: address).isEmpty && MetadataReader(file: file).importStub(at: address) == nil
    }
    if let way = wayOfJump(Body(witness)) {
      guard let through = way.through, !way.forwardsTo.contains(where: entries.contains), isUnnamed(through.lowerBound - bias) else { return witness }
      return witness.moved(to: through)
    }
    guard witness.size <= Int(SharedCode.longestJump), let code = file.bytes(at: witness.address - bias, count: witness.size)?.baseAddress
    else { return witness }
    let targets = witness.exits(code)
    guard targets.count == 1, targets[0] > bias, !entries.contains(targets[0]), isUnnamed(targets[0] - bias) else { return witness }
    let size = functionSize(at: targets[0] - bias)
    return size > 0 ? witness.moved(to: targets[0]..<targets[0] + UInt64(size)) : witness
  }

  /// The mangled names of Swift functions of other images that the witness calls.
  func importedCallees(of witness: Witness) -> Set<String> {
    guard let code = file.bytes(at: witness.address - bias, count: witness.size)?.baseAddress else { return [] }
    let reader = MetadataReader(file: file)
    let names = witness.exits(code).compactMap { reader.importStub(at: $0 &- bias).map { String(decoding: $0, as: UTF8.self) } }
    return Set(names.filter { $0.hasPrefix("$s") })
  }

  /// Where the family's method stands in virtual tables.
  func virtualPlaces(of family: Family) -> [VirtualPlace] {
    guard case .success(let slots) = methodSlots(of: family) else { return [] }
    return slots.map { slot in
      var place = VirtualPlace(dispatchers: dispatchers(of: slot))
      guard case .address(let introducer) = slot.introducer, case .address(let entry) = slot.entry, let record = classes[introducer],
        let index = record.vtable.firstIndex(where: { $0.descriptor == entry })
      else { return place }
      if let behind = record.vtableBehindMembers {
        place.offset = 8 * (behind.offset + index)
        place.bounds = behind.bounds &+ bias
      } else {
        place.offset = record.vtableOffset.map { 8 * ($0 + index) }
      }
      return place
    }
  }

  /// The entry's symbol is the method's and `Tq`, that of the function that dispatches by it the method's and `Tj`.
  private func dispatchers(of slot: MethodSlot) -> Set<String> {
    let entries: [String]
    switch slot.entry {
    case .address(let address): entries = metadataSymbols.names(at: address)
    case .symbol(let name): entries = [name]
    }
    return Set(entries.filter { $0.hasSuffix("Tq") }.map { $0.dropLast(2) + "Tj" })
  }

  func isOverride(_ family: Family) -> Bool {
    if let known = lock.withLock({ overridesKnown[family.key] }) { return known }
    var isOverride = false
    if case .success(let slots) = methodSlots(of: family) { isOverride = slots.contains(where: \.isOverride) }
    lock.withLock { overridesKnown[family.key] = isOverride }
    return isOverride
  }
}
