// Prints what callers get; those in another module take results as the convention says.
import Shop

for n in 1...4 {
  print("price", Desk.price(n), "label", Desk.label(n))
  do { print("load", try Desk.load(n)) } catch { print("load threw", error) }
  Desk.note(n)
}
let cart = Cart()
do { cart.items += try cart.checkout() } catch { print("checkout threw", error) }
