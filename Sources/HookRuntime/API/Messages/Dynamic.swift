// Dynamic — messages that read like calls.

/// An object, value or type whose members are called by name.
///
///     let cart = Dynamic(someObject)
///     try cart.add("apple", price: 2.5, quantity: 1)
///     cart.title = "new"
///     let title: String = try cart.title()
///     let made = try Dynamic(type: "Shop.Cart")(title: "x")
///
/// Each call is a ``Message``: it is checked against the member it means, and goes where that goes when there is none. Properties are
/// read by a call without arguments; a property's property too: `try cart.owner.name()`. The type of what comes back is what the
/// caller asks for, or `Dynamic`. Nothing of our own is among its members.
@dynamicMemberLookup
@dynamicCallable
public struct Dynamic {
  private let receiver: Any?

  public init(_ receiver: Any?) { self.receiver = receiver.map(Self.unwrapped) }

  /// The type of this name: calls are initialisers, members static.
  public init(type name: String) throws(CallError) {
    guard let type = TypeCatalog.shared.descriptor(name)?.metadata() else {
      throw .notFound(SelectorLookup.typeProblem(name) ?? "type '\(name)' is generic; its type arguments are not in its name")
    }
    receiver = type.type
  }

  /// What a Dynamic stands for, when it is one.
  static func unwrapped(_ value: Any) -> Any { (value as? Dynamic).flatMap(\.receiver) ?? value }

  public subscript(dynamicMember name: String) -> DynamicMember { DynamicMember(of: receiver, [name]) }

  /// Sets a property. An assignment cannot throw: what went wrong is reported to ``Messages/onFailedAssignment(_:)``; `try object.name(value)`
  /// does the same and throws.
  public subscript<T>(dynamicMember name: String) -> T {
    @available(*, unavailable, message: "a property is read by a call: 'try object.name()'")
    get { fatalError("unavailable") }
    nonmutating set { DynamicMember(of: receiver, [name]).assign(newValue) }
  }

  /// Of a type, an initialiser; of everything else, the value itself, without arguments.
  public func dynamicallyCall<T>(withKeywordArguments arguments: KeyValuePairs<String, Any?>) throws -> T {
    try call(arguments).value("init")
  }

  @discardableResult
  public func dynamicallyCall(withKeywordArguments arguments: KeyValuePairs<String, Any?>) throws -> Dynamic {
    try call(arguments).value("init")
  }

  private func call(_ arguments: KeyValuePairs<String, Any?>) throws -> MessageResult {
    guard let receiver, receiver is Any.Type else {
      if arguments.isEmpty { return .answered(receiver) }
      throw CallError.wrongReceiver(selector: "init", expected: "a type", found: receiver.map { Metadata(type(of: $0)).name } ?? "nil")
    }
    return try Message(Message.selector("init", arguments), arguments.map(\.value), to: receiver).deliver()
  }
}

/// A member of a ``Dynamic``, until it is called.
@dynamicMemberLookup
@dynamicCallable
public struct DynamicMember {
  private let receiver: Any?
  /// The member's name, with the properties that lead to it before.
  private let path: [String]

  init(of receiver: Any?, _ path: [String]) {
    self.receiver = receiver
    self.path = path
  }

  public subscript(dynamicMember name: String) -> DynamicMember { DynamicMember(of: receiver, path + [name]) }

  public subscript<T>(dynamicMember name: String) -> T {
    @available(*, unavailable, message: "a property is read by a call: 'try object.name()'")
    get { fatalError("unavailable") }
    nonmutating set { DynamicMember(of: receiver, path + [name]).assign(newValue) }
  }

  public func dynamicallyCall<T>(withKeywordArguments arguments: KeyValuePairs<String, Any?>) throws -> T {
    try call(arguments).value(path.joined(separator: "."))
  }

  @discardableResult
  public func dynamicallyCall(withKeywordArguments arguments: KeyValuePairs<String, Any?>) throws -> Dynamic {
    try call(arguments).value(path.joined(separator: "."))
  }

  private func call(_ arguments: KeyValuePairs<String, Any?>) throws -> MessageResult {
    try send(Message.selector(path.last!, arguments), arguments.map(\.value))
  }

  private func send(_ selector: String, _ arguments: [Any?]) throws -> MessageResult {
    var target = receiver
    for name in path.dropLast() {
      target = try Message(name + "()", [], to: try Self.present(target, name)).deliver().any()
    }
    return try Message(selector, arguments, to: try Self.present(target, path.last!)).deliver()
  }

  private static func present(_ receiver: Any?, _ name: String) throws(CallError) -> Any {
    guard let receiver else { throw .wrongReceiver(selector: name, expected: "an object or value", found: "nil") }
    return receiver
  }

  func assign<T>(_ value: T) {
    do { _ = try send(path.last! + ".set", [value]).any() } catch {
      MessageRegistry.shared.failed(toAssign: path.joined(separator: "."), error)
    }
  }
}

extension Message {
  /// The selector of a call with these labels. Without arguments, or with one that has no label, it may mean a property.
  static func selector(_ name: String, _ arguments: KeyValuePairs<String, Any?>) -> String {
    "\(name)(\(arguments.map { $0.key.isEmpty ? "_:" : $0.key + ":" }.joined()))"
  }

  /// The label of an argument, nil for none.
  static func label(_ selector: String, _ position: Int) -> String? {
    guard let open = selector.firstIndex(of: "(") else { return nil }
    // What is behind the last ":" is no label.
    let labels = selector[selector.index(after: open)...].dropLast().split(separator: ":", omittingEmptySubsequences: false).dropLast()
    guard labels.indices.contains(position), labels[position] != "_" else { return nil }
    return String(labels[position])
  }
}
