// Uses everything once, so that the hooks of examples have calls.
import Shop

@inline(never) func work() {
  let keeper = Keeper()
  let cart = Cart.make()
  cart.delegate = keeper
  cart.title = "books"
  cart.add("atlas", price: 12.5, quantity: 300)
  print(cart.total(tax: 0.2), (try? cart.checkout()) ?? -1, discount(for: 10), keeper.changes)
  print((try? Cart(title: "empty").checkout()) ?? -1)
  cart.status = .closed("sold")
}

work()
