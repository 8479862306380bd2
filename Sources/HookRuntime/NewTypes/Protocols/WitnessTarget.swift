// WitnessTarget — whether a type carries a requirement out itself, as far as the code of its witness shows.
private import CHookTrampoline
private import Synchronization

extension RequirementEntry {
  /// Whether the function in the table is the conforming type's own, and not a default implementation; nil when that does not
  /// show.
  /// - Parameter type: the class of the objects whose table it is.
  func isImplemented(in table: UnsafeRawPointer, by type: Metadata) -> Bool? {
    if defaultBody == 0 { return true }
    let key = UInt(bitPattern: table)
    if let known = implementedIn.withLock({ $0[key] }) { return known }
    let found = find(in: table, by: type)
    implementedIn.withLock { $0[key] = .some(found) }
    return found
  }

  /// Whether the witness in the type's table is an implementation of its own; nil where its code does not tell.
  private func find(in table: UnsafeRawPointer, by type: Metadata) -> Bool? {
    let word = table.load(fromByteOffset: 8 * requirement.word, as: UInt.self)
    guard let code = UnsafeRawPointer(bitPattern: word), let image = ConformanceScan.image(containing: code),
      let exits = image.exits(of: UInt64(word))
    else { return nil }
    let names = defaultNames
    if exits.contains(where: { $0 == defaultBody || image.imports(at: $0).map(names.contains) ?? false }) { return false }
    // The default implementation may have been put in line there, and so may the type's own.
    return hasMember(type)
  }

  /// The class, or one it inherits from, has a member of the requirement's name; nil where one that has left no trace cannot be excluded.
  private func hasMember(_ type: Metadata) -> Bool? {
    var showsAll = true
    for owner in type.classChain {
      guard let ownerName = owner.declaredName else {
        showsAll = false
        continue
      }
      switch SelectorLookup.resolve("\(ownerName).\(name)", suggesting: false) {
      case .success, .failure(.ambiguous): return true
      case .failure: break
      }
      // A witness is as visible as its type: of one that other modules see, the function is there under its name.
      guard let descriptor = owner.descriptor, let image = ConformanceScan.image(containing: descriptor.pointer) else {
        showsAll = false
        continue
      }
      if !image.metadataSymbols.isVisible(UInt64(UInt(bitPattern: descriptor.pointer)) &- image.bias) { showsAll = false }
    }
    return showsAll ? false : nil
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
    return CodeExits.find(code, size: UInt64(symbol.size), address: address, most: 64)?.map { UInt($0.target) }
  }

  /// The name of the function that the code at an address of this process imports.
  fileprivate func imports(at address: UInt) -> String? {
    MetadataReader(file: file).importStub(at: UInt64(address) &- bias).map { String(decoding: $0, as: UTF8.self) }
  }
}
