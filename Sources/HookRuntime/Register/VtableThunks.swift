// VtableThunks — thunks in virtual tables that hold a copy of the method.
//
// An override whose convention differs from that of what it overrides stands in the parent's slot as a thunk (`…TV`: the
// override's name, then the other method's). Most call the override; where the optimiser wrote the override's body into it,
// the thunk is one more body of the override: calls through the parent's slot run nothing else.
private import CHookTrampoline
private import SwiftMangling

/// The thunks of one image, by name. Immutable after init.
struct VtableThunks {
  /// In the order of names: those of one method lie together.
  private let thunks: [(name: String, symbol: ImageSymbol)]

  init(_ symbols: SymbolTable) {
    var found: [(String, ImageSymbol)] = []
    symbols.forEachFunction { symbol in
      let name = symbol.name
      guard name.count > 4, name[name.count - 1] == UInt8(ascii: "V"), name[name.count - 2] == UInt8(ascii: "T") else { return }
      found.append((symbol.nameText, symbol))
    }
    thunks = found.sorted { $0.0 < $1.0 }
  }

  /// Those whose names begin with the method's.
  func thunks(of key: String) -> [ImageSymbol] {
    var low = 0
    var high = thunks.count
    while low < high {
      let middle = (low + high) / 2
      if thunks[middle].name < key { low = middle + 1 } else { high = middle }
    }
    return thunks[low...].prefix { $0.name.hasPrefix(key) }.map(\.symbol)
  }
}

extension ImageCatalog {
  /// Gives `family` the thunks that run a copy of its method.
  func addVtableThunks(to family: inout Family) {
    guard family.declaration.contextKind == .classType else { return }
    var parser = SymbolParser()
    for symbol in vtableThunks.thunks(of: family.key) {
      let address = symbol.address + bias
      guard !family.bodies.contains(where: { $0.address == address }), var overridden = parser.declaration(symbol.name),
        let kind = overridden.wrappedKind, !callsBody(symbol, of: family)
      else { continue }
      overridden.kind = kind
      overridden.wrappedKind = nil
      overridden.isAsyncAccessor = kind == .getter && asyncEntries.record(at: symbol.address) != nil
      let next = symbols.nextSymbolAddress(after: symbol.address) ?? symbol.address + UInt64(symbol.size)
      family.bodies.append(
        Body(
          form: .thunk("of \(PrivateNames.stripped(overridden.selectorName))"), declaration: overridden, mangledName: symbol.nameText,
          address: address, size: Int(symbol.size), available: Int(next - symbol.address)))
    }
  }

  private func callsBody(_ symbol: ImageSymbol, of family: Family) -> Bool {
    guard let code = file.bytes(at: symbol.address, count: Int(symbol.size))?.baseAddress else { return true }
    let bodies = Set(family.bodies.map(\.address))
    // What an async one calls it finds by a record.
    let records = Set(bodies.compactMap { asyncEntries.record(at: $0 - bias)?.address }).sorted()
    var use = HKTBranch()
    if !records.isEmpty,
      hkt_find_uses(code.assumingMemoryBound(to: UInt8.self), UInt64(symbol.size), symbol.address, records, records.count, &use, 1) > 0
    {
      return true
    }
    return CodeExits.find(code, size: UInt64(symbol.size), address: symbol.address + bias, most: 64)?.contains { bodies.contains($0.target) } ?? false
  }
}

extension Body {
  /// The function itself, not what tables hold in its stead nor a specialisation of it.
  var isOwn: Bool {
    switch form {
    case .base, .initialising, .sharesCodeOf: declaration.specialization.isEmpty
    default: false
    }
  }
}
