// Objects that conform to protocols at run time, and delegates that are watched, against the module Shop. Prints one line
// for each check: `ok` or `WRONG`.
import Glibc
import HookRuntime
import Shop

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


// MARK: Delegates that are watched

/// Writes down every call of the watched property's delegates.
func watching(_ property: String = "Shop.Cart.delegate", _ body: (DelegateWatch) throws -> Void) throws {
  let watch = try DelegateWatch(property) { call in
    Trace.shared.add("[\(call.requirement)\(call.isImplemented == false ? " default" : "")]")
  }
  try body(watch)
  check(watch.remove(), true, "a watch is removed")
  check(watch.remove(), false, "once")
}

/// G3: whoever is the delegate.
func plainDelegate() throws {
  try watching { watch in
    let cart = Cart()
    let screen = Screen("s")
    cart.delegate = screen
    check(cart.delegate === screen, true, "get after set returns the very object that was set")
    check(cart.holdsProxy(for: screen), true, "the owner itself sees the proxy")
    check(try cart.add("x"), true, "the delegate's answer counts")
    check(Trace.shared.take(), "[cart(_:shouldAdd:times:)] s:should:x [cartDidChange(_:)] s:changed:1", "recorded first, then forwarded")
    check((cart.delegate as AnyObject?) is Screen, true, "what is got is of the delegate's class")
    check(watch.proxies, 1, "one proxy")
    check(watch.explanation.contains("a proxy in the property"), true, "the explanation says how it is seen")
  }
}

/// G3: an object that is not the screen; another one that implements what is optional.
func otherDelegates() throws {
  try watching { _ in
    let cart = Cart()
    let panel = Panel()
    cart.delegate = panel
    check(try cart.add("x"), true, "a final class as delegate")
    check(Trace.shared.take(), "[cart(_:shouldAdd:times:)] [cartDidChange(_:)] panel:changed:1", "its calls are recorded")
    check(cart.delegate === panel, true, "and it is what is got")
    check(cart.isPanel(), false, "casts to the delegate's own class fail inside the module: the explanation says so")
  }
}

/// G3: a forwarding proxy that implements nothing itself.
func foreignForwarder() throws {
  try watching { _ in
    let cart = Cart()
    let screen = Screen("s")
    let forwarder = Forwarder(screen)
    cart.delegate = forwarder
    check(cart.delegate === forwarder, true, "a forwarding delegate is what is got")
    _ = try cart.add("x")
    check(
      Trace.shared.take(), "[cart(_:shouldAdd:times:)] s:should:x [cartDidChange(_:)] forward s:changed:1", "one event for each call of the owner")
  }
}

/// G3: set twice.
func setTwice() throws {
  try watching { watch in
    let cart = Cart()
    let screen = Screen("s")
    cart.delegate = screen
    cart.delegate = screen
    _ = try cart.add("x")
    check(Trace.shared.take(), "[cart(_:shouldAdd:times:)] s:should:x [cartDidChange(_:)] s:changed:1", "set twice: one event")
    check(watch.proxies, 1, "set twice: one proxy")
    // What the getter answers is set again: it is the object itself.
    cart.delegate = cart.delegate
    _ = try cart.add("x")
    check(Trace.shared.take(), "[cart(_:shouldAdd:times:)] s:should:x [cartDidChange(_:)] s:changed:2", "set to what it is: one event")
    let other = Screen("o")
    cart.delegate = other
    _ = try cart.add("x")
    check(Trace.shared.take(), "[cart(_:shouldAdd:times:)] o:should:x [cartDidChange(_:)] o:changed:3", "another delegate takes its place")
    check(cart.delegate === other, true, "and is what is got")
  }
}

/// G3: set to nil.
func setToNil() throws {
  try watching { watch in
    let cart = Cart()
    let screen = Screen("s")
    cart.delegate = screen
    cart.delegate = nil
    check(cart.delegate == nil, true, "set to nil: nil")
    check(try cart.add("x"), true, "set to nil: the owner does without")
    check(Trace.shared.take(), "", "set to nil: nothing is recorded")
    check(watch.proxies, 0, "set to nil: no proxy is kept")
  }
}

/// G3: replaced inside its own callback.
func replacedInCallback() throws {
  final class Replacing: Screen {
    var replacement: Screen?
    override func cartDidChange(_ cart: Cart) {
      super.cartDidChange(cart)
      cart.delegate = replacement
      Trace.shared.add("replaced")
    }
  }
  let tokens = Token.alive
  do {
    try watching { _ in
      let cart = Cart()
      var first: Replacing? = Replacing("first")
      let second = Screen("second")
      first!.replacement = second
      cart.delegate = first
      first = nil
      check(cart.delegate == nil, true, "a weak slot does not keep its delegate")
      let third = Replacing("third")
      third.replacement = second
      cart.delegate = third
      _ = try cart.add("x")
      _ = try cart.add("y")
      check(
        Trace.shared.take(),
        "[cart(_:shouldAdd:times:)] third:should:x [cartDidChange(_:)] third:changed:1 replaced "
          + "[cart(_:shouldAdd:times:)] second:should:y [cartDidChange(_:)] second:changed:2", "replaced inside its own callback")
      check(cart.delegate === second, true, "the replacement is what is got")
    }
  }
  check(Token.alive, tokens, "nothing is left of the replaced")
}

/// G4: the proxy points weakly at its target, and the slot is nil when it would be.
func weakProxy() throws {
  let tokens = Token.alive
  try watching { watch in
    let cart = Cart()
    do {
      let screen = Screen("s")
      cart.delegate = screen
      check(watch.proxies, 1, "a proxy while the delegate lives")
    }
    check(Token.alive, tokens + 1, "the proxy does not keep its target")
    check(cart.delegate == nil, true, "the delegate is gone: nil")
    check(try cart.add("x"), true, "the owner itself finds nil, too")
    check(Trace.shared.take(), "", "and calls nobody")
    check(watch.proxies, 0, "the proxy ended with its target")
    do {
      let other = Cart()
      let screen = Screen("s")
      other.delegate = screen
      check(watch.proxies, 1, "another owner's proxy")
      withExtendedLifetime(screen) {}
    }
    do {
      let screen = Screen("t")
      do {
        let other = Cart()
        other.delegate = screen
      }
      check(watch.proxies, 0, "a proxy ends with its owner")
    }
  }
  check(Token.alive, tokens, "nothing is left of them")
  _ = Trace.shared.take()
}

/// G4: optional requirements stay unimplemented if the target lacks them.
func optionalRequirements() throws {
  try watching { _ in
    let cart = Cart()
    let screen = Screen("s")
    cart.delegate = screen
    check(Desk.optional(Desk.asDelegate(cart.delegate!)!), "default of Screen s", "what the delegate leaves out is the default's")
    _ = Trace.shared.take()
    let read = ownerDelegate(cart)!
    check(Desk.optional(read), "default of Screen s", "through the proxy as well, with the delegate's own type")
    check(Trace.shared.take(), "[optional() default]", "and it is recorded as a default")
    let panel = Panel()
    cart.delegate = panel
    check(Desk.optional(ownerDelegate(cart)!), "own", "what the delegate has is its own")
    check(Trace.shared.take(), "[optional()]", "and recorded as such")
    check(cart.extra(), -1, "a protocol the delegate does not conform to, the proxy does not either")
    let extra = ExtraScreen("e")
    cart.delegate = extra
    check(cart.extra(), 21, "one that it conforms to, the proxy does, too")
  }
}
/// What code of the module finds in the property.
func ownerDelegate(_ cart: Cart) -> (any CartDelegate)? { Forwarder.find(cart) }

/// G4: nothing is wrapped twice.
func wrappedOnce() throws {
  try watching { watch in
    let cart = Cart()
    let screen = Screen("s")
    cart.delegate = screen
    let proxy = ownerDelegate(cart)!
    check(proxy !== screen, true, "the module sees the proxy")
    cart.delegate = proxy
    check(cart.delegate === screen, true, "a proxy that is set again is the delegate's")
    let other = Cart()
    other.delegate = proxy
    check(other.delegate === screen, true, "a proxy that is given to another owner stands for its target there")
    _ = Trace.shared.take()
    _ = try other.add("x")
    check(Trace.shared.take(), "[cart(_:shouldAdd:times:)] s:should:x [cartDidChange(_:)] s:changed:1", "and is wrapped once")
    let second = try DelegateWatch("Shop.Cart.delegate") { call in Trace.shared.add("<\(call.requirement)>") }
    _ = try cart.add("x")
    check(
      Trace.shared.take(),
      "[cart(_:shouldAdd:times:)] <cart(_:shouldAdd:times:)> s:should:x [cartDidChange(_:)] <cartDidChange(_:)> s:changed:1",
      "two watches share one proxy")
    second.remove()
    _ = try cart.add("x")
    check(Trace.shared.take(), "[cart(_:shouldAdd:times:)] s:should:x [cartDidChange(_:)] s:changed:2", "one goes, the other stays")
    withExtendedLifetime(watch) {}
  }
}

/// G4: another library's proxies, in both call orders.
func coexistence() throws {
  try watching { watch in
    let screen = Screen("s")
    // Ours first: theirs takes what the module sees, our proxy, and is put before it.
    let cart = Cart()
    cart.delegate = screen
    let theirs = Forwarder(nil)
    theirs.insert(before: cart)
    check(cart.delegate === theirs, true, "ours, then theirs: theirs is what is got")
    _ = try cart.add("x")
    // At -O the module writes the property past its setter: theirs is first then, and ours behind it.
    let expected =
      isOptimised
      ? "[cart(_:shouldAdd:times:)] s:should:x forward [cartDidChange(_:)] s:changed:1"
      : "[cart(_:shouldAdd:times:)] s:should:x [cartDidChange(_:)] forward s:changed:1"
    check(Trace.shared.take(), expected, "ours, then theirs: one event each")
    // Theirs first: ours is put before it.
    let other = Cart()
    let first = Forwarder(screen)
    other.delegate = first
    check(other.delegate === first, true, "theirs, then ours: theirs is what is got")
    _ = try other.add("x")
    check(
      Trace.shared.take(), "[cart(_:shouldAdd:times:)] s:should:x [cartDidChange(_:)] forward s:changed:1", "theirs, then ours: one event each")
    // Theirs reads from outside the module, as most do.
    let third = Cart()
    third.delegate = screen
    let outside = Forwarder(third.delegate)
    check(outside.next === screen, true, "theirs, from outside: it finds the delegate itself")
    third.delegate = outside
    _ = try third.add("x")
    check(Trace.shared.take(), "[cart(_:shouldAdd:times:)] s:should:x [cartDidChange(_:)] forward s:changed:1", "theirs, from outside: one event each")
    withExtendedLifetime(watch) {}
  }
}

/// G4: a cycle is found and not made.
func cycles() throws {
  try watching { watch in
    let cart = Cart()
    let theirs = Forwarder(nil)
    cart.delegate = theirs
    // Theirs forwards to our proxy, which stands before theirs.
    theirs.next = ownerDelegate(cart)
    check(theirs.next === theirs, false, "it is our proxy")
    cart.delegate = theirs
    check(watch.cycles, 1, "a proxy that would stand before itself is refused")
    check(cart.delegate === theirs, true, "the object is set as it is")
    theirs.next = nil
    _ = Trace.shared.take()
  }
}
/// G4: a set inside a set.
func reentrantSet() throws {
  try watching("Shop.Stubborn.delegate") { _ in
    let owner = Stubborn()
    let screen = Screen("s")
    let fallback = Screen("fallback")
    owner.fallback = fallback
    owner.delegate = screen
    owner.change(Cart())
    check(Trace.shared.take(), "[cartDidChange(_:)] s:changed:0", "before")
    owner.delegate = nil
    check(owner.delegate === fallback, true, "a set inside a set: the inner one counts")
    owner.change(Cart())
    check(Trace.shared.take(), "[cartDidChange(_:)] fallback:changed:0", "and is recorded, though it went past the setter")
    owner.isDirect = false
    owner.delegate = screen
    owner.delegate = nil
    check(owner.delegate === fallback, true, "a set inside a set, by a method: the inner one counts")
    owner.change(Cart())
    check(Trace.shared.take(), "[cartDidChange(_:)] fallback:changed:0", "and is recorded")
  }
}

/// A slot that keeps its delegate.
func strongSlot() throws {
  let tokens = Token.alive
  try watching("Shop.Keeper.delegate") { watch in
    let keeper = Keeper(Screen("first"))
    let cart = Cart()
    keeper.delegate = Screen("kept")
    check(Trace.shared.take(), "[name.get] kept:kept", "observers run, and see the proxy")
    keeper.change(cart)
    check(Trace.shared.take(), "[cartDidChange(_:)] kept:changed:0", "a strong slot keeps its delegate through the proxy")
    check((keeper.delegate as AnyObject) is Screen, true, "and gives it back")
    withExtendedLifetime(watch) {}
  }
  check(Token.alive, tokens, "nothing is left of them, strongly held")
  _ = Trace.shared.take()
}

/// G4: a dangling unowned slot is not hidden: no proxy, hooks on the delegates' methods.
func unownedSlot() throws {
  let watch = try DelegateWatch("Shop.Loose_.delegate") { call in Trace.shared.add("[\(call.requirement)]") }
  check(watch.explanation.contains("no proxy: it holds its values unowned"), true, "an unowned slot gets no proxy")
  let screen = Screen("s")
  let owner = Loose_(screen)
  check(owner.delegate === screen, true, "its value is the object")
  owner.change(Cart())
  check(Trace.shared.take(), "[cartDidChange(_:)] s:changed:0", "hooks on the delegates' methods do the job")
  let forwarder = Forwarder(screen)
  owner.delegate = forwarder
  owner.change(Cart())
  check(Trace.shared.take(), "[cartDidChange(_:)] forward s:changed:0", "a delegate that forwards the call is one event")
  watch.remove()
  owner.change(Cart())
  check(Trace.shared.take(), "forward s:changed:0", "removed: nothing is recorded")
}

/// Delegates that were there before, and removal while proxies stand.
func adoptAndRemove() throws {
  let cart = Cart()
  let screen = Screen("s")
  cart.delegate = screen
  let watch = try DelegateWatch("Shop.Cart.delegate") { call in Trace.shared.add("[\(call.requirement)]") }
  _ = try cart.add("x")
  check(Trace.shared.take(), "s:should:x s:changed:1", "a delegate from before is not seen")
  check(watch.adopt(cart), true, "until it is adopted")
  check(cart.delegate === screen, true, "and is what is got")
  _ = try cart.add("x")
  check(Trace.shared.take(), "[cart(_:shouldAdd:times:)] s:should:x [cartDidChange(_:)] s:changed:2", "then it is")
  watch.remove()
  check(cart.holdsProxy(for: screen), false, "removal gives the slot its delegate back")
  _ = try cart.add("x")
  check(Trace.shared.take(), "s:should:x s:changed:3", "and nothing is recorded")
}

func delegateRefusals() {
  refused("no such property", "'Shop.Cart' has no property 'delegat' that is set by a setter; did you mean 'delegate'?") { _ = try DelegateWatch("Shop.Cart.delegat") { _ in } }
  refused("a property that holds no protocol", "which is no protocol of classes") { _ = try DelegateWatch("Shop.Screen.name") { _ in } }
}

/// Set, call, let go, many times; on four threads at once.
func soak(_ rounds: Int) throws {
  let tokens = Token.alive
  let watch = try DelegateWatch("Shop.Cart.delegate") { _ in }
  @Sendable func round() {
    let cart = Cart()
    let screen = Screen("soak")
    _ = Trace.shared.take()
    cart.delegate = screen
    _ = try? cart.add("an item with a long name")
    Desk.rename(screen)
    cart.delegate = nil
    cart.delegate = Panel()
    _ = try? cart.add("another item with a long name")
    let made = try? ProtocolImplementation(of: "Shop.CartDelegate") {
      $0.target = screen
      $0.on("name.get") { $0.setResult(to: "a name that is longer than fifteen bytes") }
    }
    if let delegate = made?.as((any CartDelegate).self) {
      cart.delegate = delegate
      _ = try? cart.add("a third item with a long name")
      Desk.rename(delegate)
    }
  }
  func run(_ count: Int) {
    var threads = [pthread_t](repeating: 0, count: 4)
    nonisolated(unsafe) let each = count / 4
    final class Work { let body: () -> Void; init(_ body: @escaping () -> Void) { self.body = body } }
    for index in threads.indices {
      let work = Unmanaged.passRetained(Work { for _ in 0..<each { round() } }).toOpaque()
      pthread_create(&threads[index], nil, { Unmanaged<Work>.fromOpaque($0!).takeRetainedValue().body(); return nil }, work)
    }
    for thread in threads { pthread_join(thread, nil) }
    _ = Trace.shared.take()
  }
  run(rounds / 5)
  let start = resident()
  run(rounds)
  check(Token.alive, tokens, "\(rounds) rounds on four threads leave no object")
  check(watch.proxies, 0, "and no proxy")
  let grown = resident() - start
  check(grown < 2048, true, "memory is flat: \(grown) KB grown")
  watch.remove()
}

for part in [forwarding, handlers, withoutTarget, weakTargets] { try part() }
refusals()
for part in [
  plainDelegate, otherDelegates, foreignForwarder, setTwice, setToNil, replacedInCallback, weakProxy, optionalRequirements, wrappedOnce,
  coexistence, cycles, reentrantSet, strongSlot, unownedSlot, adoptAndRemove,
] { try part() }
delegateRefusals()
try soak(Int(CommandLine.arguments.dropFirst().first ?? "") ?? 20000)
