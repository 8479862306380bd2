// Hooks+Observe — properties, from the same front door as functions.

extension Hooks where Instance: AnyObject {
  /// Tells every write to a property that goes through its accessors: of one object, or of all instances of a class.
  ///
  ///     let seen = try Hooks(cart).observe("title") { (change: PropertyChange<String>) in print(change.old ?? "?", change.new ?? "?") }
  ///
  /// - Parameters:
  ///   - path: a property; of one object several may lead to it, `owner.name`; of a class, also `static rate`.
  ///   - owner: the observation ends with it, and does not keep it alive.
  ///   - body: told of each write on the thread that wrote, after it.
  @discardableResult
  public func observe<Value>(
    _ path: String, owner: AnyObject? = nil, _ body: @escaping @Sendable (PropertyChange<Value>) -> Void
  ) throws(ObserveError) -> Observation {
    switch place {
    case .object(let object): return try HookEngine.shared.observe(object, path, owner: owner, body)
    case .type, .program:
      // A class, as the extension demands.
      let type: AnyClass = Instance.self
      guard path.hasPrefix("static ") else { return try HookEngine.shared.observe(instancesOf: type, path, owner: owner, body) }
      return try HookEngine.shared.observe(staticsOf: type, String(path.dropFirst(7)), owner: owner, body)
    }
  }
}
