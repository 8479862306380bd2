// RuntimeClasses — all classes made at run time, by name and by metadata. None is ever taken out: objects of it may live.
private import Glibc

package enum RuntimeClasses {
  private static let lock = RecursiveLock()
  // All behind `lock`.
  nonisolated(unsafe) private static var byName: [NewTypeName: RuntimeClass] = [:]
  nonisolated(unsafe) private static var byMetadata: [Metadata: RuntimeClass] = [:]

  /// - Throws: `.nameTaken` when the program or we have a type of this name.
  static func add(_ name: NewTypeName, _ make: () throws(NewTypeError) -> RuntimeClass) throws(NewTypeError) -> RuntimeClass {
    let made = try lock.withLock { () throws(NewTypeError) in
      if byName[name] != nil || TypeCatalog.shared.contains(name.description) { throw .nameTaken(name.description) }
      do throws(NewTypeError) {
        let made = try make()
        byName[name] = made
        byMetadata[made.metadata] = made
        RuntimeTypes.announce(name.description, made.metadata.descriptor)
        RuntimeTypes.add(made.metadata)
        RuntimeMembers.add(made, names: name.spellings, made.metadata)
        return made
      } catch {
        RuntimeTypes.announce(name.description, nil)
        throw error
      }
    }
    // Hooks on the superclass's table are for its subclasses, too.
    HookEngine.shared.tablesAppeared()
    return made
  }

  /// The class that is being made: its members speak of it before the runtime knows it.
  static func announce(_ name: NewTypeName, _ descriptor: TypeDescriptor) { RuntimeTypes.announce(name.description, descriptor) }

  /// The class of this name; without a module it is in the default one.
  package static func named(_ text: String) -> RuntimeClass? {
    guard let name = try? NewTypeName(text) else { return nil }
    return lock.withLock { byName[name] }
  }

  /// The runtime classes that `type` is or inherits from, the nearest first.
  static func chain(of type: Metadata) -> [RuntimeClass] { lock.withLock { type.classChain.compactMap { byMetadata[$0] } } }
}
