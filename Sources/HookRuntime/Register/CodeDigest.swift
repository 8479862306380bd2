// CodeDigest — whether the code of a selector is the one that somebody has seen: `scripthost pin`, and `bodies` in a patch's header.
//
// Two builds of a program differ in where things lie. A digest counts what instructions do and what they name: functions and data by their
// symbols, texts and constants by what they are. Code that did not change has the same one in each build by the same compiler.
internal import CHookTrampoline
internal import SwiftMangling

package enum CodeDigest {
  /// One digest for several.
  package static func of(_ digests: [String]) -> String { text(digests.reduce(HKT_DIGEST_START) { $0.digesting($1) }) }

  fileprivate static func text(_ digest: UInt64) -> String {
    let digits = String(digest, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

extension ImageCatalog {
  /// 16 hexadecimal digits for the code of the family: its bodies, their parts and the closures in them. nil where there is no code of this
  /// image, or some that cannot be read. Any thread; reads the image's file.
  package func codeDigest(of family: Family) -> String? {
    guard family.imported == nil, !family.bodies.isEmpty else { return nil }
    return lock.withLock {
      var pieces: [UInt64: (name: String, size: Int)] = [:]
      for body in family.bodies {
        for code in body.allCode { pieces[code.lowerBound - bias] = (code.lowerBound == body.address ? body.mangledName : "", code.count) }
      }
      // What is made of a function bears its name, with more behind it.
      for symbol in symbols.candidates(prefix: Array(family.key.utf8)) {
        pieces[symbol.address] = (symbol.nameText, Int(symbol.size))
      }
      return digest(of: pieces)
    }
  }

  private func digest(of pieces: [UInt64: (name: String, size: Int)]) -> String? {
    var digest = HKT_DIGEST_START
    for (address, piece) in pieces.sorted(by: { ($0.value.name, $0.key) < ($1.value.name, $1.key) }) where piece.size > 0 {
      guard let bytes = file.bytes(at: address, count: piece.size)?.bindMemory(to: UInt8.self).baseAddress else { return nil }
      digest = digest.digesting(piece.name)
      var code = HKTCode(bytes: bytes, size: UInt64(piece.size), address: address, first_slot: 0)
      var host = HKTDigestHost(
        context: Unmanaged.passUnretained(self).toOpaque(),
        // The context is this catalog, which outlives the call that hands it over.
        named: { Unmanaged<ImageCatalog>.fromOpaque($0!).takeUnretainedValue().digestOfWhatLies(at: $1, size: $2) })
      guard hkt_digest_code(&code, &host, &digest) else { return nil }
    }
    return CodeDigest.text(digest)
  }

  /// A number for what code names by its address in the file.
  private func digestOfWhatLies(at address: UInt64, size: UInt64) -> UInt64 {
    let start = HKT_DIGEST_START
    if let name = nameOfWhatLies(at: address) { return start.digesting(name) }
    // Data that may change when the program runs, and code without a name, count by being there.
    guard let section = file.sections.first(where: { address >= $0.address && address < $0.address + $0.size && $0.address != 0 }),
      section.flags & 0x5 == 0
    else { return start }
    if size > 0 { return file.bytes(at: address, count: Int(min(size, 64))).map { hkt_digest_bytes(start, $0.baseAddress, UInt64($0.count)) } ?? start }
    return text(at: address, in: section).map { hkt_digest_bytes(start, $0.baseAddress, UInt64($0.count)) } ?? start
  }

  /// The symbol there, or the one that a stub or the linker's table of addresses leads to.
  private func nameOfWhatLies(at address: UInt64) -> String? {
    if let name = symbols.symbols(at: address).map(\.nameText).min() ?? metadataSymbols.names(at: address).min() { return name }
    let reader = MetadataReader(file: file)
    if let name = reader.importStub(at: address) { return "import " + String(decoding: name, as: UTF8.self) }
    switch file.relocations[address] {
    case .symbol(let name): return "pointer " + String(decoding: name, as: UTF8.self)
    case .address(let target): return symbols.symbols(at: target).map(\.nameText).min().map { "pointer " + $0 }
    case nil: return nil
    }
  }

  /// A text that ends with 0: a literal. Tables have other bytes.
  private func text(at address: UInt64, in section: ELFFile.Section) -> UnsafeRawBufferPointer? {
    let room = Int(min(section.address + section.size - address, Self.longestText))
    guard let bytes = file.bytes(at: address, count: room), let end = bytes.firstIndex(of: 0), end > 0 else { return nil }
    let text = UnsafeRawBufferPointer(rebasing: bytes[..<end])
    return text.allSatisfy { $0 >= 0x20 || (9...13).contains($0) } ? text : nil
  }
  private static let longestText: UInt64 = 4096
}

extension UInt64 {
  fileprivate func digesting(_ text: String) -> UInt64 {
    var text = text
    return text.withUTF8 { hkt_digest_bytes(self, $0.baseAddress, UInt64($0.count)) }
  }
}
