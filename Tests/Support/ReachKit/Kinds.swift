// Kinds — what is hooked, and what a place that calls it looks like.

/// One place in the source, by the kind that is called and how.
public struct Site: Sendable {
  public let kind: String
  public let way: String
  /// Calls the function on the object (a fresh one, or a subclass), if it takes one.
  public let call: @Sendable (Base) async -> Int
  public init(_ kind: String, _ way: String, _ call: @escaping @Sendable (Base) async -> Int) {
    (self.kind, self.way, self.call) = (kind, way, call)
  }
}

/// A kind of function: what is hooked, and which bodies ran.
public struct Kind: Sendable {
  public let name: String
  public let selector: String
  /// What its calls are made on.
  public let object: @Sendable () -> Base
  public let ran: @Sendable () -> Int
  init(
    _ name: String, _ selector: String, on object: @escaping @Sendable () -> Base = { Base(number: 1) },
    _ ran: @escaping @Sendable () -> Int
  ) {
    (self.name, self.selector, self.object, self.ran) = (name, selector, object, ran)
  }
}

public let kinds: [Kind] = [
  Kind("open method", "ReachKit.Base.opened(_:)") { ran.opened },
  Kind("internal method", "ReachKit.Base.inner(_:)") { ran.inner },
  Kind("final method", "ReachKit.Base.fixed(_:)") { ran.fixed },
  Kind("override", "ReachKit.Heir.changed(_:)", on: { Heir(number: 1) }) { ran.changed },
  Kind("struct method", "ReachKit.Value.method(_:)") { ran.method },
  Kind("static method", "static ReachKit.Value.made(_:)") { ran.made },
  Kind("class method", "static ReachKit.Base.classed(_:)") { ran.classed },
  Kind("initialiser", "ReachKit.Base.init(number:)") { ran.started },
  Kind("getter", "ReachKit.Base.level.get") { ran.got },
  Kind("setter", "ReachKit.Base.level.set") { ran.set },
  Kind("modify", "ReachKit.Base.place.modify") { ran.modified },
  Kind("requirement", "ReachKit.Acts.act(_:)") { ran.act },
  Kind("generic method", "ReachKit.Base.takes(_:)") { ran.takes },
  Kind("free function", "ReachKit.free(_:)") { ran.free },
  Kind("dynamic function", "ReachKit.swapped(_:)") { ran.swapped },
  Kind("dynamic method", "ReachKit.Base.swappedMethod(_:)") { ran.swappedMethod },
  Kind("async method", "ReachKit.Base.later(_:)") { ran.later },
]
