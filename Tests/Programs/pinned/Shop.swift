// Built several times: with CHANGED the total is another one, with OTHER a function that nobody pins is, and everything lies elsewhere.
struct NoStock: Error { let item: String }

#if OTHER
@inline(never) func padding(_ count: Int) -> [String] { (0..<count).map { "a longer text, number \($0)" } }
public final class Before { public var names: [String] = ["x"]; public init() {}; @inline(never) public func all() -> String { names.joined() } }
#endif

public final class Cart {
  public var items: [(name: String, price: Double)] = []
  public init() {}

  @inline(never) public func add(_ name: String, price: Double) throws {
    if name.isEmpty { throw NoStock(item: "nothing was named") }
    items.append((name, price))
  }

  @inline(never) public func total(tax: Double) -> Double {
    let sum = items.map { item in
      #if CLOSURE
      item.price * 2
      #else
      item.price
      #endif
    }.reduce(0, +)
    #if CHANGED
    return sum * (1 + tax) + 1
    #else
    return sum * (1 + tax)
    #endif
  }

  @inline(never) public func label(_ count: Int) -> String {
    #if TEXT
    "\(count) things"
    #else
    "\(count) pieces"
    #endif
  }

  @inline(never) public func deliver(_ days: Int) async -> Int {
    await Task.yield()
    #if LATER
    return days + items.count + 2
    #else
    return days + items.count + 1
    #endif
  }
}

@main struct Main {
  static func main() async throws {
    let cart = Cart()
    try cart.add("apple", price: 2.5)
    try cart.add("pear", price: 1)
    #if OTHER
    print(padding(3).count, Before().all())
    #endif
    print(cart.total(tax: 0.5), cart.label(2), await cart.deliver(1))
  }
}
