// Messages: members called by name, and who answers when there is no member.
import Checks
import HookRuntime
import HookSubjects

private func refusal(_ body: () throws -> Void) -> String {
  do {
    try body()
    return "no error"
  } catch { return "\(error)" }
}

private final class Warehouse {
  nonisolated(unsafe) static var log: [String] = []  // the cases run on one thread
  static func take() -> [String] {
    defer { log = [] }
    return log
  }
}

/// Knows what to do with messages it has no member for.
class Robot: MessageForwarding {
  let helper: Cart?
  init(helper: Cart? = nil) { self.helper = helper }
  @inline(never) func walk(_ steps: Int) -> String { "walked \(steps + (helper?.lines.count ?? 0))" }
  func forwardingTarget(for selector: String) -> Any? { selector.hasPrefix("add(") ? helper : nil }
  @inline(never) func forward(_ message: Message) throws -> Message.Reply {
    message.selector.hasPrefix("robot") ? .answered("own \(message.selector) \(message.arguments.map { $0 ?? "nil" })") : .passedOn
  }
  static func forward(_ message: Message) throws -> Message.Reply {
    message.selector == "count()" ? .answered(7) : .passedOn
  }
}
final class Android: Robot {}

@MainActor let messageCases: [(String, () throws -> Void)] = [
  (
    "messages: calls read like calls",
    {
      let cart = Cart(title: "c")
      let c = Dynamic(cart)
      try c.add("a name that lives on the heap", price: 2.5, quantity: 2)
      check(cart.lines, [Line(name: "a name that lives on the heap", price: 2.5, quantity: 2)], "called")
      check(try c.total(tax: 1.0), 10.0, "a typed result")
      let total = try c.total(tax: 0.0) as Double
      check(total, 5.0, "as")
      c.title = "y"
      check(cart.title, "y", "assigned")
      let title: String = try c.title()
      check(title, "y", "read")
      try c.title("by a call")
      check(cart.title, "by a call", "set by a call")
      check(try c.title.count(), 9, "a property's property")
      let merged = try c.merge(Dynamic(cart))
      check(try merged.total(tax: 0.0), 10.0, "what comes back is called in turn")
      check(try merged() as Cart === cart, true, "the very object")
      check(try c.checkout(), "by a call: 2 lines", "throws nothing")
    }
  ),
  (
    "messages: types make objects and have static members",
    {
      let alive = Cart.alive
      do {
        let type = try Dynamic(type: "\(module).Cart")
        let made: Cart = try type(title: "made")
        check(made.title, "made", "an initialiser")
        check((try type.make(3) as Cart).lines.count, 3, "a static method")
        check(try Dynamic(FastCart.self).make(1).lines.count(), 1, "inherited")
        check(
          refusal { _ = try Dynamic(type: "\(module).Carp") }, "no type '\(module).Carp' in this program; did you mean '\(module).Cart'?",
          "no type")
      }
      check(Cart.alive, alive, "nothing is left")
    }
  ),
  (
    "messages: values answer, too",
    {
      let line = Dynamic(Line(name: "apple", price: 2, quantity: 3))
      check(try line.cost(tax: 1.0), 12.0, "a method")
      check(try line.name(), "apple", "a field")
      check(try line.quantity() as Int, 3, "another")
      check(refusal { try line.weight() }, "no selector 'weight()' in \(module).Line", "none")
    }
  ),
  (
    "messages: arguments are checked, and numbers fit exactly or not at all",
    {
      let c = Dynamic(Cart(title: "c"))
      try c.add("x", price: 2, quantity: 3.0)
      check(try c.total(tax: 0), 6.0, "an Int for a Double, and the other way")
      check(
        refusal { try c.add("x", price: 2, quantity: 2.5) },
        "argument 3 'quantity' of '\(module).Cart.add(_:price:quantity:)': expected Swift.Int, got 2.5, which is no Swift.Int", "a fraction"
      )
      check(
        refusal { try c.add(1, price: 2, quantity: 2) },
        "argument 1 of '\(module).Cart.add(_:price:quantity:)': expected Swift.String, got Swift.Int", "type")
      check(
        refusal { try c.add("x", price: nil, quantity: 2) },
        "argument 2 'price' of '\(module).Cart.add(_:price:quantity:)': expected Swift.Double, got nil", "nil")
      check(
        refusal { let _: Int = try c.total(tax: 0) },
        "'total(tax:)' returns Swift.Double, asked for Swift.Int".replacing("'total(tax:)'", with: "'total'"), "result")
      check(
        refusal { try c.add("x", cost: 2, quantity: 2) },
        "no selector 'add(_:cost:quantity:)' in \(module).Cart; did you mean 'add(_:price:quantity:)'?", "labels")
      try c.add("y", 1, 1)
      check(try c.lines.count(), 2, "without labels, where the name is enough")
      let other: Line? = nil
      check(
        try c.first(where: { (line: Line) -> Bool in line.name == "y" }, or: other) as Line?, Line(name: "y", price: 1, quantity: 1),
        "a closure and an Optional")
      check(try c.first(where: { (line: Line) -> Bool in false }, or: nil) as Line?, nil, "nil both ways")
    }
  ),
  (
    "messages: what a function throws comes back",
    {
      let c = Dynamic(Cart(title: "c"))
      do {
        try c.checkout()
        check(true, false, "it threw")
      } catch { check(error as? ShopError, .empty, "the error") }
      check(refusal { try c.load("u") }.contains("is async"), true, "async is refused")
    }
  ),
  (
    "messages: by selector",
    {
      let cart = Cart(title: "c")
      try Message.send("add(_:price:quantity:)", to: cart, "x", 2, 1)
      check(try Message.send("total(tax:)", to: cart, 0.5) as Double, 3, "a result")
      check(try Message.send("title.get", to: cart) as? String, "c", "a getter")
      try Message.send("title.set", to: cart, "new")
      check(cart.title, "new", "a setter")
      check((try Message.send("make(_:)", to: Cart.self, 2) as? Cart)?.lines.count, 2, "a static one")
      check((try Message.send("init(title:)", to: Cart.self, "t") as? Cart)?.title, "t", "an initialiser")
      check(try Message.send("first(where:or:)", to: cart, { (_: Line) -> Bool in false }, nil) == nil, true, "an empty Optional is nil")
      var text = "with"
      try withUnsafeMutablePointer(to: &text) { _ = try Message.send("swapTitle(with:)", to: cart, $0) }
      check([text, cart.title], ["new", "with"], "inout")
    }
  ),
  (
    "messages: answers are added for a class, a subclass and one object",
    {
      let cart = Cart(title: "c")
      let fast = FastCart(title: "f")
      check(
        refusal { try Dynamic(cart).discount(for: 3) }, "no selector 'discount(for:)' in \(module).Cart", "unknown before")
      let forAll = Messages(Cart.self).answer("discount(for:)") { (cart: Cart, days: Double) -> String in "\(cart.title) \(days)" }
      check(try Dynamic(cart).discount(for: 3), "c 3.0", "the class")
      check(try Dynamic(fast).discount(for: 3), "f 3.0", "inherited")
      let forFast = Messages(FastCart.self).answer("discount(for:)") { (_, days: Int) in "fast \(days)" }
      check(try Dynamic(fast).discount(for: 3), "fast 3", "the subclass's")
      let forOne = Messages(fast).answer("discount(for:)") { (_, days: Int) in "this one \(days)" }
      check(try Dynamic(fast).discount(for: 3), "this one 3", "the object's")
      check(try Dynamic(FastCart(title: "g")).discount(for: 3), "fast 3", "another object's")
      check(
        refusal { try Dynamic(fast).discount(for: "x") }, "argument 1 'for' of 'discount(for:)': expected Swift.Int, got Swift.String",
        "checked")
      let hides = Messages(Cart.self).answer("total(tax:)") { (_, _: Double) in -1.0 }
      check(try Dynamic(cart).total(tax: 0), 0.0, "a member comes first")
      let side = Messages(static: Cart.self).answer("count()") { (_: Any) in 42 }
      check(try Dynamic(Cart.self).count(), 42, "the class side")
      check(refusal { try Dynamic(cart).count() }, "no selector 'count()' in \(module).Cart", "is another side")
      for handler in [forAll, forFast, forOne, hides, side] { check(handler.remove(), true, "removed") }
      check(forAll.remove(), false, "twice")
      check(refusal { try Dynamic(fast).discount(for: 3) }.contains("no selector"), true, "unknown again")
    }
  ),
  (
    "messages: a new object at an old address inherits nothing",
    {
      let handler: MessageHandler
      do {
        let cart = Cart(title: "first")
        handler = Messages(cart).answer("hello()") { (cart: Cart) in cart.title }
        check(try Dynamic(cart).hello(), "first", "answers")
      }
      for _ in 0..<100 { check(refusal { try Dynamic(Cart(title: "next")).hello() }.contains("no selector"), true, "nothing") }
      handler.remove()
    }
  ),
  (
    "messages: resolve, then a target, then whole messages, then unknown",
    {
      let cart = Cart(title: "c")
      let robot = Robot(helper: cart)
      let r = Dynamic(robot)
      check(try r.walk(2), robot.walk(2), "a member")
      try r.add("apple", price: 1, quantity: 1)
      check(cart.lines.map(\.name), ["apple"], "its own target")
      check(try r.robotic(3), "own robotic(_:) [3]", "its own forwarding")
      check(try Dynamic(Robot.self).count(), 7, "its class's own")
      check(refusal { try r.fly() }, "no selector 'fly()' in hook_cases.Robot", "unknown")
      // What is added comes first, and leaves the rest to the class.
      let target = Messages(Robot.self).forward { (_, selector) -> Any? in selector.hasPrefix("total(") ? filled : nil }
      let whole = Messages(Robot.self).forward { (_, message) -> Message.Reply in
        message.selector == "fly(to:)" ? .answered("flew to \(message.arguments[0]!)") : .passedOn
      }
      check(try r.total(tax: 0), 6.0, "an added target")
      check(try r.fly(to: "there"), "flew to there", "added forwarding")
      check(try Dynamic(Android()).fly(to: "there"), "flew to there", "of a subclass")
      check(try r.robotic(4), "own robotic(_:) [4]", "the class's own survives")
      try r.add("pear", price: 1, quantity: 1)
      check(cart.lines.count, 2, "its own target survives")
      let answer = Messages(Robot.self).answer("robotic(_:)") { (_, n: Int) in "answered \(n)" }
      check(try r.robotic(5), "answered 5", "an answer comes before forwarding")
      for handler in [target, whole, answer] { handler.remove() }
      check(try r.robotic(6), "own robotic(_:) [6]", "and is gone")
    }
  ),
  (
    "messages: a class's own fallback survives hooking",
    {
      let r = Dynamic(Robot())
      let hook = try Hooks(Robot.self).around("forward(_:)") { (call, message: Message) -> Message.Reply in
        if message.selector == "jump()" { return .answered("hooked") }
        return try call.original()
      }
      check(try r.robotic(1), "own robotic(_:) [1]", "its own")
      check(try r.jump() as String, "hooked", "the hook's")
      hook.remove()
      check(try r.robotic(2), "own robotic(_:) [2]", "as before")
      check(refusal { try r.jump() }.contains("no selector"), true, "gone")
    }
  ),
  (
    "messages: what nobody answers is told, or harmless",
    {
      let c = Dynamic(Cart(title: "c"))
      nonisolated(unsafe) var told: [String] = []
      Messages.onUnknown { message, error in
        told.append("\(type(of: message.receiver)) \(message.selector)")
        return message.selector == "answer()" ? .value(42) : .neutral
      }
      check(try c.number() as Int, 0, "a number")
      check(try c.text() as String, "", "a text")
      check(try c.flag() as Bool, false, "a Bool")
      check(try c.list() as [Int], [], "an array")
      check(try c.table() as [String: Int], [:], "a dictionary")
      check(try c.maybe() as Line?, nil, "an Optional")
      try c.nothing()
      check(
        refusal { let _: Line = try c.line() }, "'line' returns a type with a neutral value, asked for \(module).Line", "no neutral value")
      check(told.count, 8, "told")
      check(told.first, "Cart number()", "type and selector")
      Messages.onUnknown(nil)
      check(refusal { try c.number() }.contains("no selector"), true, "an error again")
    }
  ),
  (
    "messages: proxies answer nothing themselves",
    {
      let cart = Cart(title: "c")
      let spy = MessageProxy(to: cart) { Warehouse.log.append("\($0.selector) \($0.arguments.count)") }
      let s = Dynamic(spy)
      try s.add("apple", price: 2, quantity: 1)
      s.title = "through the proxy"
      check(try s.total(tax: 0), 2.0, "answered by the target")
      check(cart.title, "through the proxy", "assigned there")
      check(Warehouse.take(), ["add(_:price:quantity:) 3", "title.set 1", "total(tax:) 1"], "recorded first")
      check(refusal { try s.fly() }, "no selector 'fly()' in \(module).Cart", "unknown to the target")
      _ = Warehouse.take()
      let proxyOfProxy = MessageProxy(to: spy)
      check(try Dynamic(proxyOfProxy).title(), "through the proxy", "a proxy of a proxy")
      let weak: MessageProxy
      do { weak = MessageProxy(to: Cart(title: "short-lived"), keepsTarget: false) }
      check(weak.target == nil, true, "not kept alive")
      check(refusal { try Dynamic(weak).title() }.contains("no selector 'title()' in HookRuntime.MessageProxy"), true, "gone")
    }
  ),
  (
    "messages: circles are told",
    {
      let (a, b) = (Robot(), Robot())
      nonisolated(unsafe) let (to, back) = (b, a)
      let handlers = [Messages(a).forward { _, _ in to }, Messages(b).forward { _, _ in back }]
      check(refusal { try Dynamic(a).spin() }, "'spin()' is forwarded in circles, by hook_cases.Robot, then hook_cases.Robot", "circle")
      for handler in handlers { handler.remove() }
    }
  ),
  (
    "messages: an assignment that fails is told, and changes nothing",
    {
      nonisolated(unsafe) var told: [String] = []
      Messages.onFailedAssignment { told.append("\($0): \($1)") }
      let cart = Cart(title: "c")
      Dynamic(cart).title = 7
      Dynamic(cart).size = 7
      check(cart.title, "c", "unchanged")
      check(
        told,
        [
          "title: argument 1 'newValue' of '\(module).Cart.title.set': expected Swift.String, got Swift.Int",
          "size: no selector 'size.set' in \(module).Cart",
        ], "told")
      Messages.onFailedAssignment(nil)
    }
  ),
]

/// Six in it.
private nonisolated(unsafe) let filled: Cart = {
  let cart = Cart(title: "filled")
  cart.add("apple", price: 2, quantity: 3)
  return cart
}()
