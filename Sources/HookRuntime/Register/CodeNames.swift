// CodeNames — names of code addresses, for people: the selector of a Swift function, the symbol of any other.
private import SwiftMangling

/// Names addresses of one image's file. One thread at a time.
package struct CodeNames {
  private let table: SymbolTable
  private var parser = SymbolParser()
  private var known: [UInt64: String] = [:]

  /// - Parameter file: the image; its separate debug file is found where the system keeps those.
  package init(_ file: ELFFile, options: SymbolTable.Options = .init()) { table = SymbolTable(file, options: options) }

  /// Where a function begins, and what it is called: `Shop.Cart.total(tax:)`. Nil where no symbol holds the address.
  /// - Parameter address: of the file, without load bias.
  package mutating func function(at address: UInt64) -> (name: String, start: UInt64)? {
    guard let symbol = table.symbol(containing: address) else { return nil }
    if let name = known[symbol.address] { return (name, symbol.address) }
    let name = parser.declaration(symbol.name).map { Self.withoutFiles($0.selectorName) } ?? symbol.nameText
    known[symbol.address] = name
    return (name, symbol.address)
  }

  /// The module whose code an address is in, by the name of its function; nil where that is no Swift name.
  package mutating func module(at address: UInt64) -> String? {
    table.symbol(containing: address).flatMap { parser.declaration($0.name) }.map(\.module).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Private names carry the checksum of their file: `Secret#_0123…`.
  static func withoutFiles(_ name: String) -> String { PrivateNames.stripped(name) }
}
