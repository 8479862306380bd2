import Shop

let (cart, special, warehouse) = (Cart(title: "box"), Special(title: "gem"), Warehouse())
cart.add("apple", price: 2)
check(cart, special, warehouse)
after(cart, warehouse)
print(cart.total(), try! warehouse.ship(2), warehouse.stock(of: "figs"), warehouse.asked)
