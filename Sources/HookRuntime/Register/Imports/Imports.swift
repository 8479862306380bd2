// Imports — the C functions that the images of this process, or of a program on disk, import.
//
// A function is a family whose bodies are words of the importing images. Listing them changes nothing.
internal import CHookTrampoline
private import SwiftMangling
private import Synchronization

package struct Imports: Sendable {
  package let importers: [Importer]
  private let loaded: LoadedImages?
  /// Of a program on disk, what its libraries say of names whose kind the importing file does not tell.
  private let exported: Exports?
  /// The places of all importers.
  let places: Set<String>
  /// What the files' relocations say of names that were asked for, one list per importer: files do not change, what words hold does.
  private let known = KnownSlots()

  /// The images that are loaded now.
  package static func ofProcess() -> Imports {
    let loaded = LoadedImages.snapshot()
    let own = UInt(bitPattern: unsafeBitCast(hkt_ticks as @convention(c) () -> UInt64, to: UnsafeRawPointer.self))
    let importers = loaded.images.compactMap { image -> Importer? in
      guard let file = image.file else { return nil }
      return Importer(
        path: image.path, file: file, bias: UInt64(image.bias), isMainProgram: image.isMainProgram, isLoaded: true,
        holdsOurCode: image.range.contains(own))
    }
    return Imports(importers: importers, loaded: loaded, exported: nil)
  }

  /// A program's file and those of all libraries it would load.
  package static func ofFiles(_ files: [(path: String, file: ELFFile)]) -> Imports {
    Imports(
      importers: files.enumerated().map { Importer(path: $1.path, file: $1.file, bias: 0, isMainProgram: $0 == 0, isLoaded: false) },
      loaded: nil, exported: Exports(files.map(\.file)))
  }

  private init(importers: [Importer], loaded: LoadedImages?, exported: Exports?) {
    self.importers = importers
    self.loaded = loaded
    self.exported = exported
    places = Set(importers.map(\.place))
  }

  // MARK: Families

  /// The functions that match, by name; each with the words of the images that were asked for.
  package func families(matching selector: CSelector) -> [Family] {
    if !selector.isGlob {
      // `C.open64` is `C.open` here.
      let symbols = CFunctions.symbols(of: CFunctions.form(selector.name)?.function.name ?? selector.name)
      return families(
        known.slots(of: Set(symbols.filter { Array($0.utf8).withUnsafeBufferPointer(Self.isCName) }), in: importers), selector)
    }
    let wanted = { (name: UnsafeBufferPointer<UInt8>) in
      guard Self.isCName(name) else { return false }
      let symbol = String(decoding: name, as: UTF8.self)
      // A name that nobody may hook is only meant where it is spelled out.
      if case .never = CFunctions.trait(symbol) { return false }
      return selector.matches(CFunctions.form(symbol)?.function.name ?? symbol)
    }
    return families(importers.map { $0.isOurs || !selector.includes($0) ? [] : ImportTable($0.file).slots(where: wanted) }, selector)
  }

  /// Names that begin otherwise are Swift's or C++'s.
  static func isCName(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = name.first, first != UInt8(ascii: "$") else { return false }
    return !(first == UInt8(ascii: "_") && name.count > 1 && name[1] == UInt8(ascii: "Z"))
  }

  /// - Parameter slots: of each importer.
  private func families(_ slots: [[ImportSlot]], _ selector: CSelector) -> [Family] {
    var places: [String: [ImportPlace]] = [:]
    for (importer, slots) in zip(importers, slots) where !slots.isEmpty && !importer.isOurs && selector.includes(importer) {
      for slot in slots {
        guard let place = place(slot, importer, selector.prototype) else { continue }
        places[CFunctions.form(slot.symbol)?.function.name ?? slot.symbol, default: []].append(place)
      }
    }
    return places.keys.sorted().map { family($0, places[$0]!, selector) }
  }

  /// The words of some images through which they call a function that is hooked.
  func bodies(of function: ImportedFunction, in some: [Importer]) -> [Body] {
    let symbols = Set(CFunctions.symbols(of: function.name))
    let spelled = function.isSpelled ? function.prototype : nil
    return some.filter { !$0.isOurs }.flatMap { importer in
      ImportTable(importer.file).slots(of: symbols).compactMap { place($0, importer, spelled) }
    }.map { body(function.declaration, $0) }
  }

  private func body(_ declaration: Declaration, _ place: ImportPlace) -> Body {
    var body = Body(
      form: .importSlot, declaration: declaration, mangledName: place.slot.symbol, address: place.word, size: 8, available: 8)
    body.place = place
    return body
  }

  private func family(_ name: String, _ places: [ImportPlace], _ selector: CSelector) -> Family {
    let function = ImportedFunction(
      name: name, prototype: selector.prototype ?? CFunctions.form(name)?.function, isSpelled: selector.prototype != nil,
      importer: selector.importer, lookedAt: loaded == nil ? [] : self.places)
    let declaration = function.declaration
    let bodies = places.map { body(declaration, $0) }
    var family = Family(
      selector: declaration.selectorName + (selector.importer.map { " in " + $0 } ?? ""), declaration: declaration,
      key: declaration.selectorName, imagePath: Family.importPath, bodies: bodies)
    family.imported = function
    return family
  }

  /// Nil for a word that leads to no function.
  private func place(_ slot: ImportSlot, _ importer: Importer, _ spelled: CPrototype?) -> ImportPlace? {
    guard let binding = binding(of: slot, in: importer) else { return nil }
    var form = CFunctions.form(slot.symbol)?.form
    if let spelled {
      // A prototype speaks of the symbol it names, and of other forms that are called alike.
      let plain = CFunctions.form(slot.symbol)?.function
      let isAlike = slot.symbol == spelled.name || form != nil && form?.parameters == plain?.parameters
      form = isAlike ? spelled : nil
    }
    return ImportPlace(importer: importer, slot: slot, binding: binding, form: form)
  }

  // MARK: Bindings

  /// Nil for a word that leads to no function, or to none that is imported.
  func binding(of slot: ImportSlot, in importer: Importer) -> ImportBinding? {
    guard importer.isLoaded, let loaded else {
      return slot.kind == .call || slot.saysFunction || exported?.isFunction(slot.symbol) ?? false ? .onDisk : nil
    }
    // The image may be closed meanwhile.
    var value: UInt64 = 0
    guard hkt_peek(slot.word &+ importer.bias, &value, 8), value != 0 else { return nil }
    // The loader wrote the word, or will; a hook of ours may stand in it.
    value = hkt_slot_former(value)
    if slot.kind == .call, let initial = slot.initialValue, initial != 0, value == initial &+ importer.bias {
      let found = lookUp(slot, importer)
      return found == 0 ? nil : .lazy(found)
    }
    guard loaded.holdsCode(at: UInt(value)) else { return nil }
    if hkt_is_relay(value) {
      let found = lookUp(slot, importer)
      return found == 0 ? nil : .relayed(found)
    }
    // A pointer in data is an import only while the program left it as it was.
    if slot.kind == .pointer, lookUp(slot, importer) != value { return nil }
    return .bound(value)
  }

  /// What the loader would bind calls through the slot to.
  func lookUp(_ slot: ImportSlot, _ importer: Importer) -> UInt64 {
    importer.path.withCString { path in
      slot.symbol.withCString { symbol in
        func find(_ version: UnsafePointer<CChar>?) -> UInt64 {
          hkt_bound_function(importer.isMainProgram ? nil : path, importer.file.isSymbolic, symbol, version)
        }
        return slot.version.map { $0.withCString { find($0) } } ?? find(nil)
      }
    }
  }
}

/// Of the names that were asked for. Any thread.
private final class KnownSlots: Sendable {
  private let bySymbols = Mutex<[Set<String>: [[ImportSlot]]]>([:])

  func slots(of symbols: Set<String>, in importers: [Importer]) -> [[ImportSlot]] {
    bySymbols.withLock { known in
      if let slots = known[symbols] { return slots }
      let found = importers.map { $0.isOurs ? [] : ImportTable($0.file).slots(of: symbols) }
      known[symbols] = found
      return found
    }
  }
}

/// The functions that files define for others.
private struct Exports: Sendable {
  private let functions: Set<String>

  init(_ files: [ELFFile]) {
    var functions: Set<String> = []
    for file in files {
      guard let table = RawSymbols(file, section: 11, source: .dynsym) else { continue }
      for index in 0..<table.count {
        let entry = table[index]
        guard entry.isDefined, !entry.isLocal, entry.isFunction || entry.isIndirectFunction, Int(entry.name) < table.strings.count else {
          continue
        }
        let name = table.strings.cString(at: Int(entry.name))
        if let name, Imports.isCName(name) { functions.insert(String(decoding: name, as: UTF8.self)) }
      }
    }
    self.functions = functions
  }

  func isFunction(_ name: String) -> Bool { functions.contains(name) }
}

extension LoadedImages {
  func holdsCode(at address: UInt) -> Bool {
    image(containing: address).map { $0.executable.contains { $0.contains(address) } } ?? false
  }
}

extension Family {
  /// Stands for the image of families that are words of many.
  static let importPath = "C"
}
