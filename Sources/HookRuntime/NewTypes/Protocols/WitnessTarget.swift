// WitnessTarget — whether a type carries a requirement out itself, as far as the code of its witness shows.
private import CHookTrampoline
private import Synchronization

extension RequirementEntry {
  /// Whether the function in the table is the conforming type's own, and not a default implementation; nil when that does not
  /// show. A copy that the compiler made of a default implementation counts as the type's own.
  func isImplemented(in table: UnsafeRawPointer) -> Bool? {
    if defaultBody == 0 { return true }
    let key = UInt(bitPattern: table)
    if let known = implementedIn.withLock({ $0[key] }) { return known }
    let found = find(in: table)
    implementedIn.withLock { $0[key] = .some(found) }
    return found
  }

  private func find(in table: UnsafeRawPointer) -> Bool? {
    let word = table.load(fromByteOffset: 8 * requirement.word, as: UInt.self)
    guard let code = UnsafeRawPointer(bitPattern: word), let image = ConformanceScan.image(containing: code),
      let exits = image.exits(of: UInt64(word))
    else { return nil }
    let names = defaultNames
    return !exits.contains { $0 == defaultBody || image.imports(at: $0).map(names.contains) ?? false }
  }

  /// Symbols of the default implementation.
  private var defaultNames: Set<String> {
    guard let code = UnsafeRawPointer(bitPattern: defaultBody), let image = ConformanceScan.image(containing: code) else { return [] }
    return Set(image.symbols.symbols(at: UInt64(defaultBody) - image.bias).map(\.nameText))
  }
}

extension ImageCatalog {
  /// Where the function at an address of this process calls and jumps to.
  fileprivate func exits(of address: UInt64) -> [UInt]? {
    guard let symbol = symbols.symbols(at: address - bias).first(where: { $0.size > 0 }),
      let code = file.bytes(at: symbol.address, count: Int(symbol.size))?.baseAddress
    else { return nil }
    var found = [HKTExit](repeating: HKTExit(), count: 64)
    let count = hkt_find_exits(code.assumingMemoryBound(to: UInt8.self), UInt64(symbol.size), address, &found, found.count)
    return count > found.count ? nil : found[..<count].map { UInt($0.target) }
  }

  /// The name of the function that the code at an address of this process imports.
  fileprivate func imports(at address: UInt) -> String? {
    MetadataReader(file: file).importStub(at: UInt64(address) &- bias).map { String(decoding: $0, as: UTF8.self) }
  }
}
