// What scripts send messages to.
public struct Refused: Error { public init() {} }

public struct Line: Sendable {
  public var name: String
  public var price: Double
}

open class Cart {
  public var title: String
  public var lines: [Line] = []
  @inline(never) public init(title: String) { self.title = title }
  @inline(never) open func add(_ name: String, price: Double) { lines.append(Line(name: name, price: price)) }
  @inline(never) open func total() -> Double { lines.reduce(0) { $0 + $1.price } }
}

public final class Warehouse {
  public var asked = 0
  public init() {}
  @inline(never) public func stock(of name: String) -> Int {
    asked += 1
    return name.utf8.count
  }
  @inline(never) public func ship(_ count: Int) throws -> String {
    if count > 9 { throw Refused() }
    return "shipped \(count)"
  }
}

public final class Special: Cart {}

// Used, so that callers pass them.
public nonisolated(unsafe) var seen: [AnyObject] = []
@inline(never) public func check(_ cart: Cart, _ special: Special, _ warehouse: Warehouse) { seen = [cart, special, warehouse] }
@inline(never) public func after(_ cart: Cart, _ warehouse: Warehouse) { seen = [cart, warehouse] }
