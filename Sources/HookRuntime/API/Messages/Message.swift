// Message — the name of a member and its arguments, on the way to whatever answers them.

/// A message: a member's name, arguments, and who it was sent to.
///
///     let text: String = try Message.send("checkout()", to: cart)
///     try Message.send("add(_:price:quantity:)", to: cart, "apple", 2.5, 3)
///
/// Whatever the compiler knows of the receiver, its own class's member is called. What no member answers goes on, in this order:
///
/// 1. to answers that were added for the object or its class (``Messages``);
/// 2. to another object, when somebody names one: `Messages.forward(to:)`, then the receiver's own
///    `forwardingTarget(for:)`;
/// 3. to whoever handles whole messages: `Messages.forward`, then the receiver's own `forward(_:)`;
/// 4. to ``Messages/onUnknown(_:)``, and to the guards `unknown_selector` and `null` where a patch or the program has switched them on;
///    without these it throws ``CallError/noMember(selector:type:nearest:)``.
///
/// Types are receivers like objects: static members and initialisers answer.
public struct Message {
  /// `add(_:price:quantity:)`, `title.get`, or a base name where that is enough: `add`, `title`.
  public let selector: String
  /// Numbers become numbers of the parameters' types where the value stays the same, nil an empty Optional; nothing else is converted.
  public var arguments: [Any?]
  /// The object, value or type the message was sent to; of a forwarded one, whom it was sent to last.
  public let receiver: Any
  /// Objects it was passed on by, so that it does not go in circles.
  private(set) var passedOnBy: [AnyObject] = []
  /// Where a script sent it, `cart.lua:7`; nil where Swift code did.
  package var site: String?

  package init(_ selector: String, _ arguments: [Any?], to receiver: Any) {
    self.selector = selector
    self.arguments = arguments
    self.receiver = receiver
  }

  /// What `Messages.forward` and `MessageForwarding.forward` answer.
  public enum Reply {
    case answered(Any?)
    /// The message goes on to the next one who may know it.
    case passedOn
  }

  /// Sends a message and answers what comes back; nil for nothing, and for an empty Optional.
  @discardableResult
  public static func send(_ selector: String, to receiver: Any, _ arguments: Any?...) throws -> Any? {
    try Message(selector, arguments, to: receiver).deliver().any()
  }

  /// Sends a message whose answer is to be a T.
  public static func send<T>(_ selector: String, to receiver: Any, _ arguments: Any?...) throws -> T {
    try Message(selector, arguments, to: receiver).deliver().value(selector)
  }

  /// Sends the same message on to another receiver.
  @discardableResult
  public func send(to other: Any) throws -> Any? { try passed(to: other).deliver().any() }

  func passed(to other: Any) throws(CallError) -> Message {
    var next = Message(selector, arguments, to: other)
    next.site = site
    next.passedOnBy = passedOnBy
    if let object = self.object { next.passedOnBy.append(object) }
    if let target = next.object, next.passedOnBy.contains(where: { $0 === target }) {
      throw .forwardedInCircles(selector: selector, through: next.passedOnBy.map { Metadata(Swift.type(of: $0) as Any.Type).name })
    }
    return next
  }

  /// The receiver where it is an instance of a class.
  var object: AnyObject? {
    guard case .classType = Metadata(Swift.type(of: receiver)).kind else { return nil }
    return receiver as AnyObject
  }

  /// The type whose members answer: the receiver's, or the receiver itself.
  var type: (metadata: Metadata, isStatic: Bool) {
    if let type = receiver as? Any.Type { return (Metadata(type), true) }
    return (Metadata(Swift.type(of: receiver)), false)
  }
}
