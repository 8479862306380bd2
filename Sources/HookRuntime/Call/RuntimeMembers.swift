// RuntimeMembers — members of classes made at run time, for the lookup of callables.
//
// NewTypes tells of each class it makes; none is ever taken out, since objects of it may live. Thread-safe.

/// A class made at run time, asked for what it adds and implements. Its answers change while members are defined.
protocol RuntimeMemberSource: AnyObject, Sendable {
  /// The method added under a name with its labels, `discount(for:)`.
  func addedCallable(_ name: String) -> Callable?
  /// The selectors of added methods whose name before the parenthesis is `base`.
  func addedSelectors(base: String) -> [String]
  /// The implementation of a requirement by its name, or by its whole selector.
  func implementedMember(_ name: String) -> Callable?
  /// What a name after a dot means among the implementations of requirements.
  func implementedMember(base: String) -> CallableLookup.Member?
}

enum RuntimeMembers {
  private static let lock = RecursiveLock()
  // Both behind `lock`.
  nonisolated(unsafe) private static var byName: [String: any RuntimeMemberSource] = [:]
  nonisolated(unsafe) private static var byMetadata: [Metadata: any RuntimeMemberSource] = [:]

  /// - Parameter names: what selectors may call the class.
  static func add(_ source: any RuntimeMemberSource, names: [String], _ metadata: Metadata) {
    lock.withLock {
      for name in names { byName[name] = source }
      byMetadata[metadata] = source
    }
  }

  static func with(_ metadata: Metadata) -> (any RuntimeMemberSource)? { lock.withLock { byMetadata[metadata] } }

  /// The runtime classes that `type` is or inherits from, the nearest first.
  static func chain(of type: Metadata) -> [any RuntimeMemberSource] { lock.withLock { type.classChain.compactMap { byMetadata[$0] } } }

  /// The added method that `Script.FastCart.discount(for:)` means.
  static func addedMethod(_ selector: String) -> Callable? {
    let head = selector.prefix { $0 != "(" }
    guard let dot = head.lastIndex(of: "."), let type = lock.withLock({ byName[String(head[..<dot])] }) else { return nil }
    return type.addedCallable(String(selector[selector.index(after: dot)...]))
  }
}
