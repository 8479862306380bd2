// MessageForwarding — classes that answer messages for others, and objects that do nothing else.

/// A class that knows what to do with messages no member of it answers.
///
/// What is added with ``Messages`` for its objects comes first, and leaves the rest to these.
public protocol MessageForwarding: AnyObject {
  /// The object (or type) that is to get the message instead; nil where there is none.
  func forwardingTarget(for selector: String) -> Any?
  /// Answers the message, or passes it on.
  func forward(_ message: Message) throws -> Message.Reply
  /// The target for messages sent to the class.
  static func forwardingTarget(for selector: String) -> Any?
  static func forward(_ message: Message) throws -> Message.Reply
}

extension MessageForwarding {
  public func forwardingTarget(for selector: String) -> Any? { nil }
  public func forward(_ message: Message) throws -> Message.Reply { .passedOn }
  public static func forwardingTarget(for selector: String) -> Any? { nil }
  public static func forward(_ message: Message) throws -> Message.Reply { .passedOn }
}

/// An object that answers nothing itself: every message goes to its target, and whoever wants to know of it is notified before.
///
///     let spy = MessageProxy(to: cart) { print($0.selector, $0.arguments) }
///     try Dynamic(spy).add("apple", price: 2.5, quantity: 1)
public final class MessageProxy: MessageForwarding {
  private let strong: AnyObject?
  private weak let weak: AnyObject?
  private let record: ((Message) -> Void)?

  /// - Parameters:
  ///   - target: answers the messages.
  ///   - keepsTarget: otherwise messages are unknown once the target is gone.
  ///   - record: told of every message before it is forwarded.
  public init(to target: AnyObject, keepsTarget: Bool = true, record: ((Message) -> Void)? = nil) {
    strong = keepsTarget ? target : nil
    weak = target
    self.record = record
  }

  /// nil once it is gone.
  public var target: AnyObject? { strong ?? weak }

  public func forward(_ message: Message) throws -> Message.Reply {
    guard let target else { return .passedOn }
    record?(message)
    return .answered(try message.send(to: target))
  }
}
