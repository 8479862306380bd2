// MetadataSymbols — where an image keeps its records of types and functions, by the symbols that name them.
//
// Records have no section or table of their own that names them: the symbol of a method's entry in its class's vtable
// is the method's with `Tq` behind it, a class's metadata is `…N`, the variable of a function compiled `dynamic` is `…TX`.

/// Names and virtual addresses of one image's records. Immutable after init.
final class MetadataSymbols: Sendable {
  private let addresses: [String: UInt64]
  private let names: [UInt64: [String]]
  /// Records that other images can name.
  private let visible: Set<UInt64>

  init(_ symbols: SymbolTable) {
    var addresses: [String: UInt64] = [:]
    var names: [UInt64: [String]] = [:]
    var visible: Set<UInt64> = []
    for table in symbols.tables {
      for index in 0..<table.count {
        let entry = table[index]
        guard !entry.isFunction, entry.isDefined, Self.isRecord(table, entry) else { continue }
        let name = String(cString: table.namePointer(entry))
        if addresses.updateValue(entry.value, forKey: name) == nil { names[entry.value, default: []].append(name) }
        if !entry.isLocal, entry.visibility != 2 { visible.insert(entry.value) }
      }
    }
    self.addresses = addresses
    self.names = names
    self.visible = visible
  }

  /// Code of other modules could name what is there: it was declared `public`, or `open`.
  func isVisible(_ address: UInt64) -> Bool { visible.contains(address) }

  /// Type descriptors, class metadata, method descriptors, variables of replaceable functions, witness tables, protocols,
  /// async function pointers.
  private static func isRecord(_ table: RawSymbols, _ entry: RawSymbols.Entry) -> Bool {
    table.name(entry, endsWith: "Tq") || table.name(entry, endsWith: "Mn") || table.name(entry, endsWith: "CN")
      || table.name(entry, endsWith: "TX") || table.name(entry, endsWith: "WP") || table.name(entry, endsWith: "Mp")
      || table.name(entry, endsWith: "Tu")
  }

  /// The virtual address of the record with this symbol.
  func address(_ name: String) -> UInt64? { addresses[name] }

  /// The symbols at a virtual address.
  func names(at address: UInt64) -> [String] { names[address] ?? [] }

  /// The descriptor of the innermost type that a declaration is a member of: a mangled name begins with that of its context.
  func typeDescriptor(aroundMember mangled: String) -> UInt64? {
    var prefix = mangled.utf8.dropLast()
    while prefix.count >= 3 {
      if let address = addresses[String(Substring(prefix)) + "Mn"] { return address }
      prefix = prefix.dropLast()
    }
    return nil
  }
}
