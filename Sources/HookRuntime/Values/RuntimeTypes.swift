// RuntimeTypes — descriptors and metadata of the classes made at run time, for stages that only ask what exists.
//
// NewTypes tells of each class it makes; none is ever taken out, since objects of it may live. Thread-safe.
private import Synchronization

package enum RuntimeTypes {
  private struct Known: @unchecked Sendable {
    // Descriptors and metadata made here are never freed.
    var descriptors: [String: TypeDescriptor] = [:]
    var metadata: Set<Metadata> = []
  }
  private static let known = Mutex(Known())

  /// The descriptor of a class made here by its whole name, also while it is made.
  static func descriptor(_ name: String) -> TypeDescriptor? { known.withLock { $0.descriptors[name] } }
  /// Classes made here that inherit from `base`, without itself.
  static func subclasses(of base: Metadata) -> [Metadata] {
    known.withLock { known in known.metadata.filter { $0 != base && $0.isSubclass(of: base) } }
  }

  /// - Parameter descriptor: nil takes the name back: making the class failed.
  static func announce(_ name: String, _ descriptor: TypeDescriptor?) { known.withLock { $0.descriptors[name] = descriptor } }
  static func add(_ metadata: Metadata) { _ = known.withLock { $0.metadata.insert(metadata) } }
}
