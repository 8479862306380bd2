// Messages by name: objects, a class and NSNull whose members scripts ask for, and properties that scripts observe.
import Foundation

class Cart {
  var title = "cart"
  var lines: [String] = []
  @inline(never) func total(tax: Double) -> Double { 10 * (1 + tax) }
  @inline(never) static func make(_ title: String) -> Cart {
    let cart = Cart()
    cart.title = title
    return cart
  }
}
final class Store {
  @inline(never) func locate(_ name: String) -> String { "shelf of " + name }
}

nonisolated(unsafe) var kept: [AnyObject] = []
@inline(never) func work(_ cart: Cart, _ store: Store, _ null: NSNull) -> Int {
  kept = [cart, store, null]
  return cart.lines.count
}
/// A script sends something at each call: what a handler may take is limited.
@inline(never) func tick(_ cart: Cart, _ store: Store, _ null: NSNull, _ number: Int) -> Int {
  kept = [cart, store, null]
  return number
}
@inline(never) func rename(_ cart: Cart, _ title: String) { cart.title = title }
@inline(never) func append(_ cart: Cart, _ line: String) { cart.lines.append(line) }

setvbuf(stdout, nil, _IOLBF, 0)
let cart = Cart.make("first \(CommandLine.arguments.count)"), store = Store()
print("total \(cart.total(tax: 0.5)) \(store.locate("x"))")
let null = NSNull()
for number in 1...24 { if tick(cart, store, null, number) != number { print("wrong") } }
for round in 1...3 { print("work \(work(cart, store, null))"); rename(cart, "title \(round)"); append(cart, "line \(round)") }
print("done")
