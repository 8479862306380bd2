import Glibc
import Testing

@testable import HookRuntime

@Suite("Inlined copies and source files")
struct DiscoverInlineTests {
  /// Counts by name as llvm-dwarfdump prints them.
  private static func oracle(_ path: String) -> [String: Int] {
    let text = shell(
      "llvm-dwarfdump --debug-info \(path) 2>/dev/null | grep -A1 DW_TAG_inlined_subroutine | grep -o '\".*\"' | sort | uniq -c")
    var counts: [String: Int] = [:]
    for line in text.split(separator: "\n") {
      let columns = line.split(separator: " ", maxSplits: 1)
      counts[String(columns[1].dropFirst().dropLast())] = Int(columns[0])
    }
    return counts
  }

  @Test(
    "copies of every function agree with llvm-dwarfdump", .enabled(if: Toolchain.has("llvm-dwarfdump")),
    arguments: [Shop.path, Toolchain.format])
  func counts(_ path: String) throws {
    let expected = Self.oracle(path)
    let table = InlineTable(SymbolTable(try ELFFile(path: path)))
    let found = Dictionary(uniqueKeysWithValues: table.copies(prefix: []).map { ($0.name, $0.count) })
    #expect(expected.count > 1)
    // And functions whose name is left in the debug information alone, which are few.
    let symbols = shell("nm \(path)")
    let nameless = found.filter { name, count in count > expected[name, default: 0] && !symbols.contains(" \(name)\n") }
    #expect(nameless.count < 5)
    let inlined = found.compactMap { name, count in nameless[name] == nil ? (name, count) : expected[name].map { (name, $0) } }
    #expect(Dictionary(uniqueKeysWithValues: inlined) == expected)
    let added = nameless.reduce(0) { $0 + $1.value - expected[$1.key, default: 0] }
    #expect(table.totals.copies - added == expected.values.reduce(0, +))
    for (name, count) in expected.prefix(500) where nameless[name] == nil { #expect(table.copies(ofMangledName: Array(name.utf8)) == .known(count)) }
    print("\(path): \(table.totals.copies) copies of \(found.count) functions")
  }

  @Test("a function inlined three times has three copies; unknown names have none; DWARF 5 says the same", arguments: [4, 5])
  func small(_ version: Int) throws {
    let folder = TemporaryDirectory()
    folder.write("Tree.swift", Array(Shop.cart.utf8) + [10] + Array(Shop.tree.utf8))
    shell(
      "cd \(folder.path) && swiftc -O -g -dwarf-version=\(version) -parse-as-library -module-name Shop -emit-library Tree.swift -o lib.so 2>log"
    )
    let table = InlineTable(SymbolTable(try ELFFile(path: folder.path + "/lib.so")))
    #expect(table.copies(ofMangledName: Array("$s4Shop5twiceyS2iF".utf8)) == .known(3))
    #expect(table.copies(prefix: Array("$s4Shop5twice".utf8)).map(\.count) == [3])
    #expect(table.copies(ofMangledName: Array("$s4Shop5thriceyS2iF".utf8)) == .known(0))
    #expect(table.copies(ofMangledName: [0]) == .known(0))
    #expect(table.sourceFiles.contains("Tree.swift"))
  }

  @Test("without debug information the answer is that there is none")
  func none() throws {
    let table = InlineTable(SymbolTable(try ELFFile(path: Toolchain.library("libFoundation"))))
    #expect(table.copies(ofMangledName: Array("$s4Shop".utf8)) == .noDebugInfo)
    // Traps and #fileID leave names even then.
    #expect(table.sourceFiles.contains { $0.hasSuffix(".swift") })
  }

  @Test("the table is remembered by build-id")
  func cache() throws {
    let folder = TemporaryDirectory()
    let symbols = SymbolTable(try ELFFile(path: Toolchain.format), options: .init(indexDirectory: folder.path))
    var totals: [Int] = []
    let cold = milliseconds { totals.append(InlineTable(symbols).totals.copies) }
    #expect(shell("ls \(folder.path)").contains(".inlines"))
    let warm = milliseconds { totals.append(InlineTable(symbols).totals.copies) }
    print("swift-format: cold \(cold) ms, warm \(warm) ms")
    #expect(totals[0] == totals[1])
    #expect(warm * 5 < cold)
  }

  static let digests = [
    ("", "d41d8cd98f00b204e9800998ecf8427e"), ("abc", "900150983cd24fb0d6963f7d28e17f72"),
    ("12345678901234567890123456789012345678901234567890123456789012345678901234567890", "57edf4a22be3c955ac49da2e2107b67a"),
    ("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcd", "b78e71b6c19db1a0fb94d4abb1a11353"),
  ]

  @Test("MD5 agrees with its own test suite", .enabled(if: Toolchain.has("md5sum")), arguments: digests.map(\.0))
  func md5(_ text: String) {
    #expect(hexadecimal(MD5.digest(Array(text.utf8))) == shell("printf %s '\(text)' | md5sum").prefix(32))
  }

  @Test("a private type's file is found from its discriminator, and only under its own module")
  func discriminators() throws {
    for path in [Toolchain.format, Shop.path] {
      let file = try ELFFile(path: path)
      let symbols = SymbolTable(file)
      let inlines = InlineTable(symbols)
      let types = SwiftTypes(file: file).types.filter(\.isPrivate)
      var resolved = 0
      for type in types {
        guard let discriminator = type.privateDiscriminator(symbols) else { continue }
        let name = inlines.sourceFile(discriminator: discriminator, module: type.module)
        #expect(name?.hasSuffix(".swift") == true, "\(type.name) \(discriminator)")
        #expect(inlines.sourceFile(discriminator: discriminator, module: "Elsewhere") == nil)
        resolved += 1
      }
      print("\(path): \(resolved) of \(types.count) private types have a file")
      #expect(resolved > 0)
    }
    let shop = try ELFFile(path: Shop.path)
    let symbols = SymbolTable(shop)
    let secret = try #require(SwiftTypes(file: shop).types.first { $0.name == "Shop.Cart.Secret" })
    let discriminator = try #require(secret.privateDiscriminator(symbols))
    #expect(InlineTable(symbols).sourceFile(discriminator: discriminator, module: "Shop") == "Cart.swift")
  }
}
