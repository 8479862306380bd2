// TypeCatalog — the types of this process by name, those made at run time included.

/// The names of all types in this process's images.
package final class TypeCatalog: @unchecked Sendable {
  // `lock` guards what changes.
  package static let shared = TypeCatalog()
  private let lock = RecursiveLock()
  private var names: [String: TypeDescriptor] = [:]
  /// Those of ScriptHost itself, which are no part of the program.
  private var ours: Set<String> = []
  private var seen: Set<String> = []
  /// The reverse of `names`, filled when asked for.
  private var byDescriptor: [TypeDescriptor: String] = [:]

  private var seenAt: UInt64 = .max

  private func refresh() {
    let change = LoadedImages.changeCount
    if change == seenAt { return }
    seenAt = change
    byDescriptor = [:]
    let loaded = LoadedImages.snapshot()
    for image in loaded.images where image.file?.isSwift == true && seen.insert(image.path).inserted {
      let isOurs = OurImages.hold(image.path)
      for type in SwiftTypes(image: image, among: loaded).types {
        guard let address = UnsafeRawPointer(bitPattern: UInt(type.descriptor) &+ image.bias) else { continue }
        names[type.name] = TypeDescriptor(address)
        if isOurs { ours.insert(type.name) }
      }
    }
  }

  package func contains(_ name: String) -> Bool { descriptor(name) != nil }
  /// Types made at run time included.
  package func descriptor(_ name: String) -> TypeDescriptor? {
    lock.withLock {
      refresh()
      return names[name]
    } ?? RuntimeTypes.descriptor(name)
  }
  /// The type of that name; nil for generic ones. Calls its metadata accessor.
  package func metadata(_ name: String) -> Metadata? { descriptor(name)?.metadata() }
  /// The name of the type with this descriptor.
  package func name(of descriptor: TypeDescriptor) -> String? {
    lock.withLock {
      refresh()
      if byDescriptor.isEmpty { for (name, descriptor) in names { byDescriptor[descriptor] = name } }
      return byDescriptor[descriptor]
    }
  }
  /// The program's own and its libraries'.
  package var all: [String] {
    lock.withLock {
      refresh()
      return names.keys.filter { !ours.contains($0) }
    }
  }
}
