// SourceFileNames — the Swift source files an image was compiled from.
//
// The compiler tells private declarations of different files apart by a
// discriminator: "_" and the MD5, in upper-case hexadecimal, of the module name
// followed by the base name of the file. It cannot be inverted, but the files are
// few and named in .debug_line, and in the "Module/File.swift" texts that traps
// and #fileID leave in .rodata even without debug information.

enum SourceFileNames {
  /// The discriminator of private declarations of `file` (a base name) in `module`: "_162F1CFABDD9853C21756F8FC1245CE0".
  static func discriminator(module: String, file: String) -> String {
    "_" + hexadecimal(MD5.digest(Array(module.utf8) + Array(file.utf8))).uppercased()
  }

  /// The base names of all Swift files, each once, sorted.
  static func collect(image: ELFFile, debug: DebugInfo?) -> [String] {
    var names = NameSet()
    if let debug { collect(lineTables: debug, into: &names) }
    if let rodata = image.view(section: ".rodata") { collect(constants: rodata, into: &names) }
    return names.names.sorted()
  }

  /// Collects base names; the same few come thousands of times, so they are recognised by hash before text is made.
  private struct NameSet {
    private var seen: Set<UInt64> = []
    private(set) var names: Set<String> = []

    /// Adds the base name of a path that ends in `.swift`.
    mutating func add(path: UnsafeBufferPointer<UInt8>) {
      guard path.count > 6, UnsafeBufferPointer(rebasing: path.suffix(6)).equals(".swift") else { return }
      let start = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
      let base = UnsafeBufferPointer(rebasing: path[start...])
      guard base.count > 6, seen.insert(checksum(UnsafeRawBufferPointer(base), seed: 1)).inserted else { return }
      names.insert(String(decoding: base, as: UTF8.self))
    }
  }

  // MARK: .debug_line

  private static func collect(lineTables debug: DebugInfo, into names: inout NameSet) {
    var start = 0
    while start < debug.line.count {
      var cursor = DWARFCursor(debug.line, from: start)
      var length = UInt64(cursor.read(UInt32.self))
      let offsetSize = length == 0xffff_ffff ? 8 : 4
      if offsetSize == 8 { length = cursor.read(UInt64.self) }
      guard !cursor.isDamaged, length > 0, length <= UInt64(cursor.end - cursor.offset) else { return }
      let end = cursor.offset + Int(length)
      var table = DWARFCursor(debug.line, from: cursor.offset, to: end)
      collect(&table, offsetSize, debug, &names)
      start = end
    }
  }

  /// One line table's header.
  private static func collect(
    _ cursor: inout DWARFCursor, _ offsetSize: Int, _ debug: DebugInfo, _ names: inout NameSet
  ) {
    let version = cursor.read(UInt16.self)
    guard (2...5).contains(version) else { return }
    var addressSize = 8
    if version >= 5 {
      addressSize = Int(cursor.read(UInt8.self))
      cursor.skip(1)
    }
    _ = cursor.readOffset(offsetSize)
    // minimum instruction length, [maximum operations], default is_stmt, line base, line range
    cursor.skip(version >= 4 ? 5 : 4)
    let opcodes = cursor.read(UInt8.self)
    cursor.skip(Int(opcodes) - 1 < 0 ? 0 : Int(opcodes) - 1)
    let unit = DebugInfo.Unit(
      start: 0, end: debug.line.count, firstEntry: 0, version: version, offsetSize: offsetSize, addressSize: addressSize,
      abbreviationOffset: 0)
    if version >= 5 {
      readEntries(&cursor, unit, debug) { _ in }  // directories
      readEntries(&cursor, unit, debug) { names.add(path: $0) }
      return
    }
    // Directories: strings up to an empty one.
    while !cursor.isDamaged {
      let start = cursor.skipString()
      if cursor.offset - start <= 1 { break }
    }
    // Files: name, directory, time, size, up to an empty name.
    while !cursor.isDamaged {
      let start = cursor.skipString()
      if cursor.isDamaged || cursor.offset - start <= 1 { return }
      if let path = debug.line.cString(at: start) { names.add(path: path) }
      for _ in 0..<3 { _ = cursor.readULEB() }
    }
  }

  /// One self-described table of DWARF 5; `body` gets each path.
  private static func readEntries(
    _ cursor: inout DWARFCursor, _ unit: DebugInfo.Unit, _ debug: DebugInfo, _ body: (UnsafeBufferPointer<UInt8>) -> Void
  ) {
    let columns = (0..<cursor.read(UInt8.self)).map { _ in (content: cursor.readULEB(), form: cursor.readULEB()) }
    let count = cursor.readULEB()
    // Each entry takes at least a byte; without this a damaged count could keep us busy for ever.
    guard !columns.isEmpty, count <= UInt64(cursor.end - cursor.offset) else { return }
    for _ in 0..<count {
      for column in columns {
        guard column.content == 1 else {  // DW_LNCT_path
          Form.skip(column.form, unit, &cursor)
          continue
        }
        if column.form == Form.string {
          let start = cursor.skipString()
          if !cursor.isDamaged, let path = debug.line.cString(at: start) { body(path) }
        } else if let location = debug.readString(column.form, unit, base: nil, &cursor),
          let path = debug.string(at: location)
        {
          body(UnsafeBufferPointer(start: UnsafeRawPointer(path).assumingMemoryBound(to: UInt8.self), count: length(path)))
        }
      }
      if cursor.isDamaged { return }
    }
  }

  /// How many bytes come before the NUL.
  private static func length(_ text: UnsafePointer<CChar>) -> Int {
    var count = 0
    while text[count] != 0 { count += 1 }
    return count
  }

  // MARK: .rodata

  /// Texts that end with ".swift" and NUL.
  private static func collect(constants: ByteView, into names: inout NameSet) {
    let bytes = constants.raw.assumingMemoryBound(to: UInt8.self)
    var at = 6
    while at < bytes.count {
      if bytes[at] == 0, bytes[at - 1] == UInt8(ascii: "t"), bytes[at - 6] == UInt8(ascii: ".") {
        var start = at
        while start > 0, at - start < 1024, bytes[start - 1] >= 0x20 { start -= 1 }
        names.add(path: UnsafeBufferPointer(rebasing: bytes[start..<at]))
      }
      at += 1
    }
  }
}
