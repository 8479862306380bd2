// ImportStubs — the stubs of the procedure linkage table: an image calls an imported function through one of 16 bytes, which jumps to
// where an import slot says (System V ABI, AMD64, 5.2). No symbol covers them; some linkers leave `_init` without a size before them.

/// Names the stubs of one image's file.
package struct ImportStubs {
  private let file: ELFFile
  private let sections: [ELFFile.Section]
  /// By the slot's address; read at the first stub.
  private var symbols: [UInt64: String]?

  package init(_ file: ELFFile) {
    self.file = file
    sections = file.sections.filter { $0.name.hasPrefix(".plt") }
  }

  package func contains(_ address: UInt64) -> Bool { sections.contains { address &- $0.address < $0.size } }

  /// Where the stub begins that holds the address, and the symbol it jumps to. Nil where none does, and for the stub that calls the loader.
  package mutating func stub(at address: UInt64) -> (symbol: String, start: UInt64)? {
    guard let section = sections.first(where: { address &- $0.address < $0.size }) else { return nil }
    let offset = address - section.address
    // Those of .plt.got have 8 bytes, others 16.
    for size: UInt64 in [8, 16] {
      let start = section.address + offset / size * size
      guard let slot = slot(ofStubAt: start, size: size), let symbol = symbol(of: slot) else { continue }
      return (symbol, start)
    }
    return nil
  }

  /// The word behind `jmp *displacement(%rip)`, which may follow `endbr64` and a prefix.
  private func slot(ofStubAt start: UInt64, size: UInt64) -> UInt64? {
    guard let code = file.bytes(at: start, count: Int(size)) else { return nil }
    for at in 0...Int(size) - 6 where code[at] == 0xff && code[at + 1] == 0x25 {
      let displacement = code.loadUnaligned(fromByteOffset: at + 2, as: Int32.self)
      return start &+ UInt64(at + 6) &+ UInt64(bitPattern: Int64(displacement))
    }
    return nil
  }

  private mutating func symbol(of slot: UInt64) -> String? {
    let known = symbols ?? Dictionary(ImportTable(file).slots { _ in true }.map { ($0.word, $0.symbol) }, uniquingKeysWith: { first, _ in first })
    symbols = known
    return known[slot]
  }
}
