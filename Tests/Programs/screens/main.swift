// A program that uses the toolkit and knows nothing of who watches it.
import Dispatch
import Glibc
import Naive
import Reactive
import Toolkit

@inline(never) func fetch(_ what: String) { usleep(UInt32(20_000 + what.utf8.count)) }
class HomeController: ViewController {
  override func viewDidLoad() {
    super.viewDidLoad()
    fetch("home")
  }
  override func viewDidAppear(_ animated: Bool) {
    print("home appears")
    super.viewDidAppear(animated)
  }
}
final class CartController: HomeController {
  override func viewDidLoad() {
    fetch("cart")
    super.viewDidLoad()
  }
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

/// Takes its time, and asks for another page meanwhile.
final class OuterHandler: Handler {
  var router: Router!
  func handle(_ request: String) throws -> Int {
    let inner = router.handle("/inner" + request.dropFirst(6))
    usleep(30_000)
    return inner
  }
}
/// Calls go through the class's table.
@inline(never) @_optimize(none) func job() -> Job { Bake() }
final class Bake: Job {
  override func run(_ name: String) async -> Int {
    try? await Task.sleep(nanoseconds: 30_000_000)
    return await super.run(name) + name.utf8.count
  }
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

/// The traps of proxies, each by its name; with `naive` in views of a tracker that falls into them.
func wars(_ trap: String, _ isNaive: Bool) {
  let frame = Rect(0, 0, 10, 10), own = Listener("own")
  switch trap {
  case "identity":
    let list = isNaive ? NaiveListView(frame: frame) : ListView(frame: frame)
    list.delegate = own
    print(list.delegate === own)
    // Sets itself, and insists on being what is got.
    let proxy = ListProxy.of(list)
    list.select(1)
    print(proxy.selected)
  case "cycle":
    let list = isNaive ? AskingListView(frame: frame) : ListView(frame: frame)
    list.delegate = own
    list.select(2)
  default:
    let first = Listener("first"), grid = isNaive ? OnceGridView(frame: frame, delegate: own) : GridView(frame: frame, delegate: own)
    let last = Listener("last")
    do {
      let second = Listener("second")
      grid.delegate = second
      grid.select(3)
      grid.delegate = last
    }
    grid.select(4)
    withExtendedLifetime((first, last)) {}
  }
  withExtendedLifetime(own) {}
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

final class Banner: View {}
final class Card: View {
  let name: String
  var layouts = 0
  init(_ name: String, frame: Rect) {
    self.name = name
    super.init(frame: frame)
  }
  override func layout() {
    layouts += 1
    super.layout()
  }
}

func exposures() {
  let list = ScrollView(frame: Rect(0, 0, 100, 100))
  let cards = (0..<4).map { Card("card \($0)", frame: Rect(0, Double($0) * 80, 100, 80)) }
  for card in cards { list.addSubview(card) }
  list.addSubview(Banner(frame: Rect(0, 0, 100, 10)))
  // Card 0 is whole, of card 1 a quarter, of the others nothing.
  usleep(450_000)
  list.scroll(to: 60)
  // 20 of 80 of card 0, card 1 whole: not for long enough.
  usleep(30_000)
  list.scroll(to: 160)
  // Card 2 whole.
  usleep(450_000)
  cards[2].isHidden = true
  list.scroll(to: 0)
  usleep(450_000)
  cards[2].isHidden = false
  list.scroll(to: 160)
  usleep(450_000)
  // Of views that end before their time nothing is recorded, and what is made at their address is another one.
  for number in 0..<3 {
    let short = ScrollView(frame: Rect(0, 0, 100, 100))
    short.addSubview(Card("short \(number)", frame: Rect(0, 0, 100, 80)))
  }
  usleep(450_000)
  print(cards.map(\.layouts))
}

func taps() {
  let owner = Listener("owner"), home = HomeController(title: "Home")
  let buy = Button(frame: Rect(0, 0, 100, 44)), go = Button(frame: Rect(0, 50, 100, 44)), both = Button(frame: Rect(0, 100, 100, 44))
  buy.addTarget(owner, action: "buy", { _ in })
  go.addTarget(owner, action: "go", { _ in window.show(home) })
  // One action by two paths.
  both.addTarget(owner, action: "both", { _ in })
  let recognizer = TapRecognizer(both, action: "both", { _ in })
  // Four in a second, one by one: rage. The first of them and the last are dead.
  for number in 0..<4 {
    buy.touch(Event(number))
    usleep(120_000)
  }
  usleep(300_000)
  go.touch(Event(10))
  usleep(300_000)
  both.touch(Event(20))
  both.touch(Event(21))
  usleep(400_000)
  both.touch(Event(22))
  usleep(400_000)
  withExtendedLifetime(recognizer) {}
}

final class Silent: ListDelegate {
  func list(_ list: ListView, didSelectRowAt path: IndexPath) {}
}

/// Screens come and go, a control is touched and views are laid out, until the input ends.
func living() {
  print("ready")
  let owner = Listener("owner"), home = PlainController(title: nil)
  let button = Button(frame: Rect(0, 0, 10, 10)), list = ScrollView(frame: Rect(0, 0, 100, 100))
  button.addTarget(owner, action: "buy", { _ in })
  list.addSubview(View(frame: Rect(0, 0, 10, 10)))
  let rows = ListView(frame: Rect(0, 0, 10, 10)), silent = Silent()
  rows.delegate = silent
  let input = DispatchQueue(label: "input")
  let isOver = DispatchSemaphore(value: 0)
  input.async {
    while readLine() != "end" {}
    isOver.signal()
  }
  var touches = 0
  while isOver.wait(timeout: .now() + .milliseconds(1)) == .timedOut {
    home.viewDidAppear(false)
    home.viewDidDisappear(false)
    touches += 1
    button.touch(Event(touches))
    list.layout()
    rows.select(touches)
  }
}

func threads() {
  let outer = OuterHandler()
  let router = Router()
  outer.router = router
  for number in 0..<4 {
    router.add("/outer\(number)", outer)
    router.add("/inner\(number)", OrderHandler())
  }
  DispatchQueue.concurrentPerform(iterations: 4) { number in _ = router.handle("/outer\(number)") }
  let done = DispatchSemaphore(value: 0)
  Task.detached {
    async let first = job().run("bread")
    async let second = job().run("cake")
    print(await first + second)
    done.signal()
  }
  done.wait()
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
case "wars": wars(CommandLine.arguments[2], CommandLine.arguments.count > 3)
case "exposures": exposures()
case "taps": taps()
case "threads": threads()
case "living": living()
default: handlers()
}
