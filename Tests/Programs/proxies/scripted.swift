// A program whose delegates a script makes, and watches.
import Shop

enum Provider {
  @inline(never) static func delegate(for screen: Screen) -> any CartDelegate { screen }
}

let rounds = Int(CommandLine.arguments.dropFirst().first ?? "") ?? 1000
do {
  let screen = Screen("main")
  let made = Provider.delegate(for: screen)
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
for _ in 0..<rounds {
  let screen = Screen("round")
  let cart = Cart()
  cart.delegate = screen
  _ = try cart.add("an item with a long name")
  _ = Provider.delegate(for: screen)
}
_ = Trace.shared.take()
print("alive", Token.alive)
