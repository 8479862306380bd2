import Glibc

/// Counts copies of functions that bear no symbol, by the function's linkage name: what was inlined into others
/// (DW_TAG_inlined_subroutine), and functions of which the name is left in the debug information alone (DW_TAG_subprogram): LLVM merges
/// equal ones into code without a name.
struct InlineCounter {
  private static let inlinedSubroutine: UInt64 = 0x1d
  private static let subprogram: UInt64 = 0x2e

  let debug: DebugInfo
  private let symbols: SymbolTable
  /// Copies found, and copies whose function could not be named.
  private(set) var total = 0
  private(set) var unresolved = 0
  private var counts: [DebugInfo.StringLocation: Int] = [:]
  /// Code at which no symbol stands.
  private var nameless: [DebugInfo.StringLocation: Int] = [:]
  private var units: [DebugInfo.Unit] = []
  /// References into other units, resolved at the end.
  private var inOtherUnits: [Int] = []

  /// - Parameter symbols: of the image that `debug` describes.
  init(_ debug: DebugInfo, _ symbols: SymbolTable) {
    self.debug = debug
    self.symbols = symbols
  }

  /// Names and counts, sorted by name, each name once.
  mutating func run() -> [(name: DebugInfo.StringLocation, count: Int)] {
    var next = 0
    while let unit = debug.unit(at: next) {
      next = unit.end
      units.append(unit)
      count(unit)
    }
    countInOtherUnits()
    countNameless()
    return sortedByName()
  }

  private mutating func count(_ unit: DebugInfo.Unit) {
    let table = AbbreviationTable(debug.abbreviations, unit)
    let root = debug.root(of: unit, table)
    let (inlined, functions) = copies(unit, table, root)
    for function in functions {
      if case .name(let name) = name(of: function, unit, table, root.stringOffsetsBase, depth: 0) { nameless[name, default: 0] += 1 }
    }
    var origins = inlined
    total += origins.count
    guard !origins.isEmpty else { return }
    origins.sort()
    let base = root.stringOffsetsBase
    var at = 0
    while at < origins.count {
      let origin = origins[at]
      let start = at
      while at < origins.count, origins[at] == origin { at += 1 }
      add(origin, at - start, unit, table, base)
    }
  }

  /// The origins of all inlined subroutines of a unit, -1 where they cannot be resolved, and the functions at whose code no symbol stands.
  private func copies(
    _ unit: DebugInfo.Unit, _ table: AbbreviationTable, _ root: DebugInfo.Root
  ) -> (inlined: [Int], functions: [Int]) {
    var origins: [Int] = []
    var functions: [Int] = []
    // Of a stripped image nothing bears a symbol.
    let hasSymbols = symbols.hasLocalSymbols
    var cursor = DWARFCursor(debug.info, from: unit.firstEntry, to: unit.end)
    while !cursor.isAtEnd {
      let entry = cursor.offset
      let code = cursor.readULEB()
      if code == 0 { continue }
      guard let abbreviation = table[code] else { break }
      if abbreviation.tag == Self.subprogram, abbreviation.hasAddress, hasSymbols {
        var value = cursor
        var address: UInt64?
        table.forEachAttribute(of: abbreviation, unit, &value) { name, form, cursor in
          guard name == Attribute.lowPC else { return false }
          address = debug.readAddress(form, unit, base: root.addressBase, &cursor)
          return true
        }
        if let address, symbols.isNamelessCode(at: address) { functions.append(entry) }
      } else if abbreviation.tag == Self.inlinedSubroutine {
        if abbreviation.originOffset >= 0 {
          var value = cursor
          value.skip(abbreviation.originOffset)
          origins.append(debug.readReference(abbreviation.originForm, unit, &value) ?? -1)
        } else {
          var value = cursor
          var origin = -1
          table.forEachAttribute(of: abbreviation, unit, &value) { name, form, cursor in
            guard name == Attribute.abstractOrigin else { return false }
            origin = debug.readReference(form, unit, &cursor) ?? -1
            return true
          }
          origins.append(origin)
        }
      }
      table.skip(abbreviation, unit, &cursor)
    }
    return (origins, functions)
  }

  /// Those of which no symbol has the name either: others are a jump to the code, and are judged by their own (SharedCode).
  private mutating func countNameless() {
    for (name, count) in nameless {
      guard let text = debug.string(at: name) else { continue }
      let bytes = UnsafeBufferPointer(start: UnsafeRawPointer(text).assumingMemoryBound(to: UInt8.self), count: strlen(text))
      guard SwiftNames.isIndexed(bytes), symbols.symbols(named: Array(bytes)).isEmpty else { continue }
      counts[name, default: 0] += count
      total += count
    }
  }

  private mutating func add(
    _ origin: Int, _ count: Int, _ unit: DebugInfo.Unit, _ table: AbbreviationTable, _ base: UInt64?
  ) {
    switch name(of: origin, unit, table, base, depth: 0) {
    case .name(let name): counts[name, default: 0] += count
    case .elsewhere(let offset): inOtherUnits.append(contentsOf: repeatElement(offset, count: count))
    case .nameless: unresolved += count
    }
  }

  private mutating func countInOtherUnits() {
    inOtherUnits.sort()
    var at = 0
    var current: (unit: DebugInfo.Unit, table: AbbreviationTable, base: UInt64?)?
    while at < inOtherUnits.count {
      let start = at
      while at < inOtherUnits.count, inOtherUnits[at] == inOtherUnits[start] { at += 1 }
      var offset = inOtherUnits[start]
      // A chain may lead through several units; each hop is looked up anew.
      for hop in 0...8 {
        guard let unit = unit(containing: offset), hop < 8 else {
          unresolved += at - start
          break
        }
        if current?.unit.start != unit.start {
          let table = AbbreviationTable(debug.abbreviations, unit)
          current = (unit, table, debug.root(of: unit, table).stringOffsetsBase)
        }
        let found = name(of: offset, unit, current!.table, current!.base, depth: 0)
        if case .elsewhere(let next) = found {
          offset = next
          continue
        }
        if case .name(let name) = found { counts[name, default: 0] += at - start } else { unresolved += at - start }
        break
      }
    }
  }

  private func unit(containing offset: Int) -> DebugInfo.Unit? {
    var low = 0
    var high = units.count
    while low < high {
      let middle = (low + high) / 2
      if units[middle].start <= offset { low = middle + 1 } else { high = middle }
    }
    return low > 0 && offset < units[low - 1].end ? units[low - 1] : nil
  }

  private enum Found {
    case name(DebugInfo.StringLocation)
    case elsewhere(Int)
    case nameless
  }

  /// The linkage name of an entry, or of the declaration it completes, or its plain name (C functions have no other).
  private func name(
    of offset: Int, _ unit: DebugInfo.Unit, _ table: AbbreviationTable, _ base: UInt64?, depth: Int
  ) -> Found {
    guard offset >= 0, depth < 8 else { return .nameless }
    guard offset >= unit.firstEntry, offset < unit.end else { return .elsewhere(offset) }
    var cursor = DWARFCursor(debug.info, from: offset, to: unit.end)
    guard let abbreviation = table[cursor.readULEB()] else { return .nameless }
    var linkage: DebugInfo.StringLocation?
    var plain: DebugInfo.StringLocation?
    var declaration: Int?
    table.forEachAttribute(of: abbreviation, unit, &cursor) { name, form, cursor in
      switch name {
      case Attribute.linkageName, Attribute.mipsLinkageName:
        linkage = debug.readString(form, unit, base: base, &cursor)
      case Attribute.name:
        plain = debug.readString(form, unit, base: base, &cursor)
      case Attribute.specification, Attribute.abstractOrigin:
        declaration = debug.readReference(form, unit, &cursor)
      default:
        return false
      }
      return true
    }
    if let linkage { return .name(linkage) }
    if let declaration, declaration != offset { return name(of: declaration, unit, table, base, depth: depth + 1) }
    return plain.map(Found.name) ?? .nameless
  }

  /// Strings are usually merged by the linker; where they are not, one name has several locations.
  private func sortedByName() -> [(name: DebugInfo.StringLocation, count: Int)] {
    let named = counts.compactMap { location, count in
      debug.string(at: location).map { (text: $0, name: location, count: count) }
    }.sorted { strcmp($0.text, $1.text) < 0 }
    var merged: [(name: DebugInfo.StringLocation, count: Int)] = []
    var last: UnsafePointer<CChar>?
    for row in named {
      if let last, strcmp(last, row.text) == 0 {
        merged[merged.count - 1].count += row.count
      } else {
        merged.append((row.name, row.count))
      }
      last = row.text
    }
    return merged
  }
}
