import Shop

func shown(_ what: String, _ value: Any) { print(what, value) }

let plain = Cart(title: "plain")
let gift = GiftCart(title: "gift")
let big = BigCart(title: "big")
for cart in [plain, gift, big] { shown(cart.title, cart.add(1)) }
for cart in [plain, gift, big] { shown(cart.title, cart.total(2)) }
shown("rates", [Cart.rate(1), GiftCart.rate(2), BigCart.rate(3)])
for number in 0..<3 {
  let cart = Cart(title: "hooked")
  shown("hooked \(number)", cart.add(10))
}
for number in 0..<4 { shown("switched \(number)", plain.add(number)) }
