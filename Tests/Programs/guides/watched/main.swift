// Uses all that the pages name, once or twice.
import Bus
import Foundation
import FoundationNetworking
import Shop
import Toolkit
import Trip

final class Listener: ListDelegate {
  func list(_ list: ListView, didSelectRowAt path: Toolkit.IndexPath) {}
}
final class OrderHandler: Handler { func handle(_ request: String) throws -> Int { request.utf8.count } }

setvbuf(stdout, nil, _IOLBF, 0)
let cart = Cart("books")
cart.buyer = User("ada@example.org")
cart.add("atlas", 12.5)
print(cart.checkout("first"), cart.total())
let store = Store()
store.save("a", 1)
print(store.load("a"), Shop.Router().handle("/cart"), plan("home"))
Bus.Line().ride()
let window = Window(), home = ViewController(title: "Home")
window.show(home)
window.hide(home)
let router = Toolkit.Router()
router.add("/orders", OrderHandler())
print(router.handle("/orders"))
let button = Button(frame: Rect(0, 0, 10, 10)), listener = Listener()
button.addTarget(listener, action: "buy", { _ in })
button.touch(Event(1))
_ = TapRecognizer(button, action: "buy", { _ in })
let list = ListView(frame: Rect(0, 0, 10, 10))
list.delegate = listener
list.select(1)
list.addSubview(button)
// A client of URLSession, for the page that watches one.
print(URLSession.shared.configuration.timeoutIntervalForRequest > 0)
withExtendedLifetime(listener) {}
