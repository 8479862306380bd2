// RuntimeClasses — all classes made at run time, by name and by metadata. None is ever taken out: objects of it may live.
private import Glibc

package enum RuntimeClasses {
  private static let lock = RecursiveLock()
  // All behind `lock`.
  /// The class that is being made: its members speak of it before the runtime knows it.
  nonisolated(unsafe) private static var beingMade: (name: String, descriptor: TypeDescriptor)?
  nonisolated(unsafe) private static var byName: [NewTypeName: RuntimeClass] = [:]
  nonisolated(unsafe) private static var byMetadata: [Metadata: RuntimeClass] = [:]

  /// - Throws: `.nameTaken` when the program or we have a type of this name.
  static func add(_ name: NewTypeName, _ make: () throws(NewTypeError) -> RuntimeClass) throws(NewTypeError) -> RuntimeClass {
    let made = try lock.withLock { () throws(NewTypeError) in
      if byName[name] != nil || TypeCatalog.shared.contains(name.description) { throw .nameTaken(name.description) }
      defer { beingMade = nil }
      let made = try make()
      byName[name] = made
      byMetadata[made.metadata] = made
      return made
    }
    // Hooks on the superclass's table are for its heirs, too.
    HookEngine.shared.tablesAppeared()
    return made
  }

  /// Classes made here that inherit from `base`.
  static func heirs(of base: Metadata) -> [Metadata] { lock.withLock { byMetadata.keys.filter { $0 != base && $0.isSubclass(of: base) } } }

  static func announce(_ name: NewTypeName, _ descriptor: TypeDescriptor) {
    lock.withLock { beingMade = (name.description, descriptor) }
  }
  /// The descriptor of a class made here, also while it is made.
  static func descriptor(_ name: String) -> TypeDescriptor? {
    lock.withLock { beingMade?.name == name ? beingMade?.descriptor : exactly(name)?.metadata.descriptor }
  }

  /// The class of this name; without a module it is in the default one.
  package static func named(_ text: String) -> RuntimeClass? {
    guard let name = try? NewTypeName(text) else { return nil }
    return lock.withLock { byName[name] }
  }
  /// The class of this whole name.
  private static func exactly(_ text: String) -> RuntimeClass? { text.contains(".") ? named(text) : nil }
  package static func with(_ metadata: Metadata) -> RuntimeClass? { lock.withLock { byMetadata[metadata] } }

  /// The runtime classes that `type` is or inherits from, the nearest first.
  static func chain(of type: Metadata) -> [RuntimeClass] { lock.withLock { type.classChain.compactMap { byMetadata[$0] } } }

  /// The added method that `Script.FastCart.discount(for:)` means.
  package static func addedMethod(_ selector: String) -> AddedMethod? {
    let head = selector.prefix { $0 != "(" }
    guard let dot = head.lastIndex(of: "."), let type = named(String(head[..<dot])) else { return nil }
    return type.addedMethod(String(selector[selector.index(after: dot)...]))
  }
}
