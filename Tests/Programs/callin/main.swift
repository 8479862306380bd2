import Glibc
import Shop

/// Kilobytes of memory in use.
func resident() -> Int {
  guard let file = fopen("/proc/self/statm", "r") else { return 0 }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 128)
  fgets(&line, 128, file)
  let fields = String(decoding: line.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(separator: " ")
  return fields.count > 1 ? (Int(fields[1]) ?? 0) * 4 : 0
}

func run() {
  let cart = Cart(title: "box")
  let rare = Rare(title: "gem")
  turn(cart, rare, Money(cents: 250, currency: "EUR"), Till())
  values(cart, rare, Money(cents: 250, currency: "EUR"))
  mistakes(cart, rare, Till())
  cart.earn()
  cart.whileChanging { changing(cart) }
  print(cart.lines, cart.total, cart.title, cart.observed, journal)
  hooks(cart)
}

func soak(_ rounds: Int) {
  let cart = Cart(title: "box")
  let token = Token(1)
  for _ in 0..<1000 { tick(cart, token) }
  let before = resident()
  for _ in 0..<rounds { tick(cart, token) }
  print("soak", rounds, "alive", alive, "grown", resident() - before)
}

run()
Cart.shelf = nil
if CommandLine.arguments.count > 1 { soak(Int(CommandLine.arguments[1]) ?? 0) }
