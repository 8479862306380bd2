import Glibc
import Synchronization

// SymbolTable — the functions of one image, by address and by name.
//
// Unifies .symtab, .dynsym and the .symtab of a separate debug file. Opening costs
// nothing; the first question reads the SymbolIndex from disk or builds it. The
// index only orders and selects entries: names and addresses are always read from
// the ELF file itself, so a damaged index can hide a symbol but never invent one.

/// One function (or assembly label) symbol. Its name lies in the mapped file, which is never unmapped.
package struct ImageSymbol: @unchecked Sendable {  // points into a read-only mapping that is never undone
  package enum Source: UInt8, Sendable { case symtab, dynsym, debugFile }

  /// NUL-terminated.
  let namePointer: UnsafePointer<UInt8>
  /// Virtual address, without load bias.
  package let address: UInt64
  /// Bytes of code; 0 when the symbol does not say.
  package let size: UInt32
  package let isLocal: Bool
  /// The object file it came from could be the only one to know it: local, and not merely hidden by the linker, which keeps
  /// the visibility of what was global in its object file.
  package let isObjectLocal: Bool
  /// False for a label of hand-written assembly.
  package let isFunction: Bool
  package let source: Source

  init(_ entry: RawSymbols.Entry, in table: RawSymbols) {
    namePointer = table.namePointer(entry)
    address = entry.value
    size = UInt32(clamping: entry.size)
    isLocal = entry.isLocal
    isObjectLocal = entry.isLocal && entry.visibility == 0
    isFunction = entry.isFunction
    source = table.source
  }

  /// No symbol: no name, address 0.
  static let absent = ImageSymbol()

  private init() {
    let empty: StaticString = ""
    namePointer = empty.utf8Start
    address = 0
    size = 0
    isLocal = true
    isObjectLocal = true
    isFunction = false
    source = .symtab
  }

  /// The mangled name, without the final NUL.
  package var name: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: namePointer, count: strlen(UnsafeRawPointer(namePointer).assumingMemoryBound(to: CChar.self)))
  }

  package var nameText: String { String(decoding: name, as: UTF8.self) }
}

/// All function symbols of an image. May be used from any thread; the first use of each kind may read or build the index.
package final class SymbolTable: @unchecked Sendable {  // constants, and values behind mutexes
  package struct Options: Sendable {
    /// Searched for debug files before /usr/lib/debug.
    package var debugDirectories: [String] = []
    /// Where indexes are kept, one file per build-id; nil keeps none.
    package var indexDirectory: String?

    package init(debugDirectories: [String] = [], indexDirectory: String? = nil) {
      self.debugDirectories = debugDirectories
      self.indexDirectory = indexDirectory
    }
  }

  package let file: ELFFile
  /// The file that has the symbols or the DWARF the image itself was stripped of.
  package let debugFile: ELFFile?
  let tables: [RawSymbols]
  let indexDirectory: IndexDirectory
  private let index = Mutex<SymbolIndex?>(nil)
  private let exported = Mutex<Set<UInt64>?>(nil)

  package init(_ file: ELFFile, options: Options = Options()) {
    self.file = file
    indexDirectory = IndexDirectory(path: options.indexDirectory)
    let own = RawSymbols(file, section: 2, source: .symtab)
    let isComplete = own != nil && file.section(named: ".debug_info") != nil
    debugFile = isComplete ? nil : DebugFiles.find(for: file, in: options.debugDirectories)
    let main = own ?? debugFile.flatMap { RawSymbols($0, section: 2, source: .debugFile) }
    tables = [main, RawSymbols(file, section: 11, source: .dynsym)].compactMap { $0 }
  }

  /// There is a full symbol table, not only what is exported.
  package var hasLocalSymbols: Bool { tables.contains { $0.source != .dynsym } }

  /// Calls `body` for each function in executable sections, in file order, without building anything.
  /// A function may be reported twice, once by each table that has it.
  package func forEachFunction(_ body: (ImageSymbol) -> Void) {
    for table in tables {
      for at in 0..<table.count {
        let entry = table[at]
        if entry.isFunction, table.isCode(entry) { body(ImageSymbol(entry, in: table)) }
      }
    }
  }

  /// The index, read or built now.
  var loadedIndex: SymbolIndex {
    index.withLock { index in
      if let index { return index }
      let made = SymbolIndex.open(for: self) ?? SymbolIndex.build(for: self)
      index = made
      return made
    }
  }

  /// Reads the index, or builds it.
  package func prepare() { _ = loadedIndex }

  /// How the index was come by; nil before first use.
  package var indexOrigin: SymbolIndex.Origin? { index.withLock { $0?.origin } }

  /// The symbol a reference of the index means; nil when the reference is nonsense.
  @inline(__always)
  func symbol(_ reference: UInt32) -> ImageSymbol? {
    let table = Int(reference >> 30)
    let at = Int(reference & 0x3fff_ffff)
    guard table < tables.count, at < tables[table].count else { return nil }
    let entry = tables[table][at]
    guard tables[table].isCode(entry) else { return nil }
    return ImageSymbol(entry, in: tables[table])
  }
}

// MARK: By address

extension SymbolTable: RandomAccessCollection {
  package var startIndex: Int { 0 }
  /// Symbols are sorted by address; symbols of one address are neighbours. Where the file on disk is not the one that was
  /// indexed, though it has the same build-id and the same tables, `.absent` stands for what is gone.
  package var endIndex: Int { loadedIndex.order.count }

  package subscript(index: Int) -> ImageSymbol {
    symbol(loadedIndex.order[index]) ?? .absent
  }

  /// The function whose bytes include `address`.
  package func symbol(containing address: UInt64) -> ImageSymbol? {
    let order = loadedIndex.order
    var at = firstIndex(after: address, in: order)
    let next = at < order.count ? self.address(order[at]) : .max
    // Labels and empty symbols may stand between a function's start and the address.
    for _ in 0..<32 where at > 0 {
      at -= 1
      guard let symbol = symbol(order[at]) else { continue }
      if symbol.size == 0 ? symbol.isFunction && address < next : address &- symbol.address < UInt64(symbol.size) {
        return symbol
      }
    }
    return nil
  }

  /// All symbols at exactly this address.
  package func symbols(at address: UInt64) -> [ImageSymbol] {
    let order = loadedIndex.order
    var found: [ImageSymbol] = []
    var at = address == 0 ? 0 : firstIndex(after: address - 1, in: order)
    while at < order.count, let symbol = symbol(order[at]), symbol.address == address {
      found.append(symbol)
      at += 1
    }
    return found
  }

  /// Other images can name the function that starts at the file's address: it is in .dynsym.
  func isExported(_ address: UInt64) -> Bool {
    exported.withLock { known in
      if known == nil {
        var addresses: Set<UInt64> = []
        for table in tables where table.source == .dynsym {
          for at in 0..<table.count where table.isCode(table[at]) { addresses.insert(table[at].value) }
        }
        known = addresses
      }
      return known?.contains(address) ?? false
    }
  }

  /// The address is one of code, and no symbol stands at it.
  func isNamelessCode(at address: UInt64) -> Bool {
    file.sections.contains { $0.isExecutable && $0.address <= address && address - $0.address < $0.size } && symbols(at: address).isEmpty
  }

  /// The first symbol address greater than `address`; nil after the last. Labels count: they may be jumped to.
  package func nextSymbolAddress(after address: UInt64) -> UInt64? {
    let order = loadedIndex.order
    let at = firstIndex(after: address, in: order)
    return at < order.count ? self.address(order[at]) : nil
  }

  private func address(_ reference: UInt32) -> UInt64 { symbol(reference)?.address ?? 0 }

  /// The position of the first symbol above `address`.
  private func firstIndex(after address: UInt64, in order: UnsafeBufferPointer<UInt32>) -> Int {
    var low = 0
    var high = order.count
    while low < high {
      let middle = (low + high) / 2
      if self.address(order[middle]) <= address { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

// MARK: By name

extension SymbolTable {
  /// Swift functions in whose mangled name every one of `words` (each a result of `IdentifierWords.split`) is spelled out.
  ///
  /// What can never be hooked is left out: metadata accessors, value witnesses, lazy witness table accessors,
  /// once-initialisers, outlined copies, the second halves of coroutines.
  package func candidates(words: [[UInt8]]) -> [ImageSymbol] {
    let hashes = words.map { word in word.withUnsafeBufferPointer(IdentifierWords.hash) }
    return matches(hashes) { name in
      words.allSatisfy { word in word.withUnsafeBufferPointer { name.contains(bytes: $0) } }
    }
  }

  /// Swift functions whose mangled name starts with `prefix`: a function and its clones share one. Leaves out the same.
  package func candidates(prefix: [UInt8]) -> [ImageSymbol] {
    prefix.withUnsafeBufferPointer { prefix in
      var hashes: [UInt32] = []
      MangledIdentifiers.forEach(prefix, isPrefix: true) { identifier in
        IdentifierWords.forEach(identifier) { _, _, hash in hashes.append(hash) }
      }
      return matches(hashes) { name in
        name.count >= prefix.count && (prefix.isEmpty || memcmp(name.baseAddress!, prefix.baseAddress!, prefix.count) == 0)
      }
    }
  }

  /// All Swift functions with exactly this mangled name (local functions of several files may share one).
  package func symbols(named name: [UInt8]) -> [ImageSymbol] {
    candidates(prefix: name).filter { $0.name.count == name.count }
  }

  /// The functions whose names have all identifiers of these hashes, and are accepted.
  private func matches(_ hashes: [UInt32], where accept: (UnsafeBufferPointer<UInt8>) -> Bool) -> [ImageSymbol] {
    var found: [ImageSymbol] = []
    func consider(_ reference: UInt32) {
      if let symbol = symbol(reference), symbol.isFunction {
        let name = symbol.name
        if SwiftNames.isIndexed(name), accept(name) { found.append(symbol) }
      }
    }
    let index = loadedIndex
    if hashes.isEmpty {
      index.order.forEach(consider)
    } else {
      index.forEachReference(withAll: hashes, consider)
    }
    return found
  }
}

/// What the ends of a mangled name tell without parsing it.
enum SwiftNames {
  /// The name begins as mangled names of Swift do.
  @inline(__always)
  static func isSwift(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    name.count > 2 && name[0] == UInt8(ascii: "$")
      && (name[1] == UInt8(ascii: "s") || name[1] == UInt8(ascii: "S") || name[1] == UInt8(ascii: "e"))
  }

  /// Swift, and not one of the kinds that are never hooked.
  @inline(__always)
  static func isIndexed(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard isSwift(name), name.count > 4 else { return false }
    let third = name[name.count - 3], second = name[name.count - 2], last = name[name.count - 1]
    // A function that ends in the standard type SM or SW (UnsafeRawBufferPointer), or two of them (S2W).
    if last == UInt8(ascii: "F"), third == UInt8(ascii: "S") || IdentifierWords.isDigit(third) { return true }
    // Ma accessor, Mr completion, Mi instantiation …: metadata. Wl WL lazy witness accessors, WZ once, WI Wb WT: witness tables.
    if second == UInt8(ascii: "M") || second == UInt8(ascii: "W") { return false }
    // WOh, WOc …: outlined copies.
    if third == UInt8(ascii: "W"), second == UInt8(ascii: "O") { return false }
    if IdentifierWords.isDigit(last) { return !isContinuation(name) }
    // wxx, wCP, wet …: value witnesses. They follow a type, so never the T of a thunk.
    return !(third == UInt8(ascii: "w") && isLetter(second) && isLetter(last) && name[name.count - 4] != UInt8(ascii: "T"))
  }

  /// Ends with ".resume.12": the second half of a coroutine, entered through its first half only.
  private static func isContinuation(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    var end = name.count
    while end > 0, IdentifierWords.isDigit(name[end - 1]) { end -= 1 }
    return end >= 8 && UnsafeBufferPointer(rebasing: name[end - 8..<end]).equals(".resume.")
  }

  @inline(__always)
  private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }
}
