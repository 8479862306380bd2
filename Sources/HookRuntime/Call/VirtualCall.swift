// VirtualCall — which implementation of a class's method an object runs.
//
// The object's class has the answer in its virtual table where the method has a slot. The slot is found from the
// descriptor: the entry that names the method's body, or the overridden entry whose override names it. What the slot
// holds is called only when its symbol says that it is a function of the same type: it may hold the runtime's "deleted
// method" function, or a thunk of another convention. Methods without a slot (final, in an extension, no longer called
// virtually) are found by name, which has found the nearest class's already.
private import Glibc
private import SwiftMangling
private import Synchronization

package enum VirtualCall {
  private struct Key: Hashable {
    let callable: ObjectIdentifier  // callables are kept for ever
    let type: Metadata
  }
  private static let known = Mutex<[Key: UInt]>([:])

  /// The code that objects of `type` (or `type` itself, for class methods) run for `callable`; an async function's pointer.
  package static func entry(of callable: Callable, for type: Metadata) -> UInt {
    guard let owner = callable.owner, owner != type, callable.declaration.kind != .allocatingInit else { return callable.target }
    let key = Key(callable: ObjectIdentifier(callable), type: type)
    if let entry = known.withLock({ $0[key] }) { return entry }
    let entry = find(callable, owner, type)
    // What a class made at run time overrides may change.
    if RuntimeClasses.chain(of: type).isEmpty { known.withLock { $0[key] = entry } }
    return entry
  }

  private static func find(_ callable: Callable, _ owner: Metadata, _ type: Metadata) -> UInt {
    guard let slot = slot(of: callable.target, in: owner) else { return callable.target }
    let found = type.pointer.load(fromByteOffset: 8 * slot, as: UInt.self)
    // What we put there has the convention of what was there.
    if found == callable.target || StandIns.at(found) != nil { return found }
    let code = callable.isAsync ? Callable.code(of: found) : found
    return isFunction(code, like: callable.declaration) ? found : callable.target
  }

  /// The metadata word where `owner` keeps the method with this body.
  static func slot(of body: UInt, in owner: Metadata) -> Int? {
    guard let descriptor = owner.descriptor else { return nil }
    if let table = descriptor.virtualTable {
      for index in 0..<table.count where table.implementation(index) == body { return table.offset + index }
    }
    for override in descriptor.overrides where override.implementation == body {
      // The overridden entry lies in the table of the class that introduced it.
      guard let table = TypeDescriptor(override.introducer).virtualTable, let index = table.index(of: override.entry) else { continue }
      return table.offset + index
    }
    return nil
  }

  /// A body of this process with the declaration's name and type, or a thunk that is in virtual tables only.
  private static func isFunction(_ address: UInt, like declaration: Declaration) -> Bool {
    var parser = SymbolParser()
    for image in ProcessCatalog.shared.current() {
      for symbol in image.symbols.symbols(at: UInt64(address) &- image.bias) {
        // Takes what the method of the slot takes, and hands it to an override of another convention.
        if symbol.name.suffix(2).elementsEqual("TV".utf8) { return true }
        guard let found = parser.declaration(symbol.name) else { continue }
        if found.kind == declaration.kind, found.name == declaration.name, found.type == declaration.type,
          found.isStatic == declaration.isStatic
        {
          return true
        }
      }
    }
    return false
  }
}

extension Callable {
  /// What virtual tables hold for it.
  package var target: UInt { asyncPointer ?? entry }

  /// The class whose member it is.
  package var owner: Metadata? {
    switch receiver {
    case .none, .value: nil
    case .object(let type), .metatype(let type): type
    }
  }
}
