// Classes made at run time, against the module Shop. Prints one line for each check: `ok` or `WRONG`.
import Glibc
import HookRuntime
import Shop

// MARK: One class with everything

let fast = try DefinedClass("Shop.FastCart", inheriting: Cart.self) { type in
  type.property("visits", 0)
  type.property("name", "a text that does not fit into two words")
  type.property("held", Optional<Token>.none)
  type.override("total(tax:)") { call in
    call.proceed()
    call.setResult(to: call.result(as: Double.self)! + call.argument(0, as: Double.self)!)
  }
  type.override("add(_:times:)") { call in
    if call.argument(1, as: Int.self) == 3 { call.setArgument(1, to: 1) }
    call.proceed()
  }
  type.override("opened()") { call in
    call.proceed()
    Trace.shared.add("opened:\(fastValue(call.object!, "visits") as Int? ?? -1)")
  }
  type.override("large(_:_:_:_:)") { call in
    call.proceed()
    call.setResult(to: call.result(as: [String].self)! + ["fast"])
  }
  type.override("static kind()") { $0.setResult(to: "fast") }
  type.method("discount(for:_:)") { (cart: AnyObject, who: String, percent: Int) throws -> Double in
    if percent > 100 { throw ShopError(code: percent) }
    return Till.total(cart as! Cart) * Double(percent) / 100
  }
  type.method("reset()") { (cart: AnyObject) in Trace.shared.add("reset") }
  type.deinit { cart in Trace.shared.add("deinit:\((cart as! Cart).title)") }
}
nonisolated(unsafe) var fastClass: DefinedClass?
func fastValue<T>(_ object: AnyObject, _ name: String) -> T? { fastClass?.value(name, of: object) }
fastClass = fast

func make(_ title: String = "mine") throws -> Cart { try fast.make("init(title:)", title) }

func identity() throws {
  let cart = try make()
  check(_typeName(type(of: cart), qualified: true), "Shop.FastCart", "its printed name")
  check("\(type(of: cart))", "FastCart", "its short name")
  check(_typeByName("4Shop8FastCartC") == type(of: cart), true, "the runtime finds it by its name")
  check(type(of: cart) == fast.type, true, "the type of an instance")
  let any: Any = cart
  check(any is Cart, true, "an instance is of the superclass")
  check(any is BigCart, false, "an instance is of no sibling")
  check(Till.isBig(cart), false, "the same for the program")
  check((any as? Cart) === cart, true, "a cast answers the object")
  check(any as? BigCart == nil, true, "a cast to a sibling fails")
  check(_mangledTypeName(fast.type), "4Shop8FastCartC", "its mangled name")
  let plain: Any = Cart(title: "plain")
  check(Swift.type(of: plain) == fast.type, false, "an instance of the superclass is none of the new class")
  var text = ""
  dump(cart, to: &text)
  check(text.contains("▿ Shop.FastCart"), true, "dump shows the class")
  check(text.contains("- title: \"mine\""), true, "dump shows the superclass's properties")
  let mirror = Mirror(reflecting: cart)
  check(mirror.children.map { $0.label! }, ["visits", "name", "held"], "a mirror shows the added properties")
  check(mirror.children.map { "\($0.value)" }, ["0", "a text that does not fit into two words", "nil"], "and what they hold")
  check(mirror.superclassMirror?.subjectType == Cart.self, true, "and the superclass's mirror")
}

func calls() throws {
  let cart = try make()
  check(Trace.shared.take().hasPrefix("opened:"), true, "an override runs inside the superclass's initialiser")
  check(try Till.add(cart, "x", 2), 2, "an inherited call with its result")
  check(Till.total(cart), 6, "a call from compiled code: the superclass's result and an argument")
  check(cart.total(tax: 1), 3, "a call from another module")
  check(try Till.add(cart, "y", 3), 3, "an argument that the override changes")
  check(Till.large(cart), ["1 2.5 three (4, 5, 6, 7, 8)", "fast"], "stack arguments and an array result")
  check(Till.kind(cart), "fast", "a class method")
  check(Till.kind(Cart(title: "p")), "plain", "a class method of the superclass stays")
  check(Till.first(cart), "x", "an inherited subscript")
  check(Till.total(Cart(title: "p")), 0, "the superclass stays as it was")
  check(Till.total(BigCart(title: "p")), 10, "and so do its other subclasses")
  do {
    _ = try Till.add(cart, "z", -5)
    check(false, true, "an error passes through")
  } catch { check(error as? ShopError, ShopError(code: -5), "an error passes through") }
  let total = try SwiftFunction("Shop.Cart.total(tax:)")
  check(try total.call(on: cart, 2.0) as Double, 8, "a call by name runs the override")
  let add = try SwiftFunction("Shop.Cart.add(_:times:)")
  check(try add.call(on: cart, "w", 1) as Int, 4, "a throwing call by name")
}

func addedMethods() throws {
  let cart = try make()
  _ = try cart.add("x", times: 1)
  let discount = try SwiftFunction("Shop.FastCart.discount(for:_:)")
  check(try discount.call(on: cart, "me", 50) as Double, 2, "an added method by name")
  do {
    _ = try discount.call(on: cart, "me", 101) as Double
    check(false, true, "an added method throws")
  } catch { check(error as? ShopError, ShopError(code: 101), "an added method throws") }
  try SwiftFunction("Shop.FastCart.reset()").call(on: cart)
  check(Trace.shared.take().hasSuffix("reset"), true, "an added method without result")
  do {
    _ = try discount.call(on: Cart(title: "p"), "me", 1) as Double
    check(false, true, "an added method on another object is refused")
  } catch { check("\(error)", "self of 'Shop.FastCart.discount(for:_:)': expected Shop.FastCart, got Shop.Cart", "an added method on another object is refused") }
}

func state() throws {
  let before = Token.alive
  do {
    let cart = try make()
    let other = try make("other")
    check(fast.value("visits", of: cart), 0, "a property's first value")
    fast.set("visits", of: cart, to: 7)
    fast.set("name", of: cart, to: "another text that is rather long, too")
    fast.set("held", of: cart, to: Optional(Token()))
    check(fast.value("visits", of: cart), 7, "a changed property")
    check(fast.value("name", of: cart), "another text that is rather long, too", "a changed text")
    check(fast.value("visits", of: other), 0, "properties are each object's own")
    check(fast.value("visits", of: Cart(title: "p"), as: Int.self), nil, "other objects have none")
    check(fast.value("visits", of: cart, as: String.self), nil, "nor is one of another type")
    check(Token.alive, before + 3, "the added properties hold what they were given")
    _ = Trace.shared.take()
  }
  check(Token.alive, before, "all properties end with their objects")
  let ended = Trace.shared.take()
  check(ended == "deinit:other end deinit:mine end" || ended == "deinit:mine end deinit:other end", true, "its deinit runs before the superclass's, once: \(ended)")
}

func initialisers() throws {
  let before = Token.alive
  do {
    let counted: Cart = try fast.make("init(count:)", 4)
    check(counted.title, "cart of 4", "a convenience initialiser")
    check(type(of: counted) == fast.type, true, "it makes instances of the new class")
    let failing: Cart = try fast.make("init(failing:)", 0)
    check(type(of: failing) == fast.type, true, "a throwing initialiser")
    do {
      _ = try fast.make("init(failing:)", 3) as Cart
      check(false, true, "an initialiser throws")
    } catch { check(error as? ShopError, ShopError(code: 3), "an initialiser throws") }
    let original = try make("first")
    fast.set("visits", of: original, to: 5)
    let copy = original.copied()
    check(type(of: copy) == fast.type, true, "a required initialiser called through the metatype")
    check(fast.value("visits", of: copy), 0, "its properties have their first values")
    check(copy.title, "copy of first", "and the superclass did its part")
  }
  check(Token.alive, before, "nothing is left of them")
  refused("an unknown initialiser", "no selector") { _ = try fast.make("init(nothing:)", 1) as Cart }
  refused("a wrong argument", "expected Swift.String") { _ = try fast.make("init(title:)", 1) as Cart }
}

func accessors() throws {
  let type = try DefinedClass("Shop.LoudCart", inheriting: Cart.self) { type in
    type.override("title.get") { call in
      call.proceed()
      call.setResult(to: call.result(as: String.self)!.uppercased())
    }
    type.override("note.set") { call in
      call.setArgument(0, to: "<" + call.argument(0, as: String.self)! + ">")
      call.proceed()
    }
    type.override("subscript(_:).get") { call in call.setResult(to: "item") }
  }
  let cart: Cart = try type.make("init(title:)", "quiet")
  check(Till.title(cart), "QUIET", "a getter")
  Till.rename(cart)
  check(Till.title(cart), "QUIET!", "in-place modification goes through the overridden getter")
  check(cart.title, "QUIET!", "and is stored")
  _ = Trace.shared.take()
  Till.setNote(cart, "x")
  check(cart.note, "<x>", "a setter")
  check(Trace.shared.take(), "note:-->\u{3c}x>", "observers of the superclass run")
  cart.note += "y"
  check(cart.note, "<<x>y>", "in-place modification goes through the overridden setter")
  check(Till.first(cart), "item", "a subscript")
}

func subclasses() throws {
  let faster = try DefinedClass("Shop.FasterCart", inheriting: fast.type) { type in
    type.property("laps", 1)
    type.override("total(tax:)") { call in
      call.proceed()
      call.setResult(to: call.result(as: Double.self)! * 10)
    }
    type.deinit { _ in Trace.shared.add("faster") }
  }
  do {
    let cart: Cart = try faster.make("init(title:)", "x")
    check(Till.total(cart), 20, "a subclass of a new class: its super is the new class's")
    check(Till.kind(cart), "fast", "it inherits the new class's overrides")
    check(faster.value("laps", of: cart), 1, "it has its own properties")
    check(fast.value("visits", of: cart), 0, "and those it inherits")
    check((cart as AnyObject) is Cart, true, "it is of the first superclass")
    let discount = try SwiftFunction("Shop.FastCart.discount(for:_:)")
    check(try discount.call(on: cart, "me", 50) as Double, 10, "and has the added methods")
    _ = Trace.shared.take()
  }
  check(Trace.shared.take(), "faster deinit:x end", "each deinit runs once, outwards")
}

func refusals() {
  refused("a name that is none", "is no name for a type") { _ = try DefinedClass("Fast Cart", inheriting: Cart.self) }
  refused("a name of the program's", "exists already") { _ = try DefinedClass("Shop.Cart", inheriting: Cart.self) }
  refused("a name of ours", "exists already") { _ = try DefinedClass("Shop.FastCart", inheriting: Cart.self) }
  refused("an actor", "it is an actor") { _ = try DefinedClass("Shop.FastCounter", inheriting: Counter.self) }
  refused("a final method", "no place in the class's virtual table") {
    _ = try DefinedClass("Shop.A", inheriting: Cart.self) { $0.override("sealed()") { _ in } }
  }
  refused("a method that is not there", "no selector 'totl(tax:)'") {
    _ = try DefinedClass("Shop.A", inheriting: Cart.self) { $0.override("totl(tax:)") { _ in } }
  }
  refused("a deinit", "give the class one of its own") {
    _ = try DefinedClass("Shop.A", inheriting: Cart.self) { $0.override("deinit") { _ in } }
  }
  for missing in [false, true] {
    refused("an async method", "cannot override 'ordered()' of 'Shop.Cart': it is async") {
      _ = try DefinedClass("Shop.A", inheriting: Cart.self) { $0.override("ordered()", missingDirectCalls: missing) { $0.setResult(to: 1) } }
    }
  }
  refused("a property twice", "the class has one of this name") {
    _ = try DefinedClass("Shop.A", inheriting: Cart.self) { $0.property("title", 1) }
  }
  refused("a method that exists", "is inherited; override it") {
    _ = try DefinedClass("Shop.A", inheriting: Cart.self) { $0.method("total(tax:)") { (_: AnyObject, _: Double) in 0.0 } }
  }
  if isOptimised {
    refused("a method of a class that only its module knows", "1 direct call of it would not see the override, in 'Shop.useSealed()'") {
      _ = try DefinedClass("Shop.S", inheriting: sealedType()) { $0.override("count()") { $0.setResult(to: 2) } }
    }
    refused("a method that is called directly", "1 direct call of it would not see the override, in 'Shop.useHalf(_:)'") {
      _ = try DefinedClass("Shop.H", inheriting: Half.self) { $0.override("count()") { $0.setResult(to: 2) } }
    }
  } else {
    do {
      let sealed = try DefinedClass("Shop.S", inheriting: sealedType()) { $0.override("count()") { $0.setResult(to: 2) } }
      let half = try DefinedClass("Shop.H", inheriting: Half.self) { $0.override("count()") { $0.setResult(to: 2) } }
      check(useHalf(try half.make("init()") as Half), 2, "a class that is not open, without optimisation")
      check(sealed.name, "Shop.S", "an internal class, without optimisation")
    } catch { check("\(error)", "", "classes that are not open, without optimisation") }
  }
  do {
    let missing = try DefinedClass("Shop.M", inheriting: Half.self) {
      $0.override("count()", missingDirectCalls: true) { $0.setResult(to: 2) }
    }
    let object: Half = try missing.make("init()")
    check(object.count(), 2, "asked for in spite of direct calls: virtual ones see it")
    check(useHalf(object), isOptimised ? 1 : 2, "and direct ones do not")
  } catch { check("\(error)", "", "an override that may miss calls") }
  check(_typeByName("4Shop1AC") == nil, true, "a class that was refused is not registered")
}

/// Objects, methods and errors, many times: what is alive and resident stays the same.
func soak(_ rounds: Int) throws {
  func round() throws {
    let cart = try make("soak")
    fast.set("held", of: cart, to: Optional(Token()))
    fast.set("name", of: cart, to: "a text that is as long as the other one")
    _ = try Till.add(cart, "an item with a rather long name", 3)
    _ = Till.total(cart) + Double(Till.large(cart).count)
    _ = try? fast.make("init(failing:)", 1) as Cart
    _ = cart.copied()
    _ = Trace.shared.take()
  }
  let before = Token.alive
  for _ in 0..<rounds / 10 { try round() }
  let start = resident()
  for _ in 0..<rounds { try round() }
  check(Token.alive, before, "\(rounds) rounds leave no object")
  let grown = resident() - start
  check(grown < 1024, true, "memory is flat: \(grown) KB grown")
}

for part in [identity, calls, addedMethods, state, initialisers, accessors, subclasses] { try part() }
refusals()
try soak(Int(CommandLine.arguments.dropFirst().first ?? "") ?? 20000)
