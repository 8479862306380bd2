// A program whose carts a script makes of a class of its own.
import Shop

enum Factory {
  @inline(never) static func make(_ title: String) -> Cart { Cart(title: title) }
}

let rounds = Int(CommandLine.arguments.dropFirst().first ?? "") ?? 1000
do {
  let cart = Factory.make("first")
  print(type(of: cart), cart is BigCart, Till.title(cart))
  print(try Till.add(cart, "apple", 2), Till.total(cart))
  print(Till.large(cart), Till.kind(cart))
  do { _ = try Till.add(cart, "pear", -7) } catch { print("threw", error) }
  Till.rename(cart)
  print(Till.title(cart))
  let copy = cart.copied()
  print(type(of: copy), copy.title)
  var shown = ""
  dump(cart, to: &shown)
  print(shown.contains("▿ Shop.FastCart"), shown.contains("label: \"changed\"") || shown.contains("a label that"))
}
print(Trace.shared.take())
do {
  // Of a class whose handlers fail.
  let cart = Factory.make("bad")
  print(type(of: cart), Till.title(cart))
  for _ in 0..<3 { print(try Till.add(cart, "plum", 1), Till.total(cart)) }
  do { _ = try Till.add(cart, "plum", -1) } catch { print("threw", error) }
  print(Till.large(cart), Till.kind(cart), Till.first(cart))
}
print(Trace.shared.take())
for _ in 0..<rounds {
  let cart = Factory.make("round")
  _ = try Till.add(cart, "an item with a long name", 1)
  _ = Till.total(cart)
}
_ = Trace.shared.take()
print("alive", Token.alive)
