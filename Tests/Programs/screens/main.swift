// A program that uses the toolkit and knows nothing of who watches it.
import Glibc
import Reactive
import Toolkit

class HomeController: ViewController {
  override func viewDidAppear(_ animated: Bool) {
    print("home appears")
    super.viewDidAppear(animated)
  }
}
final class CartController: HomeController {
  override func viewDidAppear(_ animated: Bool) {
    print("cart appears")
    super.viewDidAppear(animated)
  }
  override func viewDidDisappear(_ animated: Bool) {
    super.viewDidDisappear(animated)
    print("cart disappears")
  }
}
private final class PlainController: ViewController {}

final class Listener: ListDelegate, GridDelegate {
  var name: String
  init(_ name: String) { self.name = name }
  func list(_ list: ListView, didSelectRowAt path: IndexPath) {
    print(name, "selected", path.row)
    if path.row == 13 { list.delegate = nil }
  }
  func grid(_ grid: GridView, didSelectItemAt path: IndexPath) { print(name, "item", path.row) }
}

final class OrderHandler: Handler {
  func handle(_ request: String) throws -> Int { request.utf8.count }
}
final class FailingHandler: Handler {
  func handle(_ request: String) throws -> Int { throw BadRequest() }
}

let window = Window()
func screens() {
  let home = HomeController(title: "Home"), cart = CartController(title: "Cart"), plain = PlainController(title: nil)
  home.addChild(plain)
  window.show(home)
  window.show(cart)
  window.hide(cart)
  window.hide(home)
  print(home.appearances, cart.appearances, plain.appearances)
  guard CommandLine.arguments.count > 2 else { return }
  guard let library = dlopen(CommandLine.arguments[2], RTLD_NOW), let make = dlsym(library, "makeLate") else {
    return print(String(cString: dlerror()))
  }
  typealias Make = @convention(c) () -> UnsafeMutableRawPointer
  // The function's type is that of its declaration.
  let late = Unmanaged<ViewController>.fromOpaque(unsafeBitCast(make, to: Make.self)()).takeRetainedValue()
  window.show(late)
  window.hide(late)
}

func controls() {
  let owner = Listener("owner")
  let button = Button(frame: Rect(1, 2.345, 100, 44.5)), toggle = Switch(frame: Rect(0, 0, 51, 31)), bare = Button(frame: Rect(0, 0, 1, 1))
  button.addTarget(owner, action: "buy", { _ in print("bought") })
  toggle.addTarget(nil, action: "toggle", { _ in print("toggled") })
  for control in [button, toggle, bare] { control.touch(Event(1)) }
  print(toggle.isOn)
}

func lists() {
  let list = ListView(frame: Rect(0, 0, 10, 10))
  list.select(0)
  let first = Listener("first"), second = Listener("second")
  list.delegate = first
  print(list.delegate === first)
  list.select(1)
  list.delegate = first
  list.select(2)
  list.delegate = second
  list.select(3)
  list.display(4)
  // Sets the slot to nil inside of its own callback.
  list.select(13)
  list.select(5)
  print(list.delegate == nil)
  let grid = GridView(frame: Rect(0, 0, 10, 10), delegate: second)
  grid.select(6)
  withExtendedLifetime(first) {}
}

func reactive() {
  let list = ListView(frame: Rect(0, 0, 10, 10)), own = Listener("own"), other = Listener("other")
  list.delegate = own
  // Their proxy after the program's delegate, and again.
  let proxy = ListProxy.of(list)
  print(ListProxy.of(list) === proxy, list.delegate === proxy)
  list.select(1)
  proxy.setForward(other)
  list.select(2)
  print(proxy.selected)
  withExtendedLifetime(own) {}
}

func handlers() {
  let router = Router()
  router.add("/orders", OrderHandler())
  router.add("/fails", FailingHandler())
  print(router.handle("/orders"), router.handle("/fails"))
}

setvbuf(stdout, nil, _IOLBF, 0)
switch CommandLine.arguments.dropFirst().first ?? "" {
case "screens": screens()
case "controls": controls()
case "lists": lists()
case "reactive": reactive()
default: handlers()
}
