// Observation — key-value observation of Swift properties.
//
//     let seen = try HookEngine.shared.observe(cart, "title") { (change: PropertyChange<String>) in
//       print(change.old ?? "?", "->", change.new ?? "?")
//     }
//     seen.end()

/// A write to an observed property.
public struct PropertyChange<Value> {
  /// The object it was observed on; the instance, where a type is; nil for a static property.
  public let object: AnyObject?
  /// nil where the path led to no value, and where it could not be read then.
  public let old: Value?
  public let new: Value?
  /// Changed where it lies (`x.n += 1`, `append`), not set.
  public let isInPlace: Bool
}

/// An observation that runs. Dropping it does not end it; it ends with the object, with its owner, or by `end`.
public final class Observation: Sendable {
  private let observer: Observer
  init(_ observer: Observer) { self.observer = observer }

  /// Writes that are over later are not reported. Answers false when it was over before. Never waits.
  @discardableResult
  public func end() -> Bool {
    if observer.end() { return true }
    if !observer.endedByItself { _ = ObserverBook.shared.isIgnored(.endedTwice(path: observer.text)) }
    return false
  }

  /// Which functions are seen to write the property, and what cannot be seen.
  public var explanation: String { observer.explanation }
}

extension HookEngine {
  /// Tells every write to a property of one object that goes through its accessors.
  ///
  /// `path` is a property or several, `user.address.city`: what is reported is the value at its end, whenever one of the steps
  /// changes. Neither the object nor those on the way are kept alive. Values are read from stored fields, or by the getter
  /// where there is none; hooks do not see that.
  /// - Parameters:
  ///   - object: the one whose property is observed.
  ///   - path: the property, or the steps to it.
  ///   - owner: the observation ends with it, and does not keep it alive.
  ///   - body: runs on the thread that wrote, after the write (its `didSet` included); what it writes to the same property is
  ///     not reported to it again.
  public func observe<Value>(
    _ object: AnyObject, _ path: String, owner: AnyObject? = nil, _ body: @escaping @Sendable (PropertyChange<Value>) -> Void
  ) throws(ObserveError) -> Observation { try observe(.object(object), path, owner, body) }

  /// Observes all instances of a class, those of its subclasses included, now and later.
  public func observe<Value>(
    instancesOf type: AnyClass, _ property: String, owner: AnyObject? = nil, _ body: @escaping @Sendable (PropertyChange<Value>) -> Void
  ) throws(ObserveError) -> Observation { try observe(.instances(of: Metadata(type as Any.Type)), property, owner, body) }

  /// Observes a static property.
  public func observe<Value>(
    staticsOf type: AnyClass, _ property: String, owner: AnyObject? = nil, _ body: @escaping @Sendable (PropertyChange<Value>) -> Void
  ) throws(ObserveError) -> Observation { try observe(.statics(of: Metadata(type as Any.Type)), property, owner, body) }

  private func observe<Value>(
    _ subject: Observer.Subject, _ path: String, _ owner: AnyObject?, _ body: @escaping @Sendable (PropertyChange<Value>) -> Void
  ) throws(ObserveError) -> Observation {
    let key = ObserverKey(subject, path, guardian: owner)
    if let running = ObserverBook.shared.running(key), ObserverBook.shared.isIgnored(.doubled(path: path)) { return Observation(running) }
    let observer = try Observer(subject, path, owner: "swift", guardian: owner) { change in
      body(
        PropertyChange(
          object: UnsafeRawPointer(bitPattern: change.object).map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() },
          old: change.old.flatMap(Self.value), new: change.new.flatMap(Self.value), isInPlace: change.isInPlace))
    }
    // Optionals may be asked for without their nil, which then reads as no value.
    guard observer.leaf.metadata == Metadata(Value.self) || observer.leaf.payload?.metadata == Metadata(Value.self) else {
      observer.end()
      throw .wrongType(path, expected: _typeName(Value.self, qualified: true), found: observer.leaf.name)
    }
    ObserverBook.shared.add(observer, key)
    return Observation(observer)
  }

  private static func value<Value>(_ value: OwnedValue) -> Value? {
    guard TypeResolver.shared.general(value.info) === value.info else { return nil }
    if value.info.metadata == Metadata(Value.self) { return value.memory.assumingMemoryBound(to: Value.self).pointee }
    guard value.info.payload?.metadata == Metadata(Value.self) else { return nil }
    return value.memory.assumingMemoryBound(to: Optional<Value>.self).pointee
  }
}

extension TypeInfo {
  fileprivate var payload: TypeInfo? { if case .optional(let payload) = kind { payload } else { nil } }
}
