// Messages — who answers messages that no member answers.

/// Adds answers for messages to the objects of a class, to one object, or to a class itself.
///
///     Messages(Cart.self).answer("discount(for:)") { (cart: Cart, days: Int) -> Double in Double(days) / 100 }
///     Messages(cart).forward(to: warehouse)
///
/// Only messages see them: the class has no more members than before.
public struct Messages<Instance> {
  let place: MessageRegistry.Place

  /// Objects (values) of this type and of classes that inherit from it.
  public init(_ type: Instance.Type) { place = .type(Metadata(type), isStatic: false) }

  /// The type itself as receiver, and types that inherit from it: `Messages(static: Cart.self)`.
  public init<Type>(static type: Type.Type) where Instance == Any { place = .type(Metadata(type), isStatic: true) }
}

extension Messages where Instance == Any {
  /// Of a type that only its metadata names.
  package init(instancesOf type: Any.Type) { place = .type(Metadata(type), isStatic: false) }
}

extension Messages where Instance: AnyObject {
  /// One object; what is added ends with it.
  public init(_ object: Instance) { place = .object(object) }
}

/// What was added; removing it twice answers false.
public struct MessageHandler: Sendable, Hashable {
  let id: UInt64
  @discardableResult
  public func remove() -> Bool { MessageRegistry.shared.remove(id) }
}

extension Messages {
  /// Answers the message of this name like a method would: arguments are checked, numbers become those of the closure's types.
  @discardableResult
  public func answer<Output, each Argument>(
    _ selector: String, _ body: @escaping @Sendable (Instance, repeat each Argument) throws -> Output
  ) -> MessageHandler {
    MessageRegistry.shared.add(place) { handlers in
      handlers.answers[selector] = { message in
        var given = message.arguments[...]
        var expected = 0
        for _ in repeat (each Argument).self { expected += 1 }
        guard expected == given.count else {
          throw CallError.wrongCount(selector: selector, expected: expected, found: given.count)
        }
        func next<T>(_: T.Type) throws(CallError) -> T {
          let position = expected - given.count
          let value = given.popFirst()!.map(Dynamic.unwrapped)
          if let typed: T = DynamicValue.typed(value) { return typed }
          throw .wrongArgument(
            selector: selector, position: position, label: Message.label(selector, position), expected: Metadata(T.self).name,
            found: value.map { Metadata(type(of: $0)).name } ?? "nil")
        }
        return try body(Self.instance(message), repeat next((each Argument).self))
      }
    }
  }

  /// Sends messages on to what `target` names for them: another object, or a type; nil for what it does not know.
  @discardableResult
  public func forward(to target: @escaping @Sendable (Instance, _ selector: String) -> Any?) -> MessageHandler {
    MessageRegistry.shared.add(place) { $0.targets.append { target(Self.instance($0), $0.selector) } }
  }

  /// Sends messages on to another object, which is kept alive.
  @discardableResult
  public func forward(to target: AnyObject) -> MessageHandler {
    // Whoever sends messages from several threads has a target that stands that.
    nonisolated(unsafe) let target = target
    return forward { _, _ in target }
  }

  /// Handles whole messages.
  @discardableResult
  public func forward(_ body: @escaping @Sendable (Instance, Message) throws -> Message.Reply) -> MessageHandler {
    MessageRegistry.shared.add(place) { $0.forwards.append { try body(Self.instance($0), $0) } }
  }

  /// The receiver is an instance of the type the handler was added for, or the object itself.
  private static func instance(_ message: Message) -> Instance { message.receiver as! Instance }
}

extension Messages where Instance == Any {
  /// Says what becomes of messages nobody answers; nil lets them throw ``CallError/noMember(selector:type:nearest:)`` again.
  public static func onUnknown(_ answer: (@Sendable (Message, CallError) -> UnknownMessage)?) { MessageRegistry.shared.setUnknown(answer) }

  /// Asked where nobody else answers, ``onUnknown(_:)`` included.
  package static func setGuard(_ answer: @escaping @Sendable (Message, CallError) -> UnknownMessage) { MessageRegistry.shared.setGuard(answer) }

  /// Notified of assignments to properties of a ``Dynamic`` that failed, which cannot throw. Without a listener they are written to the
  /// error output; nil goes back to that.
  public static func onFailedAssignment(_ listener: (@Sendable (_ property: String, any Error) -> Void)?) {
    MessageRegistry.shared.setFailedAssignment(listener)
  }
}

/// What a message comes back with when nobody answers it.
public enum UnknownMessage {
  /// The error is thrown.
  case error
  /// The neutral value of the type that is wanted: false, 0, "", an empty collection or Optional.
  case neutral
  case value(Any?)
}
