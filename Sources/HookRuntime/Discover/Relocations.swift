// Relocations — what the dynamic loader would write into a pointer of a file.
//
// In a file on disk most pointers are zero; their value stands in the relocation
// table. RELR needs no decoding here: its pointers keep their value in place.

/// The pointer-sized relocations of one file, by address.
struct Relocations: @unchecked Sendable {  // read-only memory of a mapped file
  /// What a pointer will hold.
  enum Value {
    /// A virtual address in the same file.
    case address(UInt64)
    /// A symbol another image defines.
    case symbol(UnsafeBufferPointer<UInt8>)
  }

  private struct Row: BitwiseCopyable {
    var offset: UInt64
    var info: UInt64
    var addend: Int64
  }

  private static let rowSize = 24

  /// The leading rows of .rela.dyn, while they ascend: linkers put RELATIVE rows first and sort them.
  private let sortedRows: ByteView
  private let sortedCount: Int
  /// All other rows, sorted here.
  private let others: [Row]
  private let symbols: ByteView
  private let strings: ByteView

  init(_ file: ELFFile) {
    let dynamic = file.dynamic
    let table = Self.table(file, dynamic.rela, dynamic.relaSize)
    let rows = table.count / Self.rowSize
    var ascending = 0
    var last: UInt64 = 0
    while ascending < rows {
      let offset: UInt64 = table.load(ascending * Self.rowSize)!  // whole rows only
      if offset < last { break }
      last = offset
      ascending += 1
    }
    sortedRows = table
    sortedCount = ascending
    let jumps = Self.table(file, dynamic.jumps, dynamic.jumpsSize)
    var others: [Row] = []
    for at in ascending..<max(rows, ascending) { others.append(table.load(at * Self.rowSize)!) }
    for at in 0..<jumps.count / Self.rowSize { others.append(jumps.load(at * Self.rowSize)!) }
    others.sort { $0.offset < $1.offset }
    self.others = others
    symbols = file.view(at: dynamic.symbols) ?? .empty
    strings = file.view(at: dynamic.strings)?.slice(0, dynamic.stringsSize) ?? .empty
  }

  private static func table(_ file: ELFFile, _ address: UInt64, _ size: UInt64) -> ByteView {
    guard size > 0, let view = file.view(at: address) else { return .empty }
    return view.slice(0, size) ?? .empty
  }

  /// What will be written at `address`; nil when nothing will.
  subscript(address: UInt64) -> Value? {
    if let at = search(sortedCount, address, { sortedRows.load($0 * Self.rowSize)! }) {
      return value(sortedRows.load(at * Self.rowSize)!)
    }
    if let at = search(others.count, address, { others[$0].offset }) { return value(others[at]) }
    return nil
  }

  /// Calls `visit` with every address of this file that some pointer of its data will hold.
  func forEachAddress(_ visit: (UInt64) -> Void) {
    func consider(_ row: Row) { if case .address(let address)? = value(row) { visit(address) } }
    for at in 0..<sortedCount { consider(sortedRows.load(at * Self.rowSize)!) }
    others.forEach(consider)
  }

  private func search(_ count: Int, _ address: UInt64, _ offset: (Int) -> UInt64) -> Int? {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if offset(middle) < address { low = middle + 1 } else { high = middle }
    }
    return low < count && offset(low) == address ? low : nil
  }

  private func value(_ row: Row) -> Value? {
    switch UInt32(truncatingIfNeeded: row.info) {
    case 8: return .address(UInt64(bitPattern: row.addend))  // R_X86_64_RELATIVE
    case 1, 6, 7: break  // R_X86_64_64, GLOB_DAT, JUMP_SLOT
    default: return nil
    }
    guard let symbol: RawSymbols.Entry = symbols.load(Int(row.info >> 32) * RawSymbols.entrySize) else { return nil }
    if symbol.isDefined { return .address(symbol.value &+ UInt64(bitPattern: row.addend)) }
    return strings.cString(at: Int(symbol.name)).map(Value.symbol)
  }
}
