// WitnessCopies — witnesses that hold a copy of the method that carries a requirement out, a default implementation among them.
//
// Calls through the protocol run nothing else then: a hook on the method by its own name stands at the witness, too.
internal import SwiftMangling

extension [(ImageCatalog, Family)] {
  /// The families, methods of types with what conformances' tables have in their stead.
  func withWitnessCopies(limited: Bool) -> Self {
    let isFew = count <= Self.few
    if count > Self.many { readMembersOfMany() }
    var steps = LimitedWork.Steps(each: 16)
    return map { image, family in
      if limited, steps.areOver() { return (image, family) }
      let copies = image.witnessCopies(of: family, isOneOfMany: !isFew)
      if copies.isEmpty { return (image, family) }
      var family = family
      family.bodies += copies
      return (image, family)
    }
  }

  /// Where many of an image's functions are asked about, one reading of all its members is shorter than one for each name.
  private func readMembersOfMany() {
    for (image, asked) in Dictionary(grouping: self, by: { ObjectIdentifier($0.0) }).values.lazy.map({ ($0[0].0, $0.count) })
    where asked > Swift.max(Self.many, image.symbols.loadedIndex.order.count / 16) { image.readServingMembers() }
  }

  /// So many are looked for one by one, without reading the names of all witnesses.
  private static var few: Int { 8 }
  /// So many may be worth a reading of all members.
  private static var many: Int { 500 }
}

extension ImageCatalog {
  /// Bodies of the family in conformances' tables, which are copies of its method.
  fileprivate func witnessCopies(of family: Family, isOneOfMany: Bool) -> [Body] {
    guard family.imported == nil, family.requirement == nil, !family.bodies.isEmpty, let owner = family.declaration.context?.description,
      family.declaration.localContext.isEmpty, !family.declaration.kind.isClosure, !family.declaration.kind.isDeinit
    else { return [] }
    if family.declaration.contextKind == .protocolType { return copies(of: family, in: witnesses(of: family), []) }
    let able = isOneOfMany ? witnesses(likeMember: family.declaration) : namedWitnesses(like: family.declaration)
    let own = able[owner]
    if own.isEmpty { return [] }
    let places = family.declaration.contextKind == .classType ? [virtualPlaces(of: family)] : []
    return copies(of: family, in: own.filter { isOfSameType($0, family) }, places)
  }

  /// The witnesses that hold a copy of the family's method, as its bodies.
  private func copies(of family: Family, in witnesses: [Witness], _ places: [[VirtualPlace]]) -> [Body] {
    let entries = Set(family.bodies.map(\.address))
    return witnesses.compactMap { witness in
      if entries.contains(witness.address) { return nil }
      guard case .here = destination(of: witness, among: entries, orAt: places), importedCallees(of: witness).isEmpty || !callsNamesake(witness)
      else { return nil }
      var body = Body(witness)
      if let way = wayOfJump(body) { body.way = way }
      body.passage = passage(of: body)
      return body
    }
  }

  /// A default implementation of another image is what it calls, not a copy.
  private func callsNamesake(_ witness: Witness) -> Bool {
    var parser = SymbolParser()
    let member = MemberKey(witness.requirement)
    return importedCallees(of: witness).contains { name in parser.declaration(name).map { MemberKey($0) == member } ?? false }
  }

  /// Of overloads, the one that has the requirement's type is its witness; a requirement that speaks of associated types has no other's.
  private func isOfSameType(_ witness: Witness, _ family: Family) -> Bool {
    if witness.requirement.functionType == family.declaration.functionType { return true }
    return families(likeMember: family.declaration)[witness.conformer.description].allSatisfy { $0.key == family.key }
  }

  /// The witnesses of requirements with that name, labels and kind, found by the name alone.
  private func namedWitnesses(like declaration: Declaration) -> Namesakes<Witness> {
    if declaration.name == "init" || declaration.isSubscript { return witnesses(likeMember: declaration) }
    let member = MemberKey(declaration)
    let escaped = declaration.name.split(separator: "*", omittingEmptySubsequences: false).joined(separator: "\\*")
    return Namesakes(witnesses(words: SelectorPattern("*." + escaped).requiredWords) { MemberKey($0) == member })
  }
}
