// ProtocolImplementation — objects that conform to protocols of the program, written in Swift at run time.
//
//     let delegate = try ProtocolImplementation(of: "Shop.CartDelegate") {
//       $0.on("cartDidChange(_:)") { call in print("changed") }
//       $0.on("title.get") { call in call.setResult(to: "title") }
//     }
//     cart.delegate = delegate.as((any CartDelegate).self)
private import CHookTrampoline

public struct ProtocolImplementation: @unchecked Sendable {
  // The object's behaviour is safe on any thread; whether calls of the protocol are, its callers know.
  /// Conforms to the protocols: `object as? any CartDelegate`.
  public let object: AnyObject

  /// What is said of an implementation when it is made.
  public struct Definition {
    fileprivate var handlers: [(requirement: String, spec: LayerSpec)] = []
    /// Answers what has no handler. It must conform to all the protocols.
    public var target: AnyObject?
    /// The target is not kept alive; when it is gone, calls return nothing, or nil, or throw.
    public var holdsTargetWeakly = false

    /// What a requirement does: `cartDidChange(_:)`, `title.get`, `title.set`. `HookedCall.proceed()` asks the target, or a
    /// default implementation. In-place modification goes through the getter and the setter where one of them is given.
    public mutating func on(_ requirement: String, _ body: @escaping HookedCall.Handler) {
      handlers.append((requirement, .closure(UInt32(HKT_ON_AROUND), body)))
    }
  }

  /// - Throws: when nothing can be made to conform to a protocol at run time, when a requirement is not found, and when a
  ///   requirement that returns a value would be answered by nobody.
  public init(of protocols: String..., define: (inout Definition) -> Void = { _ in }) throws(NewTypeError) {
    var definition = Definition()
    define(&definition)
    let type = try ConformingClass.implementing(protocols)
    let behaviour = try Behaviour(
      type, handlers: definition.handlers, target: definition.target, weakly: definition.holdsTargetWeakly)
    object = behaviour.object()
  }

  /// The object as a value of protocol type; nil when it does not conform to that.
  public func `as`<P>(_ type: P.Type = P.self) -> P? { object as? P }
}
