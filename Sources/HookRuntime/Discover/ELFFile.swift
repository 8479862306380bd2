import Glibc
import Synchronization

// ELFFile — one ELF64 x86-64 file, mapped read-only.
//
// Knows the two tables every other reader starts from: sections (by name) and
// segments (by address). The mapping is never undone (see MappedFile.forever), so
// what points into the file may outlive this object. Nothing here trusts the file:
// a section or segment that promises bytes outside the file has no bytes.
// Leaves the meaning of the sections to SymbolTable, SwiftTypes and InlineTable.

/// A program, library, object or debug file. Immutable after `init`; may be used from any thread.
package final class ELFFile: @unchecked Sendable {  // all stored properties are constants or guarded; the mapping is read-only and never undone
  /// One row of the section table.
  package struct Section: Sendable {
    package let name: String
    package let type: UInt32
    package let flags: UInt64
    package let address: UInt64
    package let offset: UInt64
    package let size: UInt64
    package let link: UInt32

    /// SHT_NOBITS: the section takes memory but no bytes in this file.
    var hasNoBytes: Bool { type == 8 }
    /// SHF_COMPRESSED: the bytes are compressed; nothing here unpacks them.
    package var isCompressed: Bool { flags & 0x800 != 0 }
    /// SHF_ALLOC and SHF_EXECINSTR.
    var isExecutable: Bool { flags & 0x6 == 0x6 }
  }

  /// One row of the program header table.
  package struct Segment: Sendable {
    package let type: UInt32
    package let flags: UInt32
    package let offset: UInt64
    package let address: UInt64
    package let fileSize: UInt64
    package let memorySize: UInt64

    var isLoaded: Bool { type == 1 }
  }

  /// The path it was opened by.
  package let path: String
  package let sections: [Section]
  package let segments: [Segment]
  /// e_type: 1 relocatable, 2 executable at a fixed address, 3 shared or position independent.
  package let type: UInt16
  /// File identity at the time of opening.
  package let device: UInt64
  package let inode: UInt64

  let view: ByteView
  /// The GNU build-id, or empty.
  package let buildID: [UInt8]
  let dynamic: DynamicTable

  /// Maps the file at `path`.
  package convenience init(path: String) throws(ImageError) {
    try self.init(path: path, shownAs: path)
  }

  /// Maps `path` but calls it `shownAs`; for /proc/self/exe, whose own name tells a reader nothing.
  init(path: String, shownAs: String) throws(ImageError) {
    let mapping: MappedFile
    do {
      mapping = try MappedFile.forever(path: path)
    } catch {
      switch error {
      case .open(ENOENT), .open(ENOTDIR): throw .notFound(path: shownAs)
      case .open(let code), .map(let code): throw .unreadable(path: shownAs, code: code)
      case .directory: throw .directory(path: shownAs)
      case .notRegular: throw .notELF(path: shownAs)
      }
    }
    let view = mapping.view
    try Self.checkHeader(view, path: shownAs)
    self.path = shownAs
    self.view = view
    device = UInt64(mapping.status.st_dev)
    inode = UInt64(mapping.status.st_ino)
    type = view.load(16) ?? 0
    segments = try Self.readSegments(view, path: shownAs)
    sections = try Self.readSections(view, path: shownAs)
    buildID = Self.findBuildID(view, sections: sections, segments: segments)
    dynamic = DynamicTable(view, segments: segments)
  }

  /// Takes what was read of all files out of this process's memory; it comes back when it is looked at.
  package static func releasePages() { MappedFile.releasePages() }

  private let foundRelocations = Mutex<Relocations?>(nil)
  /// Sorted at the first look.
  var relocations: Relocations {
    foundRelocations.withLock { found in
      if let found { return found }
      let made = Relocations(self)
      found = made
      return made
    }
  }

  /// The first section with this name.
  package func section(named name: String) -> Section? {
    sections.first { $0.name == name }
  }

  /// The file bytes of a section; nil when it has none here (NOBITS, outside the file).
  package func bytes(of section: Section) -> UnsafeRawBufferPointer? {
    view(of: section)?.raw
  }

  /// The file bytes behind `count` bytes at a virtual address; nil where the file has none (outside, zero-filled).
  package func bytes(at address: UInt64, count: Int) -> UnsafeRawBufferPointer? {
    guard count >= 0, let rest = view(at: address), rest.count >= count else { return nil }
    return UnsafeRawBufferPointer(start: rest.base, count: count)
  }

  func view(of section: Section?) -> ByteView? {
    guard let section, !section.hasNoBytes else { return nil }
    return view.slice(section.offset, section.size)
  }

  /// The uncompressed bytes of a section by name.
  func view(section name: String) -> ByteView? {
    guard let section = section(named: name), !section.isCompressed else { return nil }
    return view(of: section)
  }

  /// Everything the file has from a virtual address to the end of its segment.
  func view(at address: UInt64) -> ByteView? {
    for segment in segments where segment.isLoaded && address >= segment.address {
      let delta = address - segment.address
      if delta < segment.fileSize, let bytes = view.slice(segment.offset, segment.fileSize) {
        return bytes.suffix(from: Int(delta))
      }
    }
    return nil
  }

  /// Changes with any change to size, place or kind of a section: `strip` keeps the build-id.
  var sectionTableSum: UInt64 {
    sections.reduce(UInt64(view.count)) { sum, section in
      let row = [UInt64(section.type), section.flags, section.address, section.offset, section.size]
      return row.withUnsafeBytes { checksum($0, seed: sum) }
    }
  }

  /// The build-id in lower-case hexadecimal, or "".
  package var buildIDHex: String { hexadecimal(buildID) }
}

// MARK: Reading the tables

extension ELFFile {
  /// Magic number, class, byte order and machine; also tells scripts apart.
  private static func checkHeader(_ view: ByteView, path: String) throws(ImageError) {
    guard let magic = view.load(0, as: UInt32.self) else {
      if let interpreter = scriptInterpreter(view) { throw .script(path: path, interpreter: interpreter) }
      throw .notELF(path: path)
    }
    guard magic == 0x464c_457f else {
      if let interpreter = scriptInterpreter(view) { throw .script(path: path, interpreter: interpreter) }
      throw .notELF(path: path)
    }
    guard let fileClass = view.load(4, as: UInt8.self), let order = view.load(5, as: UInt8.self),
      let machine = view.load(18, as: UInt16.self)
    else { throw .truncated(path: path, what: "header") }
    guard fileClass == 2 else { throw .wrongClass(path: path, found: fileClass == 1 ? "32-bit" : "of class \(fileClass)") }
    guard order == 1 else { throw .wrongClass(path: path, found: "big-endian") }
    guard machine == 62 else { throw .wrongClass(path: path, found: machine == 183 ? "for aarch64" : "for machine \(machine)") }
    guard view.count >= 64 else { throw .truncated(path: path, what: "header") }
  }

  /// The program named after `#!`, when the bytes start so.
  private static func scriptInterpreter(_ view: ByteView) -> String? {
    guard view.load(0, as: UInt16.self) == 0x2123 else { return nil }
    let line = view.raw.prefix(256).dropFirst(2).prefix { $0 != 0x0a }
    return String(decoding: line, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: true).first.map(String.init) ?? ""
  }

  private static func readSegments(_ view: ByteView, path: String) throws(ImageError) -> [Segment] {
    let offset: UInt64 = view.load(32)!  // the header's 64 bytes are known to be there
    let entry = Int(view.load(54, as: UInt16.self)!)
    let count = Int(view.load(56, as: UInt16.self)!)
    guard count > 0 else { return [] }
    guard entry >= 56, let table = view.slice(offset, UInt64(entry * count)) else {
      throw .truncated(path: path, what: "program header table")
    }
    return (0..<count).map { index in
      let at = index * entry
      return Segment(
        type: table.load(at)!, flags: table.load(at + 4)!, offset: table.load(at + 8)!,
        address: table.load(at + 16)!, fileSize: table.load(at + 32)!, memorySize: table.load(at + 40)!)
    }
  }

  private static func readSections(_ view: ByteView, path: String) throws(ImageError) -> [Section] {
    let offset: UInt64 = view.load(40)!
    let entry = Int(view.load(58, as: UInt16.self)!)
    var count = UInt64(view.load(60, as: UInt16.self)!)
    var names = UInt64(view.load(62, as: UInt16.self)!)
    guard offset != 0 else { return [] }
    guard entry >= 64, let first = view.slice(offset, 64) else {
      throw .truncated(path: path, what: "section table")
    }
    // More than 65,279 sections: the real numbers are in section 0.
    if count == 0 { count = first.load(32)! }
    if names == 0xffff { names = UInt64(first.load(40, as: UInt32.self)!) }
    guard count <= UInt64(view.count) / UInt64(entry), let table = view.slice(offset, count * UInt64(entry)) else {
      throw .truncated(path: path, what: "section table")
    }
    var strings = ByteView.empty
    if names < count {
      let at = Int(names) * entry
      strings = view.slice(table.load(at + 24)!, table.load(at + 32)!) ?? .empty
    }
    return (0..<Int(count)).map { index in
      let at = index * entry
      return Section(
        name: strings.string(at: Int(table.load(at, as: UInt32.self)!)) ?? "", type: table.load(at + 4)!,
        flags: table.load(at + 8)!, address: table.load(at + 16)!, offset: table.load(at + 24)!,
        size: table.load(at + 32)!, link: table.load(at + 40)!)
    }
  }

  /// The GNU build-id, from note segments or, in files without segments, note sections.
  private static func findBuildID(_ view: ByteView, sections: [Section], segments: [Segment]) -> [UInt8] {
    for section in sections where section.type == 7 && section.name == ".note.gnu.build-id" {
      if let notes = view.slice(section.offset, section.size), let id = buildID(inNotes: notes) { return id }
    }
    for segment in segments where segment.type == 4 {
      if let notes = view.slice(segment.offset, segment.fileSize), let id = buildID(inNotes: notes) { return id }
    }
    return []
  }

  /// The description of the NT_GNU_BUILD_ID note in a run of notes.
  static func buildID(inNotes notes: ByteView) -> [UInt8]? {
    var at = 0
    while let nameSize: UInt32 = notes.load(at), let size: UInt32 = notes.load(at + 4), let type: UInt32 = notes.load(at + 8) {
      let nameAt = at + 12
      let descriptionAt = nameAt + (Int(nameSize) + 3) & ~3
      if type == 3, nameSize == 4, notes.load(nameAt) == UInt32(0x0055_4e47), size > 0, size <= 64,
        let id = notes.slice(UInt64(descriptionAt), UInt64(size))
      {
        return Array(id.raw)
      }
      at = descriptionAt + (Int(size) + 3) & ~3
    }
    return nil
  }
}

/// Lower-case hexadecimal digits of `bytes`.
func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
  let digits = Array("0123456789abcdef".utf8)
  var text: [UInt8] = []
  for byte in bytes {
    text.append(digits[Int(byte >> 4)])
    text.append(digits[Int(byte & 15)])
  }
  return String(decoding: text, as: UTF8.self)
}
