// ImportTable — the words of one image that the loader fills with addresses of functions: its import slots.
//
// A C function is called through a word of the calling image, which the loader fills at load or, where the image binds
// lazily, at the first call. Read from the dynamic relocations of the file:
//
//   R_X86_64_JUMP_SLOT  the word behind a PLT entry: calls of the function
//   R_X86_64_GLOB_DAT   the word the code loads the function's address from (`-fno-plt` calls, `&function`)
//   R_X86_64_64         a pointer in data that begins as the function's address (a table of callbacks)
//
// R_X86_64_COPY and R_X86_64_IRELATIVE name no function that is imported: the first copies a variable, the second picks one
// of the image's own bodies. R_X86_64_RELATIVE and RELR rows stay within the image.
private import Glibc

/// One word of an image through which it reaches a function.
package struct ImportSlot: Hashable, Sendable {
  package enum Kind: UInt8, Sendable {
    /// An entry of the PLT jumps through it.
    case call
    /// Code loads it.
    case address
    /// It lies in data the program may write to.
    case pointer
  }

  package let kind: Kind
  /// Without its version: `getaddrinfo`.
  package let symbol: String
  /// `GLIBC_2.2.5`; nil where the image asks for none.
  package let version: String?
  /// Virtual address of the word, without the load bias.
  package let word: UInt64
  /// The word's value in the file, before the loader added the bias: of a slot that binds lazily the way to the loader's
  /// resolver. nil where the file has no bytes for it.
  package let initialValue: UInt64?
  /// The function need not exist: the word is 0 then.
  package let isWeak: Bool
  /// The image has a function of that name itself, which another image's may stand in for.
  package let isDefinedHere: Bool
  /// The reference says that it is a function. Where it does not (some linkers write none), only what it is bound to tells.
  package let saysFunction: Bool
}

/// The import slots of one file. Reads the file each time it is asked; keeps nothing.
package struct ImportTable {
  private let file: ELFFile
  private let symbols: ByteView
  private let strings: ByteView
  private let versions: ByteView

  fileprivate struct Row: BitwiseCopyable {
    var offset: UInt64
    var info: UInt64
    var addend: Int64
    var type: UInt32 { UInt32(truncatingIfNeeded: info) }
    var symbol: Int { Int(info >> 32) }
  }

  package init(_ file: ELFFile) {
    self.file = file
    symbols = file.view(at: file.dynamic.symbols) ?? .empty
    strings = file.view(at: file.dynamic.strings)?.slice(0, file.dynamic.stringsSize) ?? .empty
    versions = file.dynamic.versions == 0 ? .empty : file.view(at: file.dynamic.versions) ?? .empty
  }

  /// The slots of these symbols, in the order of the relocations.
  package func slots(of names: Set<String>) -> [ImportSlot] {
    let wanted = names.map { Array($0.utf8) }
    return slots { name in wanted.contains { $0.count == name.count && memcmp($0, name.baseAddress!, name.count) == 0 } }
  }

  /// The slots whose symbol satisfies `isWanted`, which is given the name without its final NUL.
  package func slots(where isWanted: (UnsafeBufferPointer<UInt8>) -> Bool) -> [ImportSlot] {
    var found: [ImportSlot] = []
    var names: [UInt16: String]?
    for (table, size) in [(file.dynamic.jumps, file.dynamic.jumpsSize), (file.dynamic.rela, file.dynamic.relaSize)] where size > 0 {
      guard let rows = file.view(at: table)?.slice(0, size) else { continue }
      for at in stride(from: 0, to: rows.count - 23, by: 24) {
        let row: Row = rows.load(at)!  // whole rows only
        guard let kind = ImportSlot.Kind(row), let symbol: RawSymbols.Entry = symbols.load(row.symbol * RawSymbols.entrySize),
          symbol.mayBeFunction, let name = strings.cString(at: Int(symbol.name)), name.count > 0,
          // A pointer to a function of its own is no import: a constructor, a row of a table.
          kind != .pointer || !symbol.isDefined, isWanted(name)
        else { continue }
        if names == nil { names = neededVersions() }
        found.append(slot(kind, row, symbol, name, versionNames: names ?? [:]))
      }
    }
    return found
  }

  /// One row of the relocations as the word through which a C function is called.
  private func slot(
    _ kind: ImportSlot.Kind, _ row: Row, _ symbol: RawSymbols.Entry, _ name: UnsafeBufferPointer<UInt8>, versionNames: [UInt16: String]
  ) -> ImportSlot {
    let version: UInt16 = versions.load(2 * row.symbol) ?? 0
    return ImportSlot(
      kind: kind, symbol: String(decoding: name, as: UTF8.self), version: versionNames[version & 0x7FFF], word: row.offset,
      initialValue: file.view(at: row.offset)?.load(0), isWeak: symbol.info >> 4 == 2, isDefinedHere: symbol.isDefined,
      saysFunction: symbol.isFunction || symbol.isIndirectFunction)
  }

  /// Version numbers of this file's symbols and their names: DT_VERNEED and DT_VERDEF.
  private func neededVersions() -> [UInt16: String] {
    var names: [UInt16: String] = [:]
    var need = file.dynamic.versionNeeds == 0 ? nil : file.view(at: file.dynamic.versionNeeds)
    while let entry = need, let first: UInt32 = entry.load(8), let next: UInt32 = entry.load(12) {
      var part = entry.suffix(from: Int(first))
      // struct Elf64_Vernaux {hash, flags, other, name, next}
      while let version = part, let number: UInt16 = version.load(6), let name: UInt32 = version.load(8),
        let step: UInt32 = version.load(12)
      {
        names[number & 0x7FFF] = strings.string(at: Int(name))
        part = step == 0 ? nil : version.suffix(from: Int(step))
      }
      need = next == 0 ? nil : entry.suffix(from: Int(next))
    }
    var definition = file.dynamic.versionDefinitions == 0 ? nil : file.view(at: file.dynamic.versionDefinitions)
    // struct Elf64_Verdef {version, flags, ndx, cnt, hash, aux, next}, Elf64_Verdaux {name, next}
    while let entry = definition, let flags: UInt16 = entry.load(2), let number: UInt16 = entry.load(4), let part: UInt32 = entry.load(12),
      let next: UInt32 = entry.load(16)
    {
      // The base definition names the file.
      if flags & 1 == 0, let name: UInt32 = entry.suffix(from: Int(part))?.load(0) {
        names[number & 0x7FFF] = strings.string(at: Int(name))
      }
      definition = next == 0 ? nil : entry.suffix(from: Int(next))
    }
    return names
  }
}

extension ImportSlot.Kind {
  /// nil for relocations that reach no function of another image by name.
  fileprivate init?(_ row: ImportTable.Row) {
    switch row.type {
    case 7: self = .call
    case 6: self = .address
    case 1 where row.addend == 0: self = .pointer
    default: return nil
    }
  }
}

extension RawSymbols.Entry {
  /// STT_GNU_IFUNC.
  var isIndirectFunction: Bool { info & 15 == 10 }
  /// A function, or a reference that does not say what to.
  fileprivate var mayBeFunction: Bool { isFunction || isIndirectFunction || info & 15 == 0 }
}

extension ELFFile {
  /// Every function it calls is looked up when it is loaded, not at its first call.
  package var bindsNow: Bool { dynamic.bindsNow }
  /// Names are looked up in itself before the program.
  package var isSymbolic: Bool { dynamic.isSymbolic }
}
