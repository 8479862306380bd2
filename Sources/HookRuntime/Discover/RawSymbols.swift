import Glibc

/// One ELF symbol table with its strings, checked once so that walking it needs no checks:
/// `count` whole entries are there, and the string table ends with NUL.
struct RawSymbols: @unchecked Sendable {  // read-only memory of a mapped file
  static let entrySize = 24

  let source: ImageSymbol.Source
  let symbols: ByteView
  let strings: ByteView
  let count: Int
  /// Where code lies, by section number; empty of sections that hold none.
  private let code: [Range<UInt64>]

  /// An ELF64 symbol entry.
  struct Entry: BitwiseCopyable {
    var name: UInt32
    var info: UInt8
    var other: UInt8
    var section: UInt16
    var value: UInt64
    var size: UInt64

    /// STT_FUNC.
    var isFunction: Bool { info & 15 == 2 }
    /// STT_NOTYPE: a label of hand-written assembly.
    var isLabel: Bool { info & 15 == 0 }
    /// STB_LOCAL.
    var isLocal: Bool { info >> 4 == 0 }
    /// STV_DEFAULT 0, STV_HIDDEN 2, STV_PROTECTED 3.
    var visibility: UInt8 { other & 3 }
    var isDefined: Bool { section != 0 }
  }

  /// What a table says about one name.
  enum Definition { case defined, imported }

  init?(_ file: ELFFile, section type: UInt32, source: ImageSymbol.Source) {
    guard let section = file.sections.first(where: { $0.type == type }), !section.isCompressed,
      let symbols = file.view(of: section), Int(section.link) < file.sections.count,
      let text = file.view(of: file.sections[Int(section.link)])
    else { return nil }
    // Up to and including the last NUL: a name that starts before it ends inside.
    guard let end = text.raw.lastIndex(of: 0) else { return nil }
    self.source = source
    self.symbols = symbols
    strings = ByteView(base: text.base, count: end + 1)
    count = min(symbols.count / Self.entrySize, RawSymbols.maximumCount)
    code = file.sections.map { section in
      let (end, overflows) = section.address.addingReportingOverflow(section.size)
      return section.isExecutable && !overflows ? section.address..<end : 0..<0
    }
  }

  /// The most entries of a table that are read: a reference of the index has 30 bits for them (SymbolTable.symbol).
  static let maximumCount = 1 << 30

  /// The tables a file has, .symtab before .dynsym.
  static func tables(of file: ELFFile) -> [RawSymbols] {
    [RawSymbols(file, section: 2, source: .symtab), RawSymbols(file, section: 11, source: .dynsym)].compactMap { $0 }
  }

  @inline(__always)
  subscript(index: Int) -> Entry {
    symbols.base.loadUnaligned(fromByteOffset: index * Self.entrySize, as: Entry.self)
  }

  /// Whether the entry is code: a function or a named label in an executable section, and within it: files may be damaged.
  @inline(__always)
  func isCode(_ entry: Entry) -> Bool {
    guard entry.isFunction || (entry.isLabel && entry.name != 0) else { return false }
    guard Int(entry.section) < code.count, entry.name < strings.count else { return false }
    return entry.section != 0 && code[Int(entry.section)].contains(entry.value)
  }

  /// The NUL-terminated name of an entry for which `isCode` holds.
  @inline(__always)
  func namePointer(_ entry: Entry) -> UnsafePointer<UInt8> {
    (strings.base + Int(entry.name)).assumingMemoryBound(to: UInt8.self)
  }

  /// Whether the entry's name is Swift's and ends so.
  func name(_ entry: Entry, endsWith suffix: StaticString) -> Bool {
    guard Int(entry.name) < strings.count else { return false }
    // The string table ends with NUL.
    let name = UnsafeBufferPointer(start: namePointer(entry), count: strlen(strings.base + Int(entry.name)))
    let size = suffix.utf8CodeUnitCount
    return SwiftNames.isSwift(name) && name.count > size && memcmp(name.baseAddress! + name.count - size, suffix.utf8Start, size) == 0
  }

  /// Whether the table defines or imports `name`; nil when it does neither.
  func definition(of name: StaticString) -> Definition? {
    let size = name.utf8CodeUnitCount
    for index in 0..<count {
      let entry = self[index]
      guard Int(entry.name) + size < strings.count else { continue }
      let text = strings.base + Int(entry.name)
      if memcmp(text, name.utf8Start, size) == 0, text.load(fromByteOffset: size, as: UInt8.self) == 0 {
        return entry.isDefined ? .defined : .imported
      }
    }
    return nil
  }
}
