import Glibc
import Testing

@testable import HookRuntime

/// A type that should have been found.
private struct Missing: Error {
  let name: String
}

@Suite("Types from metadata")
struct DiscoverTypeTests {
  /// "nominal type descriptor for (extension in B):A.C<X>.(D in _12…)" is A.C.D; nil for local types.
  private static func plainName(_ demangled: String, _ prefix: String) -> String? {
    guard demangled.hasPrefix(prefix), !demangled.contains(" #") else { return nil }
    var text = SymbolNames.withoutGenerics(String(demangled.dropFirst(prefix.count)))
    while let open = text.firstIndex(of: "("), let close = text[open...].firstIndex(of: ")") {
      let inside = text[text.index(after: open)..<close]
      text.replaceSubrange(open...close, with: inside.split(separator: " ").first ?? "")
    }
    return text
  }

  static let images = [
    Toolchain.format, Toolchain.library("libFoundation"), Toolchain.library("libswiftCore"), Toolchain.binaries + "/swift-package",
  ]

  @Test("all names agree with the demangled descriptor symbols", arguments: images)
  func names(_ path: String) throws {
    let types = SwiftTypes(file: try ELFFile(path: path))
    for (suffix, prefix, found) in [
      ("Mn", "nominal type descriptor for ", types.types.map { ($0.descriptor, $0.name) }),
      ("Mp", "protocol descriptor for ", types.protocols.map { ($0.descriptor, $0.name) }),
    ] {
      let byAddress = Dictionary(uniqueKeysWithValues: found)
      let symbols = Toolchain.symbols(of: path, suffix: suffix)
      var agreed: Set<UInt64> = []
      for (symbol, demangled) in zip(symbols, Toolchain.demangle(symbols.map(\.name))) {
        // A few descriptors have a symbol but no record: the compiler knows that nobody looks them up.
        guard let name = byAddress[symbol.address] else { continue }
        agreed.insert(symbol.address)
        if let expected = Self.plainName(demangled, prefix) { #expect(name == expected, "\(symbol.name)") }
      }
      #expect(agreed.count == found.count)
      print("\(path): \(agreed.count) of \(found.count) names of \(suffix) compared, \(symbols.count) symbols")
    }
  }

  @Test(
    "vtable entries lie where the method descriptor symbols are",
    arguments: [Toolchain.format, Toolchain.library("libFoundation"), Shop.path])
  func vtables(_ path: String) throws {
    let types = SwiftTypes(file: try ELFFile(path: path))
    let symbols = Dictionary(
      Toolchain.symbols(of: path, suffix: "Tq").map { ($0.address, $0.name) }, uniquingKeysWith: { first, _ in first })
    let classes = types.types.filter { $0.kind == .class }
    let entries = classes.flatMap(\.vtable)
    #expect(entries.count > 5)
    for entry in entries {
      // Entries that no other module may see carry no symbol.
      guard let name = symbols[entry.descriptor] else { continue }
      switch entry.kind {
      case .getter: #expect(name.hasSuffix("gTq") || name.hasSuffix("gZTq"))
      case .setter: #expect(name.hasSuffix("sTq") || name.hasSuffix("sZTq"))
      case .initializer: #expect(name.hasSuffix("cTq") || name.hasSuffix("CTq"))
      case .method:
        #expect(
          name.hasSuffix("FTq") || name.hasSuffix("FZTq") || name.hasSuffix("ZTq") || name.contains("FTj") || name.hasSuffix("fCTq"),
          "\(name)")
      case .modify, .read: break
      }
      if entry.kind == .method { #expect(entry.isInstance != name.hasSuffix("ZTq"), "\(name)") }
    }
    let listed = Set(entries.map(\.descriptor))
    let named = listed.count { symbols[$0] != nil }
    print("\(path): \(named) of \(entries.count) vtable entries have a symbol")
    #expect(named * 2 > entries.count)
    let classAddresses = Set(classes.map(\.descriptor)).sorted()
    // Protocol requirements carry the same suffix; what lies behind a class descriptor must be listed.
    let protocols = types.protocols.map(\.descriptor).sorted()
    for address in symbols.keys where !listed.contains(address) {
      let ownerClass = classAddresses.last { $0 < address } ?? 0
      let ownerProtocol = protocols.last { $0 < address } ?? 0
      #expect(ownerProtocol > ownerClass, "\(symbols[address]!)")
    }
  }

  @Test("implementations are the functions of the same name")
  func implementations() throws {
    let file = try ELFFile(path: Shop.path)
    let symbols = SymbolTable(file)
    let cart = try #require(SwiftTypes(file: file).types.first { $0.name == "Shop.Cart" })
    let descriptors = Dictionary(
      Toolchain.symbols(of: Shop.path, suffix: "Tq").map { ($0.address, $0.name) }, uniquingKeysWith: { first, _ in first })
    var checked = 0
    for entry in cart.vtable {
      guard case .address(let address) = entry.implementation, let name = descriptors[entry.descriptor], !entry.isAsync else { continue }
      checked += 1
      // Bodies may be folded into one; at least one of the names at the address is that of the method.
      #expect(symbols.symbols(at: address).contains { $0.nameText == name.dropLast(2) }, "\(name)")
    }
    #expect(checked >= 8)
    let total = cart.vtable.first { $0.isAsync && $0.kind == .method }
    #expect(total != nil)
  }

  @Test("kinds, fields, cases, superclasses, protocols and conformances of one of everything")
  func oneOfEverything() throws {
    let types = SwiftTypes(file: try ELFFile(path: Shop.path))
    func type(_ name: String) throws -> TypeRecord {
      guard let found = types.types.first(where: { $0.name == name }) else { throw Missing(name: name) }
      return found
    }
    let cart = try type("Shop.Cart")
    #expect(cart.kind == .class && !cart.isGeneric && cart.superclass == nil && !cart.vtable.isEmpty && !cart.isPrivate && cart.accessor != nil)
    #expect(cart.fields.map(\.name) == ["title", "lines"])
    #expect(cart.fields.map { String(decoding: $0.type?.bytes ?? [], as: UTF8.self) }.first == "SS")
    #expect(cart.fields[1].type?.symbolic.first?.name == "Shop.Cart.Line")
    let line = try type("Shop.Cart.Line")
    #expect(line.kind == .struct && line.fields.map(\.isVar) == [true, false])
    let secret = try type("Shop.Cart.Secret")
    #expect(secret.kind == .enum && secret.isPrivate)
    #expect(secret.fields.map { "\($0.name) \($0.type != nil)" } == ["one true", "three true", "two false"])
    #expect(try type("Shop.SubCart").superclass == "Shop.Cart")
    #expect(try type("Shop.SubCart").isGeneric)
    #expect(try type("Shop.Odd").superclass == "Shop.Cart")
    #expect(try type("Shop.Odd").vtable.count == 1)
    #expect(try type("Shop.SubCart").vtable.contains { $0.kind == .method })
    #expect(try type("Shop.Act").isActor)
    let pair = try type("Swift.Array.Pair")
    #expect(pair.module == "Shop" && pair.isInExtension)
    #expect(try type("Shop.Tree").fields.map { "\($0.name) \($0.type != nil)" } == ["node true", "leaf false"])
    let p = try #require(types.protocols.first { $0.name == "Shop.P" })
    #expect(p.isClassConstrained && p.requirementCount == 2)
    let q = try #require(types.protocols.first { $0.name == "Shop.Q" })
    #expect(!q.isClassConstrained && q.requirementCount == 2)
    let conformances = Set(types.conformances.map { "\($0.type ?? "?"): \($0.protocolName ?? "?")" })
    #expect(
      conformances.isSuperset(of: [
        "Shop.Cart.Line: Swift.Hashable", "Shop.Cart.Line: Swift.Equatable", "Shop.Cart: Shop.P", "Shop.Cart.Secret: Swift.Error",
        "Shop.Act: Swift.Actor",
      ]))
  }

  @Test("a library for library evolution: resilient superclasses and null or deleted entries are told apart")
  func resilience() throws {
    let folder = TemporaryDirectory()
    folder.write("Base.swift", Array("open class Base { public init() {}; open func f() {} }".utf8))
    folder.write("Heir.swift", Array("import Base\nopen class Heir: Base { open func g() {}; open override func f() {} }".utf8))
    shell(
      "cd \(folder.path) && swiftc -O -parse-as-library -enable-library-evolution -emit-module -module-name Base -emit-library Base.swift -o libBase.so 2>log && swiftc -O -parse-as-library -module-name Heir -I . -L . -lBase -emit-library Heir.swift -o libHeir.so 2>>log"
    )
    let subclass = try #require(SwiftTypes(file: try ELFFile(path: folder.path + "/libHeir.so")).types.first)
    #expect(
      subclass.name == "Heir.Heir" && subclass.superclass == "Base.Base" && subclass.hasResilientSuperclass && subclass.vtableOffset == nil
        && subclass.vtableBehindMembers?.offset == 0 && !subclass.overrides.isEmpty)
    #expect(subclass.vtable.count == 1)
  }

  @Test("memory and file say the same")
  func memory() throws {
    let images = LoadedImages.snapshot()
    let core = try #require(images.images.first { $0.path.contains("libswiftCore") })
    for image in [core, try #require(images.images.first { $0.isMainProgram })] {
      let file = try #require(image.file)
      let onDisk = SwiftTypes(file: file)
      let inMemory = SwiftTypes(image: image, among: images)
      #expect(!onDisk.types.isEmpty)
      #expect(onDisk.types.map(\.name) == inMemory.types.map(\.name))
      #expect(onDisk.types.map(\.descriptor) == inMemory.types.map(\.descriptor))
      #expect(
        onDisk.types.map { $0.fields.map { "\($0.name) \($0.type?.symbolic.map(\.name) ?? [])" } }
          == inMemory.types.map { $0.fields.map { "\($0.name) \($0.type?.symbolic.map(\.name) ?? [])" } })
      #expect(onDisk.types.map { $0.vtable.map(\.implementation) } == inMemory.types.map { $0.vtable.map(\.implementation) })
      #expect(onDisk.types.map(\.superclass) == inMemory.types.map(\.superclass))
      #expect(onDisk.conformances.map(\.protocolName) == inMemory.conformances.map(\.protocolName))
      #expect(onDisk.conformances.map(\.type) == inMemory.conformances.map(\.type))
    }
  }

  @Test("figures")
  func figures() throws {
    let file = try ELFFile(path: Toolchain.format)
    var count = 0
    let names = milliseconds { count = SwiftTypes(file: file).types.count }
    let types = SwiftTypes(file: file)
    let fields = milliseconds { _ = types.types.map(\.fields) }
    let conformances = milliseconds { _ = types.conformances.count }
    print("swift-format: \(count) types \(names) ms, their fields \(fields) ms, conformances \(conformances) ms")
  }
}
