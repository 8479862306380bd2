import Glibc
import Testing

@testable import HookRuntime

@Suite("ELF files")
struct DiscoverELFTests {
  @Test("a program's facts agree with readelf", .enabled(if: Toolchain.has("readelf")))
  func facts() throws {
    for path in [Toolchain.format, Toolchain.library("libFoundation"), Toolchain.library("libswiftCore"), "/bin/ls"] {
      let file = try ELFFile(path: path)
      #expect(file.isDynamic)
      let notes = shell("readelf -nW \(path) 2>/dev/null | grep -o 'Build ID: .*' | cut -c11-").split(separator: "\n").first
      #expect(file.buildIDHex == notes.map(String.init) ?? "")
      let needed = shell("readelf -dW \(path) | grep NEEDED | sed 's/.*\\[\\(.*\\)\\]/\\1/'").split(separator: "\n").map(String.init)
      #expect(file.needed == needed)
      let names = shell("readelf -SW \(path) | grep -E '^ +\\[ *[0-9]+\\]' | sed 's/^ *\\[ *[0-9]*\\] //' | cut -d' ' -f1").split(
        separator: "\n")
      #expect(file.sections.dropFirst().map(\.name) == names.map(String.init))
    }
  }

  @Test("Swift is told from C, and a linked-in runtime from an imported one")
  func runtime() throws {
    let folder = TemporaryDirectory()
    folder.write("main.swift", Array("class A { var x = 1 }; print(A().x)".utf8))
    folder.write("main.c", Array("int main(void) { return 0; }".utf8))
    shell(
      "cd \(folder.path) && swiftc -static-stdlib main.swift -o static 2>log && cp static stripped && \(Toolchain.binaries)/llvm-objcopy --strip-all stripped"
    )
    shell("cd \(folder.path) && swiftc main.swift -o dynamic 2>>log; clang main.c -o c 2>>log")
    let isStatic = try ["static", "stripped", "dynamic", "c"].map { try ELFFile(path: "\(folder.path)/\($0)").isStaticallyLinkedSwift }
    #expect(isStatic == [true, true, false, false])
    let isSwift = try ["static", "dynamic", "c"].map { try ELFFile(path: "\(folder.path)/\($0)").isSwift }
    #expect(isSwift == [true, true, false])
    #expect(try !ELFFile(path: Toolchain.library("libswiftCore")).isStaticallyLinkedSwift)
    #expect(try !ELFFile(path: Toolchain.library("libFoundation")).isStaticallyLinkedSwift)
  }

  @Test("the compiler is named by DWARF, else by .comment")
  func compiler() throws {
    guard case .producer(let producer)? = try ELFFile(path: Toolchain.format).compiler else {
      Issue.record("swift-format has no producer")
      return
    }
    #expect(producer.hasPrefix("Swift version "))
    guard case .llvmCommit(let commit)? = try ELFFile(path: Toolchain.library("libFoundation")).compiler else {
      Issue.record("libFoundation has no comment")
      return
    }
    #expect(commit.count == 40)
  }

  @Test("what is not a program is refused by its situation")
  func refusals() throws {
    let folder = TemporaryDirectory()
    let program = Array("\u{7f}ELF".utf8)
    let cases: [(name: String, bytes: [UInt8], error: (String) -> ImageError)] = [
      ("empty", [], { .notELF(path: $0) }),
      ("text", Array("hello, world".utf8), { .notELF(path: $0) }),
      ("script", Array("#! /bin/sh -e\nexit".utf8), { .script(path: $0, interpreter: "/bin/sh") }),
      ("narrow", program + [1, 1, 1] + .init(repeating: 0, count: 80), { .wrongClass(path: $0, found: "32-bit") }),
      ("big", program + [2, 2, 1] + .init(repeating: 0, count: 80), { .wrongClass(path: $0, found: "big-endian") }),
      (
        "arm", program + [2, 1, 1] + .init(repeating: 0, count: 11) + [183, 0] + .init(repeating: 0, count: 80),
        { .wrongClass(path: $0, found: "for aarch64") }
      ),
      ("short", program + [2, 1, 1] + .init(repeating: 0, count: 11) + [62, 0], { .truncated(path: $0, what: "header") }),
    ]
    for refused in cases {
      let path = folder.write(refused.name, refused.bytes)
      #expect(throws: refused.error(path)) { try ELFFile(path: path) }
    }
    #expect(throws: ImageError.notFound(path: "/nowhere")) { try ELFFile(path: "/nowhere") }
    #expect(throws: ImageError.directory(path: "/tmp")) { try ELFFile(path: "/tmp") }
    #expect(throws: ImageError.notELF(path: "/dev/null")) { try ELFFile(path: "/dev/null") }
    #expect(
      ImageError.script(path: "x", interpreter: "/bin/sh").description == "'x' is a script for '/bin/sh', expected a compiled program")
  }

  @Test("bytes are found by virtual address and never outside")
  func bytes() throws {
    let file = try ELFFile(path: Toolchain.format)
    let text = try #require(file.section(named: ".text"))
    let bySection = try #require(file.bytes(of: text))
    let byAddress = try #require(file.bytes(at: text.address, count: bySection.count))
    #expect(bySection.baseAddress == byAddress.baseAddress)
    #expect(file.bytes(at: .max, count: 1) == nil)
    #expect(file.bytes(at: text.address, count: .max) == nil)
    #expect(file.bytes(at: text.address, count: -1) == nil)
  }

  @Test("truncated and damaged files give answers or errors, never a crash")
  func fuzz() throws {
    let whole = Array(try ELFFile(path: Shop.path).view.raw)
    let sections = try ELFFile(path: Shop.path).sections.filter { !$0.hasNoBytes && $0.size > 0 }
    let seed = makeSeed("fuzz")
    var random = SeededGenerator(seed: seed)
    let folder = TemporaryDirectory()
    for _ in 0..<150 {
      var copy = whole
      if Int.random(in: 0..<8, using: &random) == 0 {
        copy.removeLast(.random(in: 0..<copy.count, using: &random))
      } else {
        for _ in 0..<Int.random(in: 1...12, using: &random) {
          // Half the hits go to the tables at the ends, half to a section, big or small.
          let section = sections.randomElement(using: &random)!
          let at =
            Bool.random(using: &random)
            ? Int(section.offset) + .random(in: 0..<Int(section.size), using: &random)
            : [.random(in: 0..<1024, using: &random), copy.count - 1 - .random(in: 0..<4000, using: &random)].randomElement(using: &random)!
          copy[at] = [copy[at] ^ 1 << UInt8.random(in: 0..<8, using: &random), 0xff, UInt8.random(in: 0...255, using: &random)]
            .randomElement(using: &random)!
        }
      }
      Self.useEverything(folder.write("damaged", copy), folder.path)
    }
  }

  private static func useEverything(_ path: String, _ directory: String) {
    guard let file = try? ELFFile(path: path) else { return }
    _ = (file.compiler, file.isStaticallyLinkedSwift, file.interpreter)
    let symbols = SymbolTable(file, options: .init(debugDirectories: [directory], indexDirectory: directory))
    var size = symbols.reduce(0) { $0 + $1.name.count }
    for address: UInt64 in [0, 1, 0x4000, 0x8000, .max] {
      _ = (symbols.symbol(containing: address), symbols.nextSymbolAddress(after: address), symbols.symbols(at: address))
    }
    size += symbols.candidates(words: [Array("Cart".utf8)]).count + symbols.candidates(prefix: Array("$s4Shop".utf8)).count
    let types = SwiftTypes(file: file)
    for type in types.types {
      size +=
        type.fields.count + type.vtable.count + (type.superclass?.utf8.count ?? 0) + (type.privateDiscriminator(symbols) == nil ? 0 : 1)
    }
    let inlines = InlineTable(symbols)
    size += types.conformances.count + inlines.totals.copies + inlines.copies(prefix: Array("$s".utf8)).count
    _ = (size, inlines.sourceFile(discriminator: "_", module: "Shop"))
  }
}
