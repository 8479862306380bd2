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
  private var loaded: LoadedImages?
  /// The next one to read is the last: the program's own in the order of the loader, then ScriptHost's, which are asked for rarely.
  private var unread: [LoadedImage] = []

  /// Notes the images that have come since the last time.
  private func refresh() {
    let change = LoadedImages.changeCount
    if change == seenAt { return }
    seenAt = change
    let loaded = LoadedImages.snapshot()
    let fresh = loaded.images.filter { $0.file?.isSwift == true && seen.insert($0.path).inserted }
    // One that was closed meanwhile cannot be read any more.
    let open = Set(loaded.images.map(\.path))
    let waiting = unread.reversed().filter { open.contains($0.path) } + fresh
    unread = (waiting.filter { !OurImages.hold($0.path) } + waiting.filter { OurImages.hold($0.path) }).reversed()
    self.loaded = loaded
  }

  /// Reads the names of one more image; false when there is none left. Of types with one name the first counts.
  private func readNext() -> Bool {
    guard let loaded, let image = unread.popLast() else { return false }
    byDescriptor = [:]
    let isOurs = OurImages.hold(image.path)
    for type in SwiftTypes(image: image, among: loaded).types {
      guard names[type.name] == nil, let address = UnsafeRawPointer(bitPattern: UInt(type.descriptor) &+ image.bias) else { continue }
      names[type.name] = TypeDescriptor(address)
      if isOurs { ours.insert(type.name) }
    }
    return true
  }

  /// Reads the names of all images that are loaded now.
  private func readAll() {
    refresh()
    while readNext() {}
  }

  package func contains(_ name: String) -> Bool { descriptor(name) != nil }
  /// Types made at run time included.
  package func descriptor(_ name: String) -> TypeDescriptor? {
    lock.withLock {
      refresh()
      while true {
        if let found = names[name] { return found }
        guard readNext() else { return nil }
      }
    } ?? RuntimeTypes.descriptor(name)
  }
  /// The type of that name; nil for generic ones. Calls its metadata accessor.
  package func metadata(_ name: String) -> Metadata? { descriptor(name)?.metadata() }
  /// The name of the type with this descriptor.
  package func name(of descriptor: TypeDescriptor) -> String? {
    lock.withLock {
      readAll()
      if byDescriptor.isEmpty { for (name, descriptor) in names { byDescriptor[descriptor] = name } }
      return byDescriptor[descriptor]
    }
  }
  /// The program's own and its libraries'.
  package var all: [String] {
    lock.withLock {
      readAll()
      return names.keys.filter { !ours.contains($0) }
    }
  }
}
