// CallerPlace — whether a call comes from code that works with a property, or from code that merely asks for its value.
//
// The class that declares a delegate reads it to call it: it is to see the proxy. Everybody else gets the very object that was
// set. In a library everything is the class's own side: callbacks often come from its free functions. In the program itself
// only members of the class and of its subclasses, and extensions of them in the same module, are.
internal import SwiftMangling
private import Synchronization

final class CallerPlace: Sendable {
  private let image: ImageCatalog
  private let module: String
  private let owner: NominalName?
  private let ownerType: Metadata
  private let known = Mutex<[UInt: Bool]>([:])

  init(_ property: DelegateProperty) {
    image = property.image
    module = property.module
    owner = property.setter[0].1.declaration.context
    ownerType = property.owner
  }

  /// - Parameter address: where the call returns to.
  func isInside(_ address: UInt) -> Bool {
    if let known = known.withLock({ $0[address] }) { return known }
    let found = find(UInt64(address) &- image.bias)
    known.withLock { $0[address] = found }
    return found
  }

  private func find(_ address: UInt64) -> Bool {
    let isOwnImage = image.hasFunction(at: address &- 1)
    if isOwnImage, !image.isMainProgram { return true }
    guard let declaration = Self.function(at: UInt(address &+ image.bias)) else { return false }
    if isOwnImage, declaration.context == owner { return (declaration.extensionModule ?? module) == module }
    // A subclass, in whatever image, calls what it inherits; its override of the property asks for what it forwards.
    guard let type = DelegateProperty.type(of: declaration) else { return false }
    return type != ownerType && type.isSubclass(of: ownerType) && declaration.extensionModule.map { $0 == declaration.module } ?? true
  }

  /// The function that a call returns to.
  /// - Parameter address: of this process.
  static func function(at address: UInt) -> Declaration? {
    guard let code = UnsafeRawPointer(bitPattern: address), let image = ConformanceScan.image(containing: code),
      let symbol = image.symbols.symbol(containing: UInt64(address) &- image.bias &- 1)
    else { return nil }
    var parser = SymbolParser()
    return parser.declaration(symbol.name)
  }
}

extension ImageCatalog {
  /// The file's address lies in a function that has a name.
  fileprivate func hasFunction(at address: UInt64) -> Bool {
    symbols.symbol(containing: address).map { address < $0.address + UInt64($0.size) } ?? false
  }
}
