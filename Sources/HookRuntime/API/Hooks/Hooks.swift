// Hooks — the front door: what to hook, and with what.

/// Hooks functions of this program with closures.
///
///     try Hooks.before("Shop.Cart.add(_:price:quantity:)") { (call, name: String, price: Double) in
///       print(name, price)
///     }
///     try Hooks(Cart.self).around("total(tax:)") { (call, tax: Double) -> Double in
///       try call.original(tax * 2) + 1
///     }
///
/// A closure takes the call and as many of the function's arguments, from the first on, as it wants; that they are of the
/// function's types is checked when the hook is installed. Closures run on the thread of the call. What a closure calls itself is
/// seen by hooks like any other call, but for the function it handles: that call goes to the handlers inside.
public struct Hooks<Instance>: @unchecked Sendable {
  // An object is only asked for its identity and its class.
  let place: HookPlace

  init(_ place: HookPlace) { self.place = place }
}

/// Which functions selectors mean, and whose calls of them.
enum HookPlace {
  /// Any function, by its full name.
  case program
  /// Members of a type, and those a class inherits, for its own instances.
  case type(Any.Type)
  /// Members of an object's class, for this object.
  case object(AnyObject)
}

extension Hooks {
  /// Members of a type: `Hooks(Cart.self).before("add(_:price:)") { … }`.
  ///
  /// Of a class, selectors also mean inherited members; hooks on those see the calls on instances of the class and its subclasses
  /// only, and leave the class that declares them and its other subclasses alone.
  public init(_ type: Instance.Type) { place = .type(type) }
}

extension Hooks where Instance: AnyObject {
  /// One object: hooks see the calls on it alone, do not keep it alive, and end with it.
  public init(_ object: Instance) { place = .object(object) }
}

/// Classes whose objects have hooks of their own: `try cart.hook.before("add(_:price:)") { … }`.
///
/// Adopting it changes nothing else. For classes of others there is `Hooks(object)`.
public protocol Hookable: AnyObject {}

extension Hookable {
  /// Hooks on this object alone.
  public var hook: Hooks<Self> { Hooks(self) }
  /// Hooks on members of the class.
  public static var hook: Hooks<Self> { Hooks(Self.self) }
}

extension Hooks where Instance == Any {
  @usableFromInline static var program: Self { Self(.program) }

  /// The selectors that hooks wait for, and what has appeared of them, one line each.
  public static var waiting: [String] { HookEngine.shared.waits().map(\.description) }

  /// How far hooks on a function reach, and by what: for reading.
  public static func explain(_ selector: String) throws(HookError) -> String { try HookPlace.program.explain(selector) }

  /// The hooks that are installed in this process, whoever made them, in the order in which they were made.
  public static var live: [HookInfo] { HookEngine.shared.list() }

  /// Tells `listener` of every handler that fails, on the thread of its call. Without one, the first failure of each handler is
  /// written to the error output. nil goes back to that.
  public static func onFailure(_ listener: (@Sendable (HandlerFailure) -> Void)?) { HandlerFailures.listen(listener) }

  /// Tells `listener` of results that handlers give and callers do not look at, or may not look at, on the thread of the call: once for each
  /// call whose result is never read, and once for each handler of which nothing tells. Without one, they are written to the error output. nil goes
  /// back to that.
  public static func onNote(_ listener: (@Sendable (HandlerNote) -> Void)?) { HandlerFailures.listenToNotes(listener) }
}

extension Hooks {
  /// How far a hook on this member reaches, and by what: for reading.
  public func explain(_ selector: String) throws(HookError) -> String { try place.explain(selector) }
}
