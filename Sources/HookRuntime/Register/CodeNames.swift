// CodeNames — names of code addresses, for people: the selector of a Swift function, the symbol of any other.
private import SwiftMangling

/// Names addresses of one image's file. One thread at a time.
package struct CodeNames {
  private let table: SymbolTable
  private var parser = SymbolParser()
  private var known: [UInt64: String] = [:]
  private var stubs: ImportStubs

  /// - Parameter file: the image; its separate debug file is found where the system keeps those.
  package init(_ file: ELFFile, options: SymbolTable.Options = .init()) {
    table = SymbolTable(file, options: options)
    stubs = ImportStubs(file)
  }

  /// Where a function begins, and what it is called: `Shop.Cart.total(tax:)`; `usleep (stub)` where an imported function is called
  /// through. Nil where no symbol holds the address.
  /// - Parameter address: of the file, without load bias.
  package mutating func function(at address: UInt64) -> (name: String, start: UInt64)? {
    if stubs.contains(address) {
      return stubs.stub(at: address).map { stub in ((parser.declaration(stub.symbol).map(Self.spelled) ?? stub.symbol) + " (stub)", stub.start) }
    }
    guard let symbol = table.symbol(containing: address) else { return nil }
    if let name = known[symbol.address] { return (name, symbol.address) }
    let name = parser.declaration(symbol.name).map(Self.spelled) ?? symbol.nameText
    known[symbol.address] = name
    return (name, symbol.address)
  }

  /// The module whose code an address is in, by the name of its function; nil where that is no Swift name.
  package mutating func module(at address: UInt64) -> String? {
    table.symbol(containing: address).flatMap { parser.declaration($0.name) }.map(\.module).flatMap { $0.isEmpty ? nil : $0 }
  }

  private static func spelled(_ declaration: Declaration) -> String { withoutFiles(declaration.selectorName) }

  /// Private names carry the checksum of their file: `Secret#_0123…`.
  static func withoutFiles(_ name: String) -> String { PrivateNames.stripped(name) }
}
