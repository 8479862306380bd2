import Glibc
import Testing

@testable import HookRuntime

@Suite("import slots")
struct ImportTableTests {
  /// `address kind symbol@version` of each slot that readelf shows.
  private static func readelf(_ path: String) -> Set<String> {
    let kinds = ["R_X86_64_JUMP_SLOT": "call", "R_X86_64_GLOB_DAT": "address", "R_X86_64_64": "pointer"]
    var found: Set<String> = []
    for line in shell("readelf -rW \(path) 2>/dev/null").split(separator: "\n") {
      let columns = line.split(separator: " ")
      guard columns.count >= 5, var kind = kinds[String(columns[2])] ?? (columns[2].hasPrefix("R_X86_64_JUMP") ? "call" : nil),
        let address = UInt64(columns[0], radix: 16)
      else { continue }
      // A row with an addend other than 0 points into something.
      if kind == "pointer", columns.count < 7 || columns[6] != "0" { kind = "" }
      if kind.isEmpty { continue }
      found.insert("\(String(address, radix: 16)) \(kind) \(columns[4].replacing("@@", with: "@"))")
    }
    return found
  }

  @Test(
    "stubs agree with objdump", .enabled(if: Toolchain.has("objdump")),
    arguments: [Toolchain.format, Toolchain.library("libdispatch"), "/lib/x86_64-linux-gnu/libm.so.6", "/usr/bin/gdb"])
  func stubs(_ path: String) throws {
    var stubs = ImportStubs(try ELFFile(path: path))
    var compared = 0
    // `0000000000001040 <usleep@plt>:`
    for line in shell("objdump -dw -j .plt -j .plt.got -j .plt.sec \(path) 2>/dev/null | grep '@plt>:$'").split(separator: "\n") {
      let columns = line.split(separator: " ")
      guard columns.count == 2, let start = UInt64(columns[0], radix: 16), let end = columns[1].firstRange(of: "@plt>:")?.lowerBound else { continue }
      let symbol = String(columns[1][..<end].dropFirst().prefix { $0 != "@" })
      // Of an image's own function that is picked when it is loaded there is no import.
      if symbol.hasPrefix("*") { continue }
      let found = stubs.stub(at: start + 6)
      #expect(found?.start == start && found?.symbol == symbol, "\(path): \(line): \(String(describing: found))")
      compared += 1
    }
    #expect(compared > 0)
  }

  @Test(
    "slots agree with readelf", .enabled(if: Toolchain.has("readelf")),
    arguments: [
      Toolchain.format, Toolchain.library("libFoundation"), Toolchain.library("libdispatch"), "/lib/x86_64-linux-gnu/libm.so.6",
      "/usr/bin/gdb",
    ])
  func slots(_ path: String) throws {
    let slots = ImportTable(try ELFFile(path: path)).slots { _ in true }
    let known = Self.readelf(path)
    for slot in slots {
      let text = "\(String(slot.word, radix: 16)) \(slot.kind) \(slot.symbol)" + (slot.version.map { "@\($0)" } ?? "")
      #expect(known.contains(text), "not in readelf's list: \(text)")
    }
    // The other way round: every call slot is a slot.
    let calls = known.filter { $0.contains(" call ") }
    #expect(slots.filter { $0.kind == .call }.count == calls.count)
  }

  @Test("a name alone is enough, whatever the version")
  func names() throws {
    let table = ImportTable(try ELFFile(path: Toolchain.library("libFoundation")))
    let slots = table.slots(of: ["getaddrinfo", "connect"])
    #expect(Set(slots.map(\.symbol)) == ["getaddrinfo", "connect"])
    #expect(slots.allSatisfy { $0.kind == .call && $0.version?.hasPrefix("GLIBC_") == true && !$0.isDefinedHere && $0.saysFunction })
    #expect(table.slots(of: ["getaddrinf"]).isEmpty)
  }

  /// The loader's own answers: what it has bound in this process, and what the lookup says that it would.
  @Test("what the loader bound is what looking up finds")
  func bindings() {
    let imports = Imports.ofProcess()
    var (bound, lazy, different) = (0, 0, [String]())
    for importer in imports.importers {
      for slot in ImportTable(importer.file).slots(where: Imports.isCName) where slot.kind == .call && !slot.isDefinedHere {
        switch imports.binding(of: slot, in: importer) {
        case .bound(let address):
          bound += 1
          if imports.lookUp(slot, importer) != address { different.append("\(importer.name): \(slot.symbol)") }
        case .lazy: lazy += 1
        case .relayed: Issue.record("this program is at no fixed address")
        case .onDisk: Issue.record("\(importer.name) is loaded")
        case nil: break
        }
      }
    }
    #expect(bound > 100)
    #expect(different.isEmpty, "\(different.prefix(8))")
  }

  @Test("families: other symbols of a function are of it; a glob finds each function once")
  func families() throws {
    let folder = TemporaryDirectory()
    folder.write(
      "a.c",
      Array(
        "#define _GNU_SOURCE 1\n#include <fcntl.h>\n#include <unistd.h>\nint f(const char *p) { return open(p, 0) + open64(p, 0) + close(1) + close(2); }"
          .utf8))
    shell("cd \(folder.path) && clang -shared -fPIC a.c -o liba.so")
    let path = folder.path + "/liba.so"
    let imports = Imports.ofFiles([(path, try ELFFile(path: path))])
    let open = imports.families(matching: CSelector("C.open")!)
    #expect(open.map(\.selector) == ["C.open"])
    #expect(Set(open[0].bodies.map(\.mangledName)) == ["open", "open64"])
    #expect(imports.families(matching: CSelector("C.open64")!).map(\.selector) == ["C.open"])
    #expect(
      imports.families(matching: CSelector("C.*")!).map(\.selector).filter { $0.hasPrefix("C.open") || $0.hasPrefix("C.close") } == [
        "C.close", "C.open",
      ])
    #expect(imports.families(matching: CSelector("C.open in liba.so")!).count == 1)
    #expect(imports.families(matching: CSelector("C.open in libb*")!).isEmpty)
    #expect(imports.families(matching: CSelector("C.connect")!).isEmpty)
  }
}
