// EvolvingModules — modules of the program that are built for evolution (`-enable-library-evolution`).
//
// Everybody passes such a module's public structs and enums by address, unless they are `@frozen`, the module itself too; their
// metadata is like any other's. The module shows in its symbols: dispatch thunks (`…Tj`), enum cases'
// tags (`…WC`), method lookup functions (`…Mu`) exist for no other module, and metadata base offsets (`…Mo`) besides for subclasses of
// other modules' classes (of the standard library's ManagedBuffer, in FoundationEssentials). Enums that are not frozen have `…WC` symbols.
// Nothing tells frozen structs from others (`swiftc -emit-ir` of both, docs/abi-notes.md): those are refused.
internal import Glibc

/// How a type travels.
enum Evolution {
  /// It travels by its layout.
  case fixed
  /// It travels by address.
  case changes
  /// Whether it is frozen is not known.
  case unknown
}

/// Asked once for each type. Any thread; a lock that is held while files are read, never while other code runs.
final class EvolvingModules: @unchecked Sendable {
  // All state is behind `lock`.
  static let shared = EvolvingModules()
  private let lock = RecursiveLock()
  private var images: LoadedImages?
  private var seen: UInt64 = .max
  private var tables: [String: Table] = [:]

  func evolution(of descriptor: TypeDescriptor) -> Evolution {
    lock.withLock {
      let address = UInt(bitPattern: descriptor.pointer)
      guard let image = images(now: LoadedImages.changeCount).image(containing: address), let table = table(image), !table.modules.isEmpty
      else { return .fixed }
      return table.evolution(at: UInt64(address - image.bias), descriptor)
    }
  }

  /// Whether other modules may name a type that `module` declares; nil where the image's symbols do not tell which ones they may.
  func isPublic(_ descriptor: TypeDescriptor, in module: String) -> Bool? {
    lock.withLock {
      let address = UInt(bitPattern: descriptor.pointer)
      guard let image = images(now: LoadedImages.changeCount).image(containing: address), let table = table(image),
        table.exporting.contains(module)
      else { return nil }
      return table.isPublic(at: UInt64(address - image.bias))
    }
  }

  private func images(now change: UInt64) -> LoadedImages {
    if let images, seen == change { return images }
    let made = LoadedImages.snapshot()
    images = made
    seen = change
    return made
  }

  private func table(_ image: LoadedImage) -> Table? {
    if let known = tables[image.path] { return known }
    guard let file = image.file else { return nil }
    let made = Table(file)
    tables[image.path] = made
    return made
  }
}

/// What one image's symbols say.
private struct Table {
  private(set) var modules: Set<String> = []
  /// Names of the enums, without `$s`, whose cases have tags.
  private var enums: Set<String> = []
  /// Of public types: the file's address of the descriptor, and the type's mangled name.
  private var types: [UInt64: String] = [:]
  /// Those of the modules that have any public type here.
  private(set) var exporting: Set<String> = []

  init(_ file: ELFFile) {
    let symbols = RawSymbols.tables(of: file)
    var bases: [String: String] = [:]
    for table in symbols {
      for index in 0..<table.count {
        guard let name = Self.name(table, table[index]) else { continue }
        let isTag = name.hasSuffix("WC")
        let isBase = name.hasSuffix("Mo")
        guard isTag || isBase || name.hasSuffix("Tj") || name.hasSuffix("Mu"), let module = name.module else { continue }
        if isBase {
          if !table[index].isLocal { bases[String(name.text.dropLast(2))] = module }
          continue
        }
        modules.insert(module)
        if isTag { tags.append(name.text) }
      }
    }
    addModules(of: bases, file, symbols)
    if modules.isEmpty { return }
    for table in symbols {
      for index in 0..<table.count {
        let entry = table[index]
        guard !entry.isLocal, entry.visibility != 2, let name = Self.name(table, entry), name.hasSuffix("Mn"), let module = name.module,
          modules.contains(module)
        else { continue }
        types[entry.value] = String(name.text.dropLast(2))
        exporting.insert(module)
      }
    }
    // A case's name begins with its enum's: `3Lib5ShapeO` of `3Lib5ShapeO6circleyACSicACmFWC`.
    let all = Set(types.values)
    for tag in tags {
      for end in tag.indices where tag[end] == "O" && all.contains(String(tag[...end])) { enums.insert(String(tag[...end])) }
    }
    tags = []
  }
  private var tags: [String] = []

  /// Those of classes, by their mangled names, that need a metadata base offset for their own sake.
  private mutating func addModules(of bases: [String: String], _ file: ELFFile, _ symbols: [RawSymbols]) {
    if bases.values.allSatisfy(modules.contains) { return }
    for table in symbols {
      for index in 0..<table.count {
        guard let name = Self.name(table, table[index]), name.hasSuffix("Mn"), let module = bases[String(name.text.dropLast(2))],
          let descriptor = file.bytes(at: table[index].value, count: 4)
        else { continue }
        // Kind-specific flag 13 of a class: an ancestor's layout is another module's affair (MetadataValues.h).
        if descriptor.loadUnaligned(as: UInt32.self) >> 29 & 1 == 0 { modules.insert(module) }
      }
    }
  }

  func isPublic(at address: UInt64) -> Bool { types[address] != nil }

  func evolution(at address: UInt64, _ descriptor: TypeDescriptor) -> Evolution {
    guard let name = types[address] else { return .fixed }
    if descriptor.isClass { return .fixed }
    if descriptor.isStruct { return .unknown }
    if descriptor.payloadCases + descriptor.emptyCases == 0 { return .unknown }
    return enums.contains(name) ? .changes : .fixed
  }

  /// A Swift symbol's name behind the prefix.
  struct Name {
    let start: UnsafePointer<UInt8>
    let count: Int
    func hasSuffix(_ suffix: StaticString) -> Bool {
      count > 2 && start[count - 2] == suffix.utf8Start[0] && start[count - 1] == suffix.utf8Start[1]
    }
    var text: String { String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self) }
    /// The first identifier; the standard library's modules have none.
    var module: String? {
      var length = 0
      var at = 0
      while at < count, start[at] >= 48, start[at] <= 57, length < 1000 {
        length = 10 * length + Int(start[at] - 48)
        at += 1
      }
      guard length > 0, at + length <= count, start[0] != 48 else { return nil }
      return String(decoding: UnsafeBufferPointer(start: start + at, count: length), as: UTF8.self)
    }
  }

  private static func name(_ table: RawSymbols, _ entry: RawSymbols.Entry) -> Name? {
    guard entry.isDefined, entry.name != 0, Int(entry.name) < table.strings.count else { return nil }
    // The string table ends with NUL.
    let start = table.namePointer(entry)
    guard start[0] == UInt8(ascii: "$"), start[1] == UInt8(ascii: "s") else { return nil }
    return Name(start: start + 2, count: strlen(UnsafeRawPointer(start + 2).assumingMemoryBound(to: CChar.self)))
  }
}
