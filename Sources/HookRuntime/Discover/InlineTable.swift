import Glibc
import Synchronization

// InlineTable — how many copies of a function bear no symbol, most of them inlined, and which source files there are.
//
// Computed from DWARF on first use and remembered beside the symbol index.
// Payload; keep in step with `build`:
//   UInt64[4]        flags (1: there is debug information), names, bytes of file names, copies without a name
//   UInt64[names]    StringLocation, sorted by the string it means
//   UInt32[names]    copies
//   bytes            file names, each with NUL

/// May be used from any thread; the first question reads or builds the table.
package final class InlineTable: @unchecked Sendable {  // constants, and values behind mutexes
  package enum Copies: Sendable, Equatable {
    /// What the debug information tells; code compiled without it is not counted.
    case known(Int)
    /// Neither the image nor a debug file has readable DWARF.
    case noDebugInfo
  }

  private let image: ELFFile
  private let symbols: SymbolTable
  private let debug: DebugInfo?
  private let directory: IndexDirectory
  private let payload = Mutex<IndexDirectory.Payload?>(nil)
  private let discriminators = Mutex<[String: [String: String]]>([:])

  private static let headerSize = 32
  private static let format: UInt64 = 2

  /// Uses the debug file and the index directory of `symbols`.
  package init(_ symbols: SymbolTable) {
    image = symbols.file
    self.symbols = symbols
    debug = DebugInfo(symbols.file) ?? symbols.debugFile.flatMap { DebugInfo($0) }
    directory = symbols.indexDirectory
  }

  package var hasDebugInfo: Bool { debug != nil }
  /// The table was read, or is kept from another run.
  package var isAtHand: Bool {
    if debug == nil || payload.withLock({ $0 != nil }) { return true }
    guard !image.buildID.isEmpty else { return false }
    guard let read = directory.read(image.buildIDHex + ".inlines", key: Self.key(image, debug)), Table(read) != nil else { return false }
    payload.withLock { if $0 == nil { $0 = read } }
    return true
  }
  /// All Swift code that has debug information was compiled without the optimiser: then nothing is inlined but what says so.
  private(set) lazy var isUnoptimized = debug?.isUnoptimized ?? false
  /// The debug information has the function, so that what it says of the image is said of it.
  func covers(_ mangled: String) -> Bool { debug?.mentions(mangled) ?? false }

  /// How often the function with this mangled name was inlined.
  package func copies(ofMangledName name: [UInt8]) -> Copies {
    guard let debug else { return .noDebugInfo }
    let table = loaded
    let at = table.firstIndex(notBefore: name, debug)
    guard at < table.names.count, let text = table.text(at, debug), Self.compare(text, name) == 0 else { return .known(0) }
    return .known(Int(table.counts[at]))
  }

  /// All inlined functions whose mangled name starts with `prefix`: a function and its clones.
  package func copies(prefix: [UInt8]) -> [(name: String, count: Int)] {
    guard let debug else { return [] }
    let table = loaded
    var found: [(name: String, count: Int)] = []
    var at = table.firstIndex(notBefore: prefix, debug)
    while at < table.names.count, let text = table.text(at, debug), Self.compare(text, prefix, onlyAsFarAs: true) == 0 {
      found.append((String(cString: text), Int(table.counts[at])))
      at += 1
    }
    return found
  }

  /// Copies of all functions, and those among them whose function has no name.
  package var totals: (copies: Int, nameless: Int) {
    let table = loaded
    return (table.counts.reduce(table.nameless) { $0 + Int($1) }, table.nameless)
  }

  /// The base names of the Swift files the image was compiled from, as far as it tells.
  package var sourceFiles: [String] {
    loaded.files.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The base name of the file of `module` that has this private discriminator ("_162F…", as in mangled names).
  package func sourceFile(discriminator: String, module: String) -> String? {
    let known = discriminators.withLock { $0[module] }
    if let known { return known[discriminator] }
    let files = sourceFiles
    let made = Dictionary(
      files.map { (SourceFileNames.discriminator(module: module, file: $0), $0) }, uniquingKeysWith: { first, _ in first })
    discriminators.withLock { $0[module] = made }
    return made[discriminator]
  }

  // MARK: The payload

  /// The parts of the payload.
  private struct Table {
    let owner: IndexDirectory.Payload
    let names: UnsafeBufferPointer<UInt64>
    let counts: UnsafeBufferPointer<UInt32>
    let files: UnsafeRawBufferPointer
    let nameless: Int

    /// Nil when the sizes do not fit together.
    init?(_ payload: IndexDirectory.Payload) {
      let bytes = payload.bytes
      guard let count: UInt64 = bytes.load(8), let fileBytes: UInt64 = bytes.load(16), let nameless: UInt64 = bytes.load(24),
        count < UInt64(bytes.count), fileBytes <= UInt64(bytes.count), nameless < 1 << 40,
        let names = bytes.slice(UInt64(InlineTable.headerSize), count * 8),
        let counts = bytes.slice(UInt64(InlineTable.headerSize) + count * 8, count * 4),
        let files = bytes.slice(UInt64(InlineTable.headerSize) + count * 12, fileBytes)
      else { return nil }
      owner = payload
      // Payloads start at a multiple of 64, so all three parts are aligned.
      self.names = UnsafeBufferPointer(start: names.base.assumingMemoryBound(to: UInt64.self), count: Int(count))
      self.counts = UnsafeBufferPointer(start: counts.base.assumingMemoryBound(to: UInt32.self), count: Int(count))
      self.files = files.raw
      self.nameless = Int(nameless)
    }

    func text(_ at: Int, _ debug: DebugInfo) -> UnsafePointer<CChar>? {
      debug.string(at: DebugInfo.StringLocation(packed: names[at]))
    }

    /// The first name that does not sort before `name`.
    func firstIndex(notBefore name: [UInt8], _ debug: DebugInfo) -> Int {
      var low = 0
      var high = names.count
      while low < high {
        let middle = (low + high) / 2
        if let text = text(middle, debug), InlineTable.compare(text, name) < 0 { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }

  /// strcmp of a C string and bytes; with `onlyAsFarAs`, a longer text that starts with `name` counts as equal.
  /// Beyond a NUL in `name` nothing may be compared: the text ends there.
  private static func compare(_ text: UnsafePointer<CChar>, _ name: [UInt8], onlyAsFarAs: Bool = false) -> Int32 {
    let order = name.withUnsafeBytes { bytes in
      bytes.isEmpty ? 0 : strncmp(text, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    if name.contains(0) { return order != 0 ? order : -1 }
    // Equal as far as `name` goes: the longer one sorts behind.
    return order != 0 || onlyAsFarAs ? order : text[name.count] == 0 ? 0 : 1
  }

  private var loaded: Table {
    payload.withLock { payload in
      if let payload, let table = Table(payload) { return table }
      let key = Self.key(image, debug)
      let name = image.buildID.isEmpty ? nil : image.buildIDHex + ".inlines"
      if let name, let read = directory.read(name, key: key), let table = Table(read) {
        payload = read
        return table
      }
      let bytes = build()
      if let name { directory.write(name, key: key, payload: UnsafeRawBufferPointer(bytes.bytes)) }
      let made = IndexDirectory.Payload(bytes: bytes.view, owner: bytes)
      payload = made
      guard let table = Table(made) else {
        fatalError("internal error: the inline table does not have the layout it was built with; please report it")
      }
      return table
    }
  }

  private static func key(_ image: ELFFile, _ debug: DebugInfo?) -> [UInt8] {
    var key = Array("inlines".utf8) + image.buildID
    let sizes = [format, UInt64(debug?.info.count ?? 0), UInt64(debug?.abbreviations.count ?? 0), UInt64(debug?.line.count ?? 0)]
    sizes.withUnsafeBytes { key += $0 }
    return key
  }

  private func build() -> HeapBytes {
    var rows: [(name: DebugInfo.StringLocation, count: Int)] = []
    var nameless = 0
    if let debug {
      var counter = InlineCounter(debug, symbols)
      rows = counter.run()
      nameless = counter.unresolved
    }
    let files = SourceFileNames.collect(image: image, debug: debug).reduce(into: [UInt8]()) { $0 += $1.utf8 + [0] }
    let memory = HeapBytes(count: Self.headerSize + rows.count * 12 + files.count)
    let bytes = memory.bytes
    for (at, value) in [debug == nil ? 0 : 1, rows.count, files.count, nameless].enumerated() {
      bytes.storeBytes(of: UInt64(value), toByteOffset: at * 8, as: UInt64.self)
    }
    for (at, row) in rows.enumerated() {
      bytes.storeBytes(of: row.name.packed, toByteOffset: Self.headerSize + at * 8, as: UInt64.self)
      bytes.storeBytes(of: UInt32(clamping: row.count), toByteOffset: Self.headerSize + rows.count * 8 + at * 4, as: UInt32.self)
    }
    UnsafeMutableRawBufferPointer(rebasing: bytes[(Self.headerSize + rows.count * 12)...]).copyBytes(from: files)
    return memory
  }
}
