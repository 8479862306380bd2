import Shelf

@inline(never) func show(_ text: String) { print(text) }
let shelf = Shelf()
shelf.title += "!"
show(shelf.title)
shelf.mix.whole += 10
show("\(shelf.mix.whole) \(shelf.mix.part) \(shelf.mix.rest)")
shelf.wide.e += 1
show("\(shelf.wide.a) \(shelf.wide.e)")
shelf.pair.0 += 1
show("\(shelf.pair.0) \(shelf.pair.1)")
show("\(shelf.any)")
shelf[1] += "2"
show(shelf[1])
shelf.count += 2
show("\(shelf.count)")
var basket = Basket()
for n in 1...3 { basket.items.append(n) }
show("\(basket.items)")
var box = Box(2.5)
box.inside += 1
show("\(box.inside)")
var named = Box("n")
named.inside += "m"
show("\(named.inside)")
// In place: one buffer, however often an element is appended.
for n in 0..<100_000 { basket.items.append(n) }
show("\(basket.items.count)")
