// VirtualCall — which implementation of a class's method an object runs.
//
// The object's class has the answer in its virtual table where the method has a slot. The slot is found from the
// descriptor: the entry that names the method's body, or the overridden entry whose override names it. What the slot
// holds is called only when its symbol says that it is a function of the same type: it may hold the runtime's "deleted
// method" function, or a thunk of another convention. Methods without a slot (final, in an extension, no longer called
// virtually) are found by name, which has found the nearest class's already.
private import CHookTrampoline
private import Glibc
private import SwiftMangling
private import Synchronization

package enum VirtualCall {
  private struct Key: Hashable {
    let callable: ObjectIdentifier  // callables are kept for ever
    let type: Metadata
  }
  /// Where a class has the method, and what was found to be callable there; hooks may stand before it.
  private struct Place: @unchecked Sendable {
    // A word of class metadata: lives as long as the class, and is read whole.
    let word: UnsafeRawPointer
    let former: UInt64
  }
  /// Nil: there is no such place, the callable's own target is called.
  private static let known = Mutex<[Key: Place?]>([:])

  /// The code that objects of `type` (or `type` itself, for class methods) run for `callable`; an async function's pointer.
  /// Where the class's table is hooked, that is the hook's.
  package static func entry(of callable: Callable, for type: Metadata) -> UInt {
    guard let owner = callable.owner, owner != type, callable.declaration.kind != .allocatingInit else { return callable.target }
    let key = Key(callable: ObjectIdentifier(callable), type: type)
    if let found = known.withLock({ $0[key] }) {
      guard let place = found else { return callable.target }
      if let entry = entry(at: place) { return entry }
    }
    let place = find(callable, owner, type)
    known.withLock { $0[key] = .some(place) }
    return place.flatMap { entry(at: $0) } ?? callable.target
  }

  /// What the word holds, while that leads to what was found there.
  private static func entry(at place: Place) -> UInt? {
    let now = place.word.load(as: UInt64.self)
    return settled(now) == place.former ? UInt(now) : nil
  }

  /// The program's own function behind all that was put before it: a class made here over another leads to that one's override,
  /// and a hook in a table to what it stands before.
  private static func settled(_ word: UInt64) -> UInt64 {
    var word = word
    while true {
      let former = hkt_slot_former(word)
      if former == word { return word }
      word = former
    }
  }

  private static func find(_ callable: Callable, _ owner: Metadata, _ type: Metadata) -> Place? {
    guard let slot = owner.virtualSlot(of: callable.target) else { return nil }
    let word = type.pointer + 8 * slot
    let former = settled(word.load(as: UInt64.self))
    let code = callable.isAsync ? Callable.code(of: UInt(former)) : UInt(former)
    let isCallable = UInt(former) == callable.target || isFunction(code, like: callable.declaration)
    return isCallable ? Place(word: word, former: former) : nil
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

  /// The name of the type whose member it is, structs and enums too; nil for free functions.
  package var ownerName: String? { owner.map(CallCheck.name) ?? declaration.context?.description }
}
