import Shop

func run() {
  let cart = Cart(title: "box")
  let rare = Rare(title: "gem")
  turn(cart, rare, Money(cents: 250, currency: "EUR"), Till())
  cart.whileChanging { changing(cart) }
  print(cart.lines, cart.total, cart.title, cart.observed, journal)
  loop(cart, 100)
}
run()
Cart.shelf = nil
print("alive", alive)
