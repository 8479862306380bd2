// Objects that conform to protocols at run time, and delegates that are watched, against the module Shop. Prints one line
// for each check: `ok` or `WRONG`.
import Glibc
import HookRuntime
import Shop

func check<T: Equatable>(_ found: T, _ expected: T, _ what: String) {
  print(found == expected ? "ok      \(what)" : "WRONG   \(what): found \(found), expected \(expected)")
}
func refused(_ what: String, _ expected: String, _ body: () throws -> Void) {
  do {
    try body()
    print("WRONG   \(what): nothing was refused")
  } catch {
    let text = "\(error)"
    print(text.contains(expected) ? "ok      \(what)" : "WRONG   \(what): found '\(text)', expected '\(expected)'")
  }
}

func forwarding() throws {
  let tokens = Token.alive
  do {
    let screen = Screen("main")
    let made = try ProtocolImplementation(of: "Shop.CartDelegate") { $0.target = screen }
    let delegate = made.as((any CartDelegate).self)!
    check(Desk.asDelegate(made.object) === made.object, true, "casts to the protocol find the conformance")
    check(Desk.asNamed(made.object) === made.object, true, "and to the protocol it inherits from")
    check((made.object as? Screen) == nil, true, "it is not of its target's class")
    check("\(type(of: made.object))", "CartDelegateImplementation", "its type's name")
    let cart = Cart()
    cart.delegate = delegate
    check(try cart.add("x", times: 2), true, "a throwing requirement with a result, answered by the target")
    check(Trace.shared.take(), "main:should:x main:changed:2", "the target saw both calls")
    do {
      _ = try cart.add("x", times: 101)
      check(false, true, "an error of the target passes through")
    } catch { check(error as? ShopError, ShopError(code: 101), "an error of the target passes through") }
    _ = Trace.shared.take()
    check(Desk.many(delegate), [23, 2.5, 5, 3], "arguments in all registers and on the stack")
    check(Desk.maybe(delegate, 0), nil, "an Optional result: nil")
    check(Desk.maybe(delegate, 3), "main 3", "an Optional result")
    check(Desk.name(delegate), "main", "a getter of the inherited protocol")
    Desk.rename(delegate)
    check(screen.name, "main!", "in-place modification by the target's own accessor")
    check(Trace.shared.take(), "renamed:main!", "the target's observers run once")
    delegate.name = "set"
    check(screen.name, "set", "a setter")
    Desk.bump(delegate, 1)
    check(screen.numbers, [1, 12, 3], "in-place modification of a subscript")
    check(Desk.describe(delegate), "screen set", "a method of the inherited protocol")
    check(Desk.optional(delegate), "default of Screen set", "a default implementation runs on the target")
    check(Desk.opened(delegate), "screen set|default of Screen set", "calls from generic code")
    _ = Trace.shared.take()
  }
  check(Token.alive, tokens, "nothing is left of them")
}

func handlers() throws {
  let tokens = Token.alive
  do {
    let screen = Screen("main")
    nonisolated(unsafe) var name = "own"
    let made = try ProtocolImplementation(of: "Shop.CartDelegate") {
      $0.target = screen
      $0.on("cartDidChange(_:)") { call in
        Trace.shared.add("before:\(call.argument(0, as: Cart.self)!.items.count)")
        call.proceed()
        Trace.shared.add("after")
      }
      $0.on("cart(_:shouldAdd:times:)") { call in
        call.setArgument(1, to: "changed " + call.argument(1, as: String.self)!)
        call.proceed()
        call.setResult(to: !call.result(as: Bool.self)!)
      }
      $0.on("name.get") { $0.setResult(to: name) }
      $0.on("name.set") { name = $0.argument(0, as: String.self)! }
      $0.on("maybe(_:)") { $0.setResult(to: Optional("handled")) }
    }
    let delegate = made.as((any CartDelegate).self)!
    let cart = Cart()
    cart.delegate = delegate
    check(try cart.add("x"), false, "a handler changes an argument and the target's result")
    check(Trace.shared.take(), "main:should:changed x", "the target saw the changed argument")
    delegate.cartDidChange(cart)
    check(Trace.shared.take(), "before:0 main:changed:0 after", "a handler around the target")
    Desk.rename(delegate)
    check(name, "own!", "in-place modification goes through the handlers of getter and setter")
    check(screen.name, "main", "and leaves the target alone")
    delegate.name = "a name that is longer than fifteen bytes"
    check(Desk.name(delegate), "a name that is longer than fifteen bytes", "a setter's argument is not lost")
    check(Desk.maybe(delegate, 0), "handled", "a handler in the target's place")
    check(Desk.describe(delegate), "screen main", "what has no handler is the target's")
  }
  check(Token.alive, tokens, "nothing is left of them, with handlers")
}

func withoutTarget() throws {
  nonisolated(unsafe) var seen = 0
  let made = try ProtocolImplementation(of: "Shop.CartDelegate") {
    $0.on("cart(_:shouldAdd:times:)") { $0.setResult(to: true) }
    $0.on("cartDidChange(_:)") { _ in seen += 1 }
    $0.on("name.get") { $0.setResult(to: "nobody") }
    $0.on("describe()") { $0.setResult(to: "described") }
    $0.on("many(_:_:_:_:_:_:_:_:)") { $0.setResult(to: [$0.argument(1, as: Double.self)!, Double($0.argument(7, as: [String].self)!.count)]) }
    $0.on("subscript(_:).get") { $0.setResult(to: 7) }
  }
  let delegate = made.as((any CartDelegate).self)!
  let cart = Cart()
  cart.delegate = delegate
  check(try cart.add("x"), true, "an object that is a delegate by handlers alone")
  check(cart.items, ["x"], "its answer counts")
  check(seen, 1, "its handlers run")
  check(Desk.many(delegate), [2.5, 2], "a handler with arguments on the stack")
  check(Desk.maybe(delegate, 1), nil, "nobody answers: nil")
  delegate.name = "lost and gone"
  check(Desk.name(delegate), "nobody", "nobody answers: nothing happens")
  Desk.rename(delegate)
  Desk.bump(delegate, 0)
  check(delegate[0], 7, "in-place modification through handlers")
  check(Desk.optional(delegate), "default of CartDelegateImplementation nobody", "a default implementation runs on the object")
}

func weakTargets() throws {
  let tokens = Token.alive
  var screen: Screen? = Screen("gone")
  let made = try ProtocolImplementation(of: "Shop.CartDelegate") {
    $0.target = screen
    $0.holdsTargetWeakly = true
  }
  let delegate = made.as((any CartDelegate).self)!
  check(Desk.describe(delegate), "screen gone", "a target that is held weakly")
  screen = nil
  check(Token.alive, tokens, "it is not kept alive")
  check(Desk.maybe(delegate, 1), nil, "without it: nil")
  check(Desk.describe(delegate), "", "without it: an empty text")
  delegate.name = "a name that nobody is there to keep"
  check(Desk.many(delegate), [], "without it: an empty array")
  do {
    _ = try delegate.cart(Cart(), shouldAdd: "x", times: 1)
    check(false, true, "without it: an error")
  } catch { check("\(error)".contains("was taken out"), true, "without it: an error") }
  _ = Trace.shared.take()
}

func refusals() {
  refused("no such protocol", "did you mean 'Shop.CartDelegate'?") { _ = try ProtocolImplementation(of: "Shop.CartDelegat") }
  refused("a protocol that values conform to", "values conform to it, too") { _ = try ProtocolImplementation(of: "Shop.Loose") }
  refused("associated types", "it has associated types") { _ = try ProtocolImplementation(of: "Shop.Holder") }
  refused("Self among the arguments", "its type depends on what conforms") { _ = try ProtocolImplementation(of: "Shop.Comparing") }
  refused("a static requirement", "it is a requirement of the type") { _ = try ProtocolImplementation(of: "Shop.Making") }
  refused("one conforming type, not public", "'Shop.OnlyInner' alone conforms to it") { _ = try ProtocolImplementation(of: "Shop.Inner") }
  refused("a requirement that is not there", "did you mean 'cartDidChange(_:)'?") {
    _ = try ProtocolImplementation(of: "Shop.CartDelegate") { $0.on("cartDidChang(_:)") { _ in } }
  }
  refused("a value that nobody would return", "'describe()' returns a value") {
    _ = try ProtocolImplementation(of: "Shop.CartDelegate") {
      for name in ["name.get", "many(_:_:_:_:_:_:_:_:)", "subscript(_:).get"] { $0.on(name) { _ in } }
    }
  }
  refused("a target that does not conform", "the target, a 'Shop.Cart', does not conform to it") {
    _ = try ProtocolImplementation(of: "Shop.CartDelegate") { $0.target = Cart() }
  }
  do {
    let made = try ProtocolImplementation(of: "Shop.Shared") { $0.on("shared(_:)") { $0.setResult(to: $0.argument(0, as: Int.self)! * 5) } }
    check(sharedTotal(made.object), 50, "an internal protocol with two conforming types")
    check(sharedTotal(nil), 23, "and these stay as they were")
  } catch { check("\(error)", "", "an internal protocol with two conforming types") }
}

for part in [forwarding, handlers, withoutTarget, weakTargets] { try part() }
refusals()
