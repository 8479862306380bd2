// Hooks the program's own functions, in whatever way it was built.
import ScriptHost
import Shop

@main
struct Till {
  static func main() async throws {
    let cart = Cart(title: "lunch")
    cart.add("soup", price: 4, quantity: 2)
    print("unhooked:", cart.total(tax: 0.5))

    // What a handler takes is checked against the function before anything is changed.
    let doubled = try Hooks.around("Shop.Cart.total(tax:)") { (call, tax: Double) -> Double in
      try call.original(tax * 2)
    }
    print("tax doubled:", cart.total(tax: 0.5))
    doubled.remove()

    do {
      try Hooks.before("Shop.Cart.add(_:price:quantity:)") { (_, name: String, price: Int) in print(name, price) }
    } catch { print("refused:", error) }

    // A group lands as one. A type's hooks know their instances.
    let watching = try HookGroup("watching") {
      try Hooks(Cart.self).before("add(_:price:quantity:)") { (call, name: String) in
        print("\(call.instance!.title) gets \(name)")
        try call.set("quantity", to: 3)
      }
      try Hooks(Cart.self).after("checkout()") { (call, result: Result<String, any Error>) in
        if case .failure(let error) = result {
          print("checkout failed: \(error)")
          try call.setResult(to: "nothing to pay")
        }
      }
    }
    cart.add("bread", price: 1, quantity: 1)
    print("in all:", cart.total(tax: 0))
    print(try Cart(title: "empty").checkout())
    watching.remove()

    // One object, and a subclass without its parent.
    let gift = GiftCart(title: "gift")
    let free = try Hooks(cart).around("total(tax:)") { _ in 0.0 }
    let wrapped = try Hooks(GiftCart.self).after("checkout()") { (call, result: Result<String, any Error>) in
      try call.setResult(to: "a ribbon around \(try result.get())")
    }
    gift.add("book", price: 9, quantity: 1)
    print(cart.total(tax: 1), gift.total(tax: 0), try gift.checkout(), try cart.checkout(), separator: " | ")
    for hook in [free, wrapped] { hook.remove() }

    // Async functions.
    let ordered = try Hooks(Cart.self).before("order(at:)") { (call, shop: String) in try call.set(0, to: "the other \(shop)") }
    print(try await cart.order(at: "shop"))
    ordered.remove()

    // Members by name, for objects of which the compiler knows nothing.
    let anything = Dynamic(gift)
    anything.title = "present"
    try anything.add("pen", price: 2, quantity: 5)
    let total: Double = try anything.total(tax: 0)
    print(gift.title, total)
    do { try anything.wrap(in: "paper") } catch { print("refused:", error) }
  }
}
