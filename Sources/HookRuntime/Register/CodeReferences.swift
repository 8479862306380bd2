// CodeReferences — which instructions of an image name which functions.
//
// Found in one pass over the code, and remembered by build-id like the order of the symbols. Payload, all UInt64: `to` in the upper half,
// `from` in the lower, sorted; both are offsets from the image's lowest address.
internal import CHookTrampoline

/// A list of references, made or read whole. A value; its memory belongs to `owner`.
struct CodeReferences {
  /// What is named: by direct calls and jumps, and by addresses taken relative to the instruction.
  enum Kind: String {
    /// All functions.
    case functions
    /// Code without a name that functions only jump to.
    case nameless
  }

  private let entries: UnsafeBufferPointer<UInt64>
  private let owner: AnyObject
  private let base: UInt64
  private let file: ELFFile
  private let symbols: SymbolTable

  /// Part of the key: raise when the layout, or what is found, changes.
  private static let format: UInt64 = 2

  /// - Parameter targets: addresses of functions, ascending, each once; the same for each kind wherever the image's symbols are.
  init(_ kind: Kind, of targets: () -> [UInt64], in file: ELFFile, _ symbols: SymbolTable) {
    (self.file, self.symbols) = (file, symbols)
    base = file.segments.lazy.filter(\.isLoaded).map(\.address).min() ?? 0
    let name = file.buildID.isEmpty ? nil : "\(file.buildIDHex).\(kind.rawValue)"
    let key = Self.key(kind, symbols)
    if let name, let payload = symbols.indexDirectory.read(name, key: key), payload.bytes.count % 8 == 0 {
      // The payload begins at a multiple of 64 of a mapping, and every eight bytes are an entry.
      entries = UnsafeBufferPointer(start: payload.bytes.base.assumingMemoryBound(to: UInt64.self), count: payload.bytes.count / 8)
      owner = payload.owner
      return
    }
    let found = GrowingBuffer<UInt64>(capacity: 1024)
    let addresses = targets()
    for section in file.sections where section.isExecutable { Self.scan(section, of: file, for: addresses, base, into: found) }
    var sorted = found.elements
    sorted.sort()
    if let name { symbols.indexDirectory.write(name, key: key, payload: UnsafeRawBufferPointer(found.elements)) }
    entries = UnsafeBufferPointer(found.elements)
    owner = found
  }

  /// Everything the list depends on.
  private static func key(_ kind: Kind, _ symbols: SymbolTable) -> [UInt8] {
    var key = Array(kind.rawValue.utf8) + symbols.file.buildID
    var numbers = [format, symbols.file.sectionTableSum]
    for raw in symbols.tables { numbers += [UInt64(raw.source.rawValue), UInt64(raw.count), UInt64(raw.strings.count)] }
    numbers.withUnsafeBytes { key += $0 }
    return key
  }

  private static func scan(
    _ section: ELFFile.Section, of file: ELFFile, for targets: [UInt64], _ base: UInt64, into found: GrowingBuffer<UInt64>
  ) {
    guard let code = file.bytes(of: section)?.bindMemory(to: UInt8.self), let start = code.baseAddress else { return }
    // What a section of this size has at most in most programs; where it has more, once again with room for all.
    var room = max(1024, code.count / 64)
    while true {
      var count = 0
      let branches = [HKTBranch](unsafeUninitializedCapacity: room) { buffer, made in
        count = hkt_find_uses(start, UInt64(code.count), section.address, targets, targets.count, buffer.baseAddress, room)
        made = min(count, room)
      }
      guard count <= room else {
        room = count
        continue
      }
      for branch in branches where branch.to - base <= UInt32.max && branch.from - base <= UInt32.max {
        found.append((branch.to - base) << 32 | (branch.from - base))
      }
      return
    }
  }

  /// Addresses of the opcodes of what names `address`, an address of the file.
  func sites(to address: UInt64) -> [UInt64] {
    guard address >= base else { return [] }
    let wanted = address - base
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle] >> 32 < wanted { low = middle + 1 } else { high = middle }
    }
    return entries[low...].prefix { $0 >> 32 == wanted }.map { base + ($0 & 0xffff_ffff) }.filter(isInstruction)
  }

  /// Those of `sites(to:)` that call the function or jump to it.
  func branches(to address: UInt64) -> [UInt64] { sites(to: address).filter { !takesAddress($0) } }

  /// What `sites(to:)` found at `site` takes the function's address.
  func takesAddress(_ site: UInt64) -> Bool { file.bytes(at: site, count: 1)?.first == Self.lea }
  private static let lea: UInt8 = 0x8D

  /// Two bytes that read as a short jump are often part of another instruction.
  private func isInstruction(_ from: UInt64) -> Bool {
    guard let opcode = file.bytes(at: from, count: 1)?.first else { return false }
    guard hkt_is_short_jump(opcode), let function = symbols.symbol(containing: from) else { return true }
    guard let code = file.bytes(at: function.address, count: Int(function.size))?.bindMemory(to: UInt8.self) else { return true }
    return hkt_has_instruction(code.baseAddress, UInt64(code.count), from - function.address)
  }
}
