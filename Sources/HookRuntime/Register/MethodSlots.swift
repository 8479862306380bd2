// MethodSlots — where a class's method stands in virtual tables, by the image's files alone.
//
// A class introduces a slot for each method that may be overridden; an override fills an ancestor's slot anew. The entry is
// known by its symbol (`…Tq`: the method's name and Tq), or by the function that it names, which is the method's body, or a
// thunk (`…TV`) where the override has another convention than what it overrides.

private import SwiftMangling

/// A place in the vtable of the class that introduced it.
package struct MethodSlot: Sendable {
  /// The introducing class's descriptor.
  package var introducer: ImageReference
  /// Which of its entries: where the entry's own record lies.
  package var entry: ImageReference
  /// What the class of the method fills it with.
  package var implementation: VTableEntry.Target
  /// The slot is another class's, whose convention calls follow: they come through a thunk.
  package var isThunk: Bool
  /// The method overrides another class's.
  package var isOverride: Bool
}

extension ImageCatalog {
  /// The descriptor of the class that the family's methods are members of.
  package func classRecord(of family: Family) -> TypeRecord? {
    guard family.declaration.contextKind == .classType, let address = metadataSymbols.typeDescriptor(aroundMember: family.key) else {
      return nil
    }
    return classes[address]
  }

  /// The slots that the family's method fills in its own class; an override that also has a slot of its own fills two.
  package func methodSlots(of family: Family) -> Result<[MethodSlot], NoSlot> {
    guard family.declaration.contextKind == .classType else { return .failure(.noClass) }
    guard let record = classRecord(of: family) else { return .failure(.inExtension) }
    let wanted = Implementations(of: family, self)
    var found: [MethodSlot] = []
    let own = record.vtable
    let named = own.filter { metadataSymbols.names(at: $0.descriptor).contains(family.key + "Tq") }
    // A folded function fills slots of several methods; entries that are named are the named method's.
    let entries = named.isEmpty ? own.filter { wanted.contain($0.implementation) && isUnnamed($0) } : named
    if entries.count > 1 { return .failure(.ambiguous) }
    for entry in entries {
      found.append(
        MethodSlot(
          introducer: .address(record.descriptor), entry: .address(entry.descriptor), implementation: entry.implementation, isThunk: false,
          isOverride: false))
    }
    for entry in record.overrides {
      let isThunk = wanted.containThunk(entry.implementation)
      guard isThunk || wanted.contain(entry.implementation), names(entry.entry, likeMethodOf: family) else { continue }
      found.append(
        MethodSlot(
          introducer: entry.introducer, entry: entry.entry, implementation: entry.implementation, isThunk: isThunk, isOverride: true))
    }
    if found.isEmpty { return .failure(.notVirtual) }
    let alive = found.filter { $0.implementation != .null && $0.implementation != .deleted }
    return alive.isEmpty ? .failure(.deleted) : .success(alive)
  }

  private func isUnnamed(_ entry: VTableEntry) -> Bool { !metadataSymbols.names(at: entry.descriptor).contains { $0.hasSuffix("Tq") } }

  /// What is overridden has the method's name, as far as symbols tell: one function may override several methods.
  private func names(_ entry: ImageReference, likeMethodOf family: Family) -> Bool {
    let symbols: [String]
    switch entry {
    case .address(let address): symbols = metadataSymbols.names(at: address)
    case .symbol(let name): symbols = [name]
    }
    var parser = SymbolParser()
    let overridden = symbols.filter { $0.hasSuffix("Tq") }.compactMap { parser.declaration(String($0.dropLast(2))) }
    guard !overridden.isEmpty else { return true }
    return overridden.contains { $0.name == family.declaration.name && $0.kind == family.declaration.kind }
  }

  /// What fills the slots of a family's method.
  private struct Implementations {
    private var addresses: Set<UInt64> = []
    /// Vtable thunks that end in the method.
    private var thunks: Set<UInt64> = []
    init(of family: Family, _ image: ImageCatalog) {
      // Tables hold async function pointers, not code.
      func inTables(_ address: UInt64) -> UInt64 { image.asyncEntries.record(at: address)?.address ?? address }
      for body in family.bodies where body.isOwn { addresses.insert(inTables(body.address - image.bias)) }
      for thunk in image.vtableThunks.thunks(of: family.key) { thunks.insert(inTables(thunk.address)) }
    }
    func contain(_ target: VTableEntry.Target) -> Bool { Self.contains(addresses, target) }
    func containThunk(_ target: VTableEntry.Target) -> Bool { Self.contains(thunks, target) }
    private static func contains(_ addresses: Set<UInt64>, _ target: VTableEntry.Target) -> Bool {
      guard case .address(let address) = target else { return false }
      return addresses.contains(address)
    }
  }
}
