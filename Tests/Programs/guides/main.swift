import Shop

let cart = Cart(title: "lunch")
let screen = Screen()
cart.delegate = screen
cart.add("apple", price: 2, quantity: 3)
cart.add("pear", price: 1, quantity: 2)
print("total \(cart.total(tax: 0.5))")
cart.title = "dinner"
do { print(try cart.checkout()) } catch { print("failed: \(error)") }
Store().load("fruit") { print("loaded \($0)") }
print("discount \(discount(for: "bob"))")
print("reserved \((try? await Store().reserve(2)) ?? -1)")
do { print(try Cart(title: "nothing").checkout()) } catch { print("failed: \(error)") }
