import Shop

@inline(never) @_optimize(none) func opaque<T>(_ value: T) -> T { value }

func round() {
  let a = Item(opaque(1), opaque("apple")), b = Special(opaque(2), opaque("banana that is a long name"))
  a.tags = ["red", "round"]
  a.next = b
  a.shelf = b
  a.owner = b
  a.extra = Price(cents: 5, currency: "USD")
  print("=", Calls.price(a.price).cents)
  print("=", Calls.line(Line(a, [1, 2, 3])).text)
  print("=", Calls.big(opaque(Big())).b)
  print("=", Calls.tuple(opaque((7, "seven", a.price))))
  print("=", Calls.plain(opaque(.green)))
  for shape in opaque([Shape.empty, .circle(radius: 2), .rect(3, height: 4), .named("a name that is long enough"), .tagged(a.price)]) { print("=", Calls.shape(shape)) }
  print("=", Calls.tree(opaque(.node(.leaf(1), .node(.leaf(2), .leaf(3))))).text)
  if case .only(let i) = Calls.only(opaque(.only(a))) { print("=", i.name) }
  print("=", Calls.optional(opaque(0), opaque(nil), a.price) as Any)
  print("=", Calls.optional(opaque(nil), opaque("text"), opaque(nil)) as Any)
  for n in opaque([Int??.none, .some(.none), .some(.some(0))]) { print("=", Calls.nested(n) as Any) }
  print("=", Calls.list(opaque([10, 20, 30])))
  print("=", Calls.lines(opaque([Line(a, [1]), Line(b, [])])).count)
  print("=", Calls.optionals(opaque([nil, 1, nil, 2])))
  print("=", Calls.slice(opaque(["a", "b", "c", "d"])[1..<3]))
  print("=", Calls.contiguous(opaque([a.price, b.price])).count)
  print("=", Calls.set(opaque(["x", "y"])).count)
  print("=", Calls.map(opaque(["one": 1, "two": 2])).count)
  print("=", Calls.prices(opaque([a.price: [a, b]])).count)
  print("=", Calls.bytes(opaque([0, 255, 128, 65])))
  print("=", Calls.range(opaque(3..<9)))
  print("=", Calls.texts(opaque("some text that is long enough").dropFirst(5), opaque("é"), opaque("ß"), "static text"))
  print("=", Calls.string(opaque("a\0b\u{10FFFF}")).utf8.count)
  print("=", Calls.wide(opaque(.max), opaque(.min), opaque(.max), opaque(1.5), opaque(2.25)))
  print("=", Calls.small(opaque(-128), opaque(255), opaque(.infinity), opaque(-.infinity)))
  for value in opaque([0, 1, false, true, 5 as UInt8, 2.5, "text", a.price, a, [1, "two", false] as [Any], ["k": 0] as [String: Any], Shape.empty, Int?.none as Any, Float(1)] as [Any]) { _ = Calls.any(value) }
  for value in opaque([nil, 0, false, Int?.none as Any] as [Any?]) { _ = Calls.maybeAny(value) }
  _ = Calls.anyMap(opaque(["zero": 0, "false": false, "one": 1, "true": true, "none": Int?.none as Any, "list": [0, false] as [Any]]))
  print("=", Calls.shown(opaque(3)).shown, Calls.shown(a.price).shown, Calls.shown(a).shown)
  print("=", Calls.held(a).label)
  print("=", (Calls.object(b) as? Item)?.name ?? "?")
  print("=", Calls.hashable(opaque(3)), Calls.hashable(opaque("text")))
  print("=", Calls.error(opaque(Failure.code(4, why: "four"))), Calls.error(Broken(5)))
  print("=", Calls.metatype(opaque(Price.self)))
  print("=", Calls.item(a, b).name, Calls.item(a, nil).name, Calls.item(b, b).name)
  for n in opaque([1, -1, 101, 50, 60, 70, 80, 90]) { do { print("=", try Calls.fails(n)) } catch { print("= threw", type(of: error), error) } }
  var list = [a, Item(opaque(9), "only in the list")], price = a.price
  Calls.change(&list, &price)
  print("=", list.map(\.name), price)
  for n in opaque(Array(1...20)) { _ = Calls.safe(n) }
  for (x, y, z) in opaque([(nil, 2, 3), (1, nil, 3), (1, 2, nil)] as [(Int?, Int?, Int?)]) { print("=", Calls.positions(x, y, z) as Any) }
  print("=", a.price.doubled().cents)
  price.add(opaque(5))
  print("=", price)
  print("=", opaque(Shape.circle(radius: 3)).area())
  a.rename("renamed")
  print("=", a.name, a.tags, a.price, b.level, a.shelf?.name ?? "nil")
  do { let dying = Special(opaque(-5), "dying"); dying.next = a; dying.shelf = a; dying.rename("still dying") }
}
import Glibc

func residentKilobytes() -> Int {
  let file = fopen("/proc/self/statm", "r")!
  defer { fclose(file) }
  var size = 0, resident = 0
  _ = withUnsafeMutablePointer(to: &size) { size in
    withUnsafeMutablePointer(to: &resident) { resident in withVaList([size, resident]) { vfscanf(file, "%ld %ld", $0) } }
  }
  return resident * 4
}

@main struct Main {
  static func main() {
    let rounds = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1])! : 1
    for _ in 0..<rounds / 4 { round() }
    let before = residentKilobytes()
    for _ in rounds / 4..<rounds { round() }
    print("live", live)
    if rounds > 1 { let text = "grown \(residentKilobytes() - before)\n"; _ = text.withCString { write(2, $0, strlen($0)) } }
  }
}
