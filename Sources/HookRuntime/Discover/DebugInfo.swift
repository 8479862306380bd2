import Glibc

// DebugInfo — DWARF 4 and 5, as far as inlining and file names need it.
//
// Walks entries in file order and never builds a tree. Split DWARF, type units and
// the supplementary file of dwz are not followed; compressed sections are not
// unpacked: both look like absent debug information.

/// The debug sections of one file.
struct DebugInfo {
  let info: ByteView
  let abbreviations: ByteView
  let line: ByteView
  private let strings: ByteView
  private let lineStrings: ByteView
  private let stringOffsets: ByteView
  private let addresses: ByteView

  /// Nil without .debug_info that can be read.
  init?(_ file: ELFFile) {
    guard let info = file.view(section: ".debug_info"), !info.isEmpty,
      let abbreviations = file.view(section: ".debug_abbrev")
    else { return nil }
    self.info = info
    self.abbreviations = abbreviations
    func text(_ name: String) -> ByteView {
      guard let view = file.view(section: name), let last = view.raw.lastIndex(of: 0) else { return .empty }
      return ByteView(base: view.base, count: last + 1)
    }
    strings = text(".debug_str")
    lineStrings = text(".debug_line_str")
    stringOffsets = file.view(section: ".debug_str_offsets") ?? .empty
    line = file.view(section: ".debug_line") ?? .empty
    addresses = file.view(section: ".debug_addr") ?? .empty
  }

  // MARK: Units

  /// One compilation unit.
  struct Unit {
    /// Where its header starts and where the next unit starts, in .debug_info.
    let start: Int
    let end: Int
    /// Where its first entry starts.
    let firstEntry: Int
    let version: UInt16
    let offsetSize: Int
    let addressSize: Int
    let abbreviationOffset: UInt64
  }

  /// The unit whose header starts at `start`; nil at the end or where the header is damaged.
  func unit(at start: Int) -> Unit? {
    var cursor = DWARFCursor(info, from: start)
    guard !cursor.isAtEnd else { return nil }
    var length = UInt64(cursor.read(UInt32.self))
    let offsetSize = length == 0xffff_ffff ? 8 : 4
    if offsetSize == 8 { length = cursor.read(UInt64.self) }
    guard length > 0, length <= UInt64(cursor.end - cursor.offset) else { return nil }
    let end = cursor.offset + Int(length)
    let version = cursor.read(UInt16.self)
    guard (2...5).contains(version) else { return nil }
    let abbreviationOffset: UInt64
    let addressSize: UInt8
    if version >= 5 {
      let type = cursor.read(UInt8.self)
      addressSize = cursor.read()
      abbreviationOffset = cursor.readOffset(offsetSize)
      switch type {
      case 2, 6: cursor.skip(8 + offsetSize)  // type units: signature, offset of the type
      case 4, 5: cursor.skip(8)  // skeleton and split units: their id
      default: break
      }
    } else {
      abbreviationOffset = cursor.readOffset(offsetSize)
      addressSize = cursor.read()
    }
    guard !cursor.isDamaged, cursor.offset <= end, addressSize <= 8 else { return nil }
    return Unit(
      start: start, end: end, firstEntry: cursor.offset, version: version, offsetSize: offsetSize,
      addressSize: Int(addressSize), abbreviationOffset: abbreviationOffset)
  }

  // MARK: Values

  /// Where a string lies: the section in the two upper bits, the offset below.
  struct StringLocation: Hashable {
    let packed: UInt64

    init(packed: UInt64) { self.packed = packed }

    init?(_ section: UInt64, _ offset: UInt64) {
      guard offset < 1 << 62 else { return nil }
      packed = section << 62 | offset
    }
  }

  /// The NUL-terminated string at a location; nil when that is outside.
  func string(at location: StringLocation) -> UnsafePointer<CChar>? {
    let offset = location.packed & (1 << 62 - 1)
    let section = [strings, lineStrings, info][Int(min(location.packed >> 62, 2))]
    guard offset < UInt64(section.count) else { return nil }
    // The two string sections end with NUL; in .debug_info the string was skipped over when it was found.
    if location.packed >> 62 >= 2, section.cString(at: Int(offset)) == nil { return nil }
    return (section.base + Int(offset)).assumingMemoryBound(to: CChar.self)
  }

  func text(at location: StringLocation?) -> String? {
    location.flatMap(string(at:)).map { String(cString: $0) }
  }

  /// Reads a string-valued attribute; other forms are skipped and give nil.
  func readString(_ form: UInt64, _ unit: Unit, base: UInt64?, _ cursor: inout DWARFCursor) -> StringLocation? {
    switch form {
    case Form.string: return StringLocation(2, UInt64(cursor.skipString()))
    case Form.strp: return StringLocation(0, cursor.readOffset(unit.offsetSize))
    case Form.lineStrp: return StringLocation(1, cursor.readOffset(unit.offsetSize))
    case Form.strx, Form.gnuStringIndex: return indexedString(cursor.readULEB(), unit, base)
    case Form.strx1: return indexedString(UInt64(cursor.read(UInt8.self)), unit, base)
    case Form.strx2: return indexedString(UInt64(cursor.read(UInt16.self)), unit, base)
    case Form.strx3:
      let low = cursor.read(UInt16.self)
      return indexedString(UInt64(cursor.read(UInt8.self)) << 16 | UInt64(low), unit, base)
    case Form.strx4: return indexedString(UInt64(cursor.read(UInt32.self)), unit, base)
    default:
      Form.skip(form, unit, &cursor)
      return nil
    }
  }

  private func indexedString(_ index: UInt64, _ unit: Unit, _ base: UInt64?) -> StringLocation? {
    // Without DW_AT_str_offsets_base the table starts behind one header.
    let base = base ?? (unit.version >= 5 ? (unit.offsetSize == 8 ? 16 : 8) : 0)
    let (scaled, tooFar) = index.multipliedReportingOverflow(by: UInt64(unit.offsetSize))
    let (at, outside) = scaled.addingReportingOverflow(base)
    guard !tooFar, !outside, at < UInt64(stringOffsets.count) else { return nil }
    if unit.offsetSize == 8 { return stringOffsets.load(Int(at), as: UInt64.self).flatMap { StringLocation(0, $0) } }
    return stringOffsets.load(Int(at), as: UInt32.self).flatMap { StringLocation(0, UInt64($0)) }
  }

  /// Reads an address of the file; other forms are skipped and give nil.
  /// - Parameter base: where the unit's addresses start in .debug_addr (DW_AT_addr_base), for those that are numbered.
  func readAddress(_ form: UInt64, _ unit: Unit, base: UInt64?, _ cursor: inout DWARFCursor) -> UInt64? {
    switch form {
    case Form.addr where unit.addressSize == 8: return cursor.read(UInt64.self)
    case Form.addrx: return indexedAddress(cursor.readULEB(), unit, base)
    case Form.addrx1: return indexedAddress(UInt64(cursor.read(UInt8.self)), unit, base)
    case Form.addrx2: return indexedAddress(UInt64(cursor.read(UInt16.self)), unit, base)
    case Form.addrx4: return indexedAddress(UInt64(cursor.read(UInt32.self)), unit, base)
    default:
      Form.skip(form, unit, &cursor)
      return nil
    }
  }

  private func indexedAddress(_ index: UInt64, _ unit: Unit, _ base: UInt64?) -> UInt64? {
    // Without DW_AT_addr_base the table starts behind one header.
    let (scaled, tooFar) = index.multipliedReportingOverflow(by: 8)
    let (at, outside) = scaled.addingReportingOverflow(base ?? (unit.offsetSize == 8 ? 16 : 8))
    guard unit.addressSize == 8, !tooFar, !outside, at < UInt64(addresses.count) else { return nil }
    return addresses.load(Int(at), as: UInt64.self)
  }

  /// Reads a reference to another entry as an offset in .debug_info; nil when it leads out of this file.
  func readReference(_ form: UInt64, _ unit: Unit, _ cursor: inout DWARFCursor) -> Int? {
    let relative: UInt64
    switch form {
    case Form.ref1: relative = UInt64(cursor.read(UInt8.self))
    case Form.ref2: relative = UInt64(cursor.read(UInt16.self))
    case Form.ref4: relative = UInt64(cursor.read(UInt32.self))
    case Form.ref8: relative = cursor.read(UInt64.self)
    case Form.refUdata: relative = cursor.readULEB()
    case Form.refAddr:
      let absolute = cursor.readOffset(unit.version == 2 ? unit.addressSize : unit.offsetSize)
      return absolute < UInt64(info.count) ? Int(absolute) : nil
    default:
      Form.skip(form, unit, &cursor)
      return nil
    }
    return relative < UInt64(unit.end - unit.start) ? unit.start + Int(relative) : nil
  }

  // MARK: Root entries

  /// What the first entry of a unit says about all of it.
  struct Root {
    var producer: StringLocation?
    /// The optimiser ran. (LLVM says so for Swift on every platform, whatever the attribute's name.)
    var isOptimized = false
    /// Of another language: the compiler also describes C modules that it imports.
    var isForeign = false
    var stringOffsetsBase: UInt64?
    var addressBase: UInt64?
  }

  func root(of unit: Unit, _ table: AbbreviationTable) -> Root {
    var root = Root()
    var cursor = DWARFCursor(info, from: unit.firstEntry, to: unit.end)
    guard let abbreviation = table[cursor.readULEB()] else { return root }
    // The base of string indexes may follow the first string that needs it.
    let start = cursor.offset
    table.forEachAttribute(of: abbreviation, unit, &cursor) { name, form, cursor in
      guard name == Attribute.stringOffsetsBase, form == Form.secOffset else { return false }
      root.stringOffsetsBase = cursor.readOffset(unit.offsetSize)
      return true
    }
    cursor = DWARFCursor(info, from: start, to: unit.end)
    table.forEachAttribute(of: abbreviation, unit, &cursor) { name, form, cursor in
      switch name {
      case Attribute.addressBase where form == Form.secOffset: root.addressBase = cursor.readOffset(unit.offsetSize)
      case Attribute.producer: root.producer = readString(form, unit, base: root.stringOffsetsBase, &cursor)
      case Attribute.language where form == Form.data2: root.isForeign = cursor.read(UInt16.self) != Self.swift
      case Attribute.isOptimized:
        Form.skip(form, unit, &cursor)
        root.isOptimized = true
      default: return false
      }
      return true
    }
    return root
  }

  /// The producer of the first unit that a Swift compiler made.
  func swiftProducer() -> String? {
    var found: String?
    forEachSwiftUnit { producer, _ in
      found = producer
      return false
    }
    return found
  }

  /// No unit that a Swift compiler made was optimised, and there are such units.
  var isUnoptimized: Bool {
    var isAny = false
    var isOptimized = false
    forEachSwiftUnit { _, root in
      isAny = true
      isOptimized = root.isOptimized
      return !isOptimized
    }
    return isAny && !isOptimized
  }

  /// The debug information speaks of a function with this mangled name.
  func mentions(_ name: String) -> Bool {
    let bytes = Array(name.utf8) + [0]
    var offset = 0
    while let at = memchr(strings.base + offset, Int32(bytes[0]), strings.count - offset) {
      offset = UnsafeRawPointer(at) - strings.base
      guard strings.count - offset >= bytes.count else { return false }
      if memcmp(at, bytes, bytes.count) == 0 { return true }
      offset += 1
    }
    return false
  }

  /// DW_LANG_Swift
  private static let swift: UInt16 = 0x1e

  /// Calls `visit` with the producer and root of each unit that a Swift compiler made, until it answers false.
  private func forEachSwiftUnit(_ visit: (String, Root) -> Bool) {
    var next = 0
    while let unit = unit(at: next) {
      next = unit.end
      let root = root(of: unit, AbbreviationTable(abbreviations, unit))
      // "Swift version …", "Apple Swift version …"
      guard !root.isForeign, let producer = text(at: root.producer), producer.hasPrefix("Swift ") || producer.hasPrefix("Apple Swift ")
      else { continue }
      if !visit(producer, root) { return }
    }
  }
}

/// Attribute names (DW_AT_…) that are read.
enum Attribute {
  static let producer: UInt64 = 0x25
  static let language: UInt64 = 0x13
  static let name: UInt64 = 0x03
  static let lowPC: UInt64 = 0x11
  static let abstractOrigin: UInt64 = 0x31
  static let specification: UInt64 = 0x47
  static let linkageName: UInt64 = 0x6e
  static let mipsLinkageName: UInt64 = 0x2007
  static let stringOffsetsBase: UInt64 = 0x72
  static let addressBase: UInt64 = 0x73
  static let isOptimized: UInt64 = 0x3fe1
}

/// Attribute forms (DW_FORM_…): how many bytes a value takes.
enum Form {
  static let data2: UInt64 = 0x05, string: UInt64 = 0x08, strp: UInt64 = 0x0e, refAddr: UInt64 = 0x10, ref1: UInt64 = 0x11,
    ref2: UInt64 = 0x12
  static let ref4: UInt64 = 0x13, ref8: UInt64 = 0x14, refUdata: UInt64 = 0x15, indirect: UInt64 = 0x16
  static let secOffset: UInt64 = 0x17, strx: UInt64 = 0x1a, lineStrp: UInt64 = 0x1f, implicitConst: UInt64 = 0x21
  static let strx1: UInt64 = 0x25, strx2: UInt64 = 0x26, strx3: UInt64 = 0x27, strx4: UInt64 = 0x28
  static let addr: UInt64 = 0x01, addrx: UInt64 = 0x1b, addrx1: UInt64 = 0x29, addrx2: UInt64 = 0x2a, addrx4: UInt64 = 0x2c
  static let gnuStringIndex: UInt64 = 0x1f02

  /// The size of a value whose size does not depend on its content; nil for the others.
  static func fixedSize(_ form: UInt64, _ unit: DebugInfo.Unit) -> Int? {
    switch form {
    case 0x19, 0x21: 0  // flag_present, implicit_const
    case 0x0b, 0x0c, 0x11, 0x25, 0x29: 1
    case 0x05, 0x12, 0x26, 0x2a: 2
    case 0x27, 0x2b: 3
    case 0x06, 0x13, 0x1c, 0x28, 0x2c: 4
    case 0x07, 0x14, 0x20, 0x24: 8
    case 0x1e: 16
    case 0x01: unit.addressSize
    case 0x10: unit.version == 2 ? unit.addressSize : unit.offsetSize
    case 0x0e, 0x17, 0x1d, 0x1f, 0x1f20, 0x1f21: unit.offsetSize
    default: nil
    }
  }

  /// Skips one value. An unknown form ends the unit: nothing behind it can be found.
  static func skip(_ form: UInt64, _ unit: DebugInfo.Unit, _ cursor: inout DWARFCursor) {
    if let size = fixedSize(form, unit) {
      cursor.skip(size)
      return
    }
    switch form {
    case 0x08: cursor.skipString()
    case 0x0d, 0x0f, 0x15, 0x1a, 0x1b, 0x22, 0x23, 0x1f01, 0x1f02: _ = cursor.readULEB()
    case 0x03: cursor.skip(UInt64(cursor.read(UInt16.self)))
    case 0x04: cursor.skip(UInt64(cursor.read(UInt32.self)))
    case 0x0a: cursor.skip(UInt64(cursor.read(UInt8.self)))
    case 0x09, 0x18: cursor.skip(cursor.readULEB())
    case indirect:
      let actual = cursor.readULEB()
      // An indirect indirect could loop for ever.
      if actual == indirect || actual == implicitConst { cursor.skip(Int.max) } else { skip(actual, unit, &cursor) }
    default: cursor.skip(Int.max)
    }
  }
}
