// The program that the examples of the reference are about.
public enum Status { case open, closed(String) }

public struct Line { public var name: String; public var price: Double; public var quantity: Int }

public struct Empty: Error {}

public protocol CartDelegate: AnyObject { func cartDidChange(_ cart: Cart) }

open class Cart {
  public var title: String
  public var lines: [Line] = []
  public var status = Status.open
  public weak var delegate: (any CartDelegate)?
  public static var rate: Double = 0.2
  @inline(never) public init(title: String) { self.title = title }
  @inline(never) open func add(_ name: String, price: Double, quantity: Int) {
    lines.append(Line(name: name, price: price, quantity: quantity))
    delegate?.cartDidChange(self)
  }
  @inline(never) open func total(tax: Double) -> Double { lines.reduce(0) { $0 + $1.price * Double($1.quantity) } * (1 + tax) }
  @inline(never) open func checkout() throws -> Int {
    if lines.isEmpty { throw Empty() }
    return lines.count
  }
  @inline(never) public static func make() -> Cart {
    let cart = Cart(title: "new")
    cart.add("pen", price: 1, quantity: 2)
    return cart
  }
}

@inline(never) public func discount(for total: Double) -> Double { total * 0.9 }

public final class Keeper: CartDelegate {
  public var changes = 0
  public init() {}
  @inline(never) public func cartDidChange(_ cart: Cart) { changes += 1 }
}
