import Glibc
import Testing

@testable import HookRuntime

@Suite("Symbols")
struct DiscoverSymbolTests {
  @Test("every function nm knows is there, once, at its address")
  func allFunctions() throws {
    let symbols = SymbolTable(try ELFFile(path: Toolchain.format))
    let expected = Set(
      shell("\(Toolchain.binaries)/llvm-nm --defined-only \(Toolchain.format) | grep -E ' [tT] \\$s'").split(separator: "\n").map { line in
        let columns = line.split(separator: " ")
        return "\(UInt64(columns[0], radix: 16)!) \(columns[2])"
      })
    let found = symbols.filter { SwiftNames.isSwift($0.name) }.map { "\($0.address) \($0.nameText)" }
    #expect(expected.count > 60_000)
    #expect(Set(found) == expected)
    #expect(found.count == expected.count)
    var walked = 0
    symbols.forEachFunction { if $0.source == .symtab { walked += 1 } }
    #expect(walked == symbols.count { $0.isFunction })
  }

  @Test("an address leads to its function, its namesakes and its neighbour")
  func byAddress() throws {
    let symbols = SymbolTable(try ELFFile(path: Shop.path))
    #expect(zip(symbols, symbols.dropFirst()).allSatisfy { $0.address <= $1.address })
    for symbol in symbols where symbol.isFunction && symbol.size > 0 {
      let last = symbol.address + UInt64(symbol.size) - 1
      #expect(symbols.symbol(containing: last)?.address == symbol.address)
      #expect(symbols.symbols(at: symbol.address).contains { $0.nameText == symbol.nameText })
      #expect(symbols.nextSymbolAddress(after: symbol.address) ?? .max > symbol.address)
      #expect(symbols.nextSymbolAddress(after: symbol.address - 1) == symbol.address)
    }
    #expect(symbols.symbol(containing: .max) == nil)
    #expect(symbols.nextSymbolAddress(after: .max) == nil)
    #expect(symbols.symbols(at: 1).isEmpty)
  }

  static let identifiers: [(String, [String])] = [
    ("prettyPrintJSON_2", ["pretty", "Print", "JSON"]),
    ("URLSession", ["URLSession"]),
    ("utf8View", ["utf8", "View"]),
    ("_value", ["value"]),
    ("x", []),
    ("x2Bar", ["x2", "Bar"]),
    ("add", ["add"]),
    ("__C", []),
    ("", []),
  ]

  @Test("identifiers are cut as the mangler cuts them", arguments: identifiers)
  func words(_ identifier: String, _ words: [String]) {
    #expect(IdentifierWords.split(identifier).map { String(decoding: $0, as: UTF8.self) } == words)
  }

  static let spelled: [(String, [String])] = [
    (
      "$s11SwiftSyntax15TokenDiagnosticV_10byteOffsetA2C4KindO_s6UInt16VtcfC",
      ["Swift", "Syntax", "Token", "Diagnostic", "byte", "Offset", "Kind", "UInt16"]
    ),
    ("$sSy5utf169UTF16ViewQzvgTj", ["utf16", "UTF16", "View"]),
    ("$ss33_swift_stdlib_atomicFetchXorInt646object7operands0F0VSpyAEG_AEtF", ["swift", "atomic", "object", "operand"]),
    ("$s4Shop5twiceyS2iF", ["Shop", "twice"]),
    ("$s4Shop4CartC3add_5price8quantityySS_SdSitF", ["Shop", "Cart", "add", "price", "quantity"]),
    ("$s4Shop6Secret33_162F1CFABDD9853C21756F8FC1245CE0LLV5valueSivg", ["Shop", "Secret", "value"]),
  ]

  @Test("words are found whatever numbers stand between them", arguments: spelled)
  func spelledWords(_ name: String, _ words: [String]) {
    var found: Set<String> = []
    Array(name.utf8).withUnsafeBufferPointer { name in
      MangledIdentifiers.forEach(name) { identifier in
        IdentifierWords.forEach(identifier) { start, end, _ in found.insert(String(decoding: identifier[start..<end], as: UTF8.self)) }
      }
    }
    #expect(found.isSuperset(of: words), "\(found)")
  }

  @Test("prefix look-ups find exactly what a walk finds")
  func prefixes() throws {
    let symbols = SymbolTable(try ELFFile(path: Toolchain.format))
    let all = symbols.filter { $0.isFunction && SwiftNames.isIndexed($0.name) }.map(\.nameText)
    var random = SeededGenerator(seed: makeSeed("prefixes"))
    let rounds = 60
    for _ in 0..<rounds {
      let name = all.randomElement(using: &random)!
      let prefix = Array(name.utf8.prefix(.random(in: 3...name.utf8.count, using: &random)))
      let text = String(decoding: prefix, as: UTF8.self)
      #expect(symbols.candidates(prefix: prefix).map(\.nameText).sorted() == all.filter { $0.hasPrefix(text) }.sorted(), "prefix \(text)")
    }
  }

  @Test("a function is among the candidates for the words of its own name")
  func wordsOfPaths() throws {
    let symbols = SymbolTable(try ELFFile(path: Toolchain.format))
    var random = SeededGenerator(seed: makeSeed("words"))
    let names = symbols.filter { $0.isFunction && SwiftNames.isIndexed($0.name) && $0.name.last == UInt8(ascii: "F") }
      .map(\.nameText).shuffled(using: &random).prefix(1200)
    // Spelled by abbreviation, so never by words.
    let standard: Set<String> = [
      "Swift", "Array", "String", "Int", "Optional", "Dictionary", "Set", "Bool", "Double", "Character", "Substring",
      "Sequence", "Collection", "BidirectionalCollection", "UnsafePointer", "UnsafeBufferPointer", "UnsafeMutablePointer", "UInt", "Hasher",
    ]
    var asked = 0
    for (name, text) in zip(names, Toolchain.demangle(Array(names))) {
      let path = text.prefix { $0 != "(" }
      guard path.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ".") }) else { continue }
      let words = path.split(separator: ".").map(String.init).filter { !standard.contains($0) }.flatMap(IdentifierWords.split)
      guard !words.isEmpty else { continue }
      asked += 1
      #expect(symbols.candidates(words: words).contains { $0.nameText == name }, "\(text) is \(name)")
    }
    print("words: \(asked) functions asked for")
    #expect(asked > 700)
  }

  @Test("no indexed kind is missed: every ordinary function of the program can be found by its whole name")
  func wholeNames() throws {
    let symbols = SymbolTable(try ELFFile(path: Shop.path))
    for symbol in symbols where symbol.isFunction && SwiftNames.isIndexed(symbol.name) {
      #expect(symbols.symbols(named: Array(symbol.name)).contains { $0.address == symbol.address })
    }
    let kinds = Toolchain.demangle(symbols.filter { SwiftNames.isSwift($0.name) && !SwiftNames.isIndexed($0.name) }.map(\.nameText))
    let left = ["accessor", "value witness", "witness table", "outlined", "metadata", "one-time", ".resume.", "suspend resume"]
    for text in kinds { #expect(left.contains { text.contains($0) }, "\(text)") }
  }

  @Test("a debug file is found by build-id and by link, and only the right one")
  func debugFiles() throws {
    let folder = TemporaryDirectory()
    let full = SymbolTable(try ELFFile(path: Shop.path))
    let objcopy = Toolchain.binaries + "/llvm-objcopy"
    shell("cd \(folder.path) && \(objcopy) --only-keep-debug \(Shop.path) shop.debug && \(objcopy) --strip-all \(Shop.path) stripped.so")
    #expect(SymbolTable(try ELFFile(path: folder.path + "/stripped.so")).hasLocalSymbols == false)
    let id = full.file.buildIDHex
    #expect(!id.isEmpty)
    shell("cd \(folder.path) && mkdir -p .build-id/\(id.prefix(2)) && cp shop.debug .build-id/\(id.prefix(2))/\(id.dropFirst(2)).debug")
    let found = SymbolTable(try ELFFile(path: folder.path + "/stripped.so"), options: .init(debugDirectories: [folder.path]))
    #expect(found.hasLocalSymbols)
    #expect(found.map { "\($0.address) \($0.nameText)" }.sorted() == full.map { "\($0.address) \($0.nameText)" }.sorted())
    #expect(InlineTable(found).hasDebugInfo)
    shell("cd \(folder.path) && rm -r .build-id && \(objcopy) --strip-all --add-gnu-debuglink=shop.debug \(Shop.path) linked.so")
    #expect(SymbolTable(try ELFFile(path: folder.path + "/linked.so")).hasLocalSymbols)
    shell("cd \(folder.path) && mkdir .debug && mv shop.debug .debug/")
    #expect(SymbolTable(try ELFFile(path: folder.path + "/linked.so")).hasLocalSymbols)
    // Another build under the same name.
    shell("cd \(folder.path)/.debug && \(objcopy) --only-keep-debug \(Toolchain.library("libswift_Builtin_float")) shop.debug")
    #expect(!SymbolTable(try ELFFile(path: folder.path + "/linked.so")).hasLocalSymbols)
  }

  // MARK: The index on disk

  private static func answers(_ path: String, _ directory: String?) throws -> (SymbolIndex.Origin?, [String]) {
    let symbols = SymbolTable(try ELFFile(path: path), options: .init(indexDirectory: directory))
    let names = symbols.candidates(words: [Array("Cart".utf8)]).map(\.nameText) + symbols.prefix(50).map(\.nameText)
    return (symbols.indexOrigin, names)
  }

  @Test("an index is written once and read after that")
  func indexRoundTrip() throws {
    let folder = TemporaryDirectory()
    let without = try Self.answers(Shop.path, nil)
    let first = try Self.answers(Shop.path, folder.path + "/new")
    let second = try Self.answers(Shop.path, folder.path + "/new")
    #expect([without.0, first.0, second.0] == [.built, .builtAndWritten, .read])
    #expect(without.1 == first.1)
    #expect(without.1 == second.1)
    #expect(shell("ls \(folder.path)/new").split(separator: "\n").count == 1)
  }

  @Test("a damaged, cut, stale or foreign index is rebuilt")
  func badIndexes() throws {
    let folder = TemporaryDirectory()
    let truth = try Self.answers(Shop.path, folder.path).1
    let name = try ELFFile(path: Shop.path).buildIDHex + ".symbols"
    let good = folder.read(name)
    var random = SeededGenerator(seed: makeSeed("index"))
    for _ in 0..<60 {
      var bad = good
      if Bool.random(using: &random) {
        bad[.random(in: 0..<bad.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      } else {
        bad.removeLast(.random(in: 1...bad.count, using: &random))
      }
      unlink(folder.path + "/" + name)
      folder.write(name, bad)
      let again = try Self.answers(Shop.path, folder.path)
      // A flip in the padding between key and payload is no damage.
      #expect(again.0 == .builtAndWritten || bad.count == good.count)
      #expect(again.1 == truth)
    }
    chmod(folder.path + "/" + name, 0o666)
    #expect(try Self.answers(Shop.path, folder.path).0 == .builtAndWritten)
    if geteuid() == 0 {
      chown(folder.path + "/" + name, 12345, 12345)
      #expect(try Self.answers(Shop.path, folder.path).0 == .builtAndWritten)
    }
    // The index of another build under this name.
    let other = SymbolTable(try ELFFile(path: Toolchain.library("libswift_Builtin_float")), options: .init(indexDirectory: folder.path))
    _ = other.count
    shell("mv \(folder.path)/\(other.file.buildIDHex).symbols \(folder.path)/\(name)")
    #expect(try Self.answers(Shop.path, folder.path).0 == .builtAndWritten)
    // A link is not followed, but replaced.
    shell("cd \(folder.path) && mv \(name) elsewhere && ln -s elsewhere \(name)")
    #expect(try Self.answers(Shop.path, folder.path).0 == .builtAndWritten)
    #expect(try Self.answers(Shop.path, folder.path).0 == .read)
  }

  @Test("without a place to write, the index lives in memory")
  func unwritable() throws {
    let folder = TemporaryDirectory()
    let file = folder.write("file", [])
    for directory in [file, "/proc/nowhere", folder.path + "/a/b/c"] {
      #expect(try Self.answers(Shop.path, directory).0 == .built)
    }
  }

  @Test("250,000 functions: figures")
  func figures() throws {
    let folder = TemporaryDirectory()
    let path = Toolchain.binaries + "/swift-package"
    #if DEBUG
      let subject = Toolchain.format
    #else
      let subject = path
    #endif
    let cold = try milliseconds { _ = try Self.answers(subject, nil) }
    let first = try milliseconds { _ = try Self.answers(subject, folder.path) }
    let warm = try milliseconds { _ = try Self.answers(subject, folder.path) }
    print("index of \(subject): cold \(cold) ms, cold and written \(first) ms, warm \(warm) ms")
    #if !DEBUG
      #expect(warm < 25)
    #endif
  }
}
