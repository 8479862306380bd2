// A program whose delegates a script makes, and watches.
import Shop

let rounds = Int(CommandLine.arguments.dropFirst().first ?? "") ?? 1000
do {
  let screen = Screen("main")
  let made = Provider.shared.delegate(for: screen)
  print(type(of: made), Desk.name(made), Desk.describe(made), Desk.optional(made))
  let cart = Cart()
  cart.delegate = made
  print(cart.delegate === made)
  print(try cart.add("x", times: 3), cart.items)
  do { _ = try cart.add("bad") } catch { print("threw", error) }
  print(Desk.many(made), Desk.maybe(made, 5) ?? "nil", Desk.maybe(made, 0) ?? "nil")
  Desk.rename(made)
  print(Desk.name(made), screen.name)
  Desk.bump(made, 1)
  print(made[1])
  cart.delegate = screen
  print(cart.delegate === screen, try cart.add("y"))
}
print(Trace.shared.take())
do {
  // A delegate whose handlers fail.
  let made = Provider.shared.delegate(for: Screen("bad"))
  let cart = Cart()
  cart.delegate = made
  for _ in 0..<3 { print(try cart.add("watched", times: 2), cart.items.count) }
  do { _ = try cart.add("watched", times: 200) } catch { print("threw", error) }
  print(Desk.name(made), Desk.describe(made), Desk.maybe(made, 3) ?? "nil", Desk.many(made))
}
print(Trace.shared.take())
for _ in 0..<rounds {
  let screen = Screen("round")
  let cart = Cart()
  cart.delegate = screen
  _ = try cart.add("an item with a long name")
  _ = Provider.shared.delegate(for: screen)
}
_ = Trace.shared.take()
print("alive", Token.alive)
