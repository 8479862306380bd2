// Calls everything once, a handler's function among it, and says that it came to its end.
import Shop

@inline(never) func work() {
  let keeper = Keeper()
  let cart = Cart.make()
  cart.delegate = keeper
  cart.title = "books"
  cart.add("atlas", price: 12.5, quantity: 300)
  _ = (cart.total(tax: 0.2), try? cart.checkout(), keeper.changes)
  _ = try? Cart(title: "empty").checkout()
  cart.status = .closed("sold")
}

work()
_ = discount(for: 10)
work()
print("end")
