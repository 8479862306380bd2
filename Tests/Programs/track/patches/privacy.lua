patch { id = "privacy", api = 1 }

track "checkout" { on = "Shop.Cart.checkout(_:)",
  fields = { buyer = "self.buyer.email", age = "self.buyer.age", title = "self.title", note = "args.1" },
  pii = { buyer = "hash", age = "drop", title = "mask" } }
