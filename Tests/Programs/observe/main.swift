import Foundation
import Shop

let cart = Cart(title: "first")
let other = Cart(title: "other")
cart.add("apple", 2.5)
cart.title = "second"
rename(cart, "third")
other.title = "unseen"
other.add("pear", 1)
cart.customer = Customer(name: "Ann")
cart.customer!.name = "Bo"
cart.customer = nil
cart.address.city = "Bonn"
cart.total = -5
Cart.limit = 7
print(cart.title, cart.lines, cart.total, other.title, Cart.limit)

let progress = Progress(totalUnitCount: 10)
progress.completedUnitCount = 3
progress.completedUnitCount += 4
print(progress.completedUnitCount, progress.fractionCompleted)
