// A shop: what the cases of the Swift API hook.
import Glibc

public enum ShopError: Error, Equatable { case empty, tooMany(Int), closed }

public struct Line: Equatable, Sendable {
  public var name: String
  public var price: Double
  public var quantity: Int
  public init(name: String, price: Double, quantity: Int) {
    self.name = name
    self.price = price
    self.quantity = quantity
  }
  @inline(never) public func cost(tax: Double) -> Double { name.isEmpty ? 0 : price * Double(quantity) * (1 + tax) }
}

open class Cart {
  public nonisolated(unsafe) static var alive = 0  // counted by the cases on one thread
  open var title: String
  public internal(set) var lines: [Line] = []
  @inline(never) public init(title: String) {
    self.title = title
    Cart.alive += 1
  }
  deinit { Cart.alive -= 1 }

  @inline(never) open func add(_ name: String, price: Double, quantity: Int) {
    lines.append(Line(name: name, price: price, quantity: quantity))
  }
  @inline(never) open func total(tax: Double) -> Double { lines.reduce(0) { $0 + $1.cost(tax: tax) } }
  @inline(never) open func checkout() throws -> String {
    if lines.isEmpty { throw ShopError.empty }
    return "\(title): \(lines.count) lines"
  }
  @inline(never) open func limit(to most: Int) throws(ShopError) -> Int {
    if lines.count > most { throw .tooMany(lines.count) }
    return most - lines.count
  }
  @inline(never) open func merge(_ other: Cart) -> Cart {
    lines += other.lines
    return self
  }
  @inline(never) public final func swapTitle(with other: inout String) { (title, other) = (other, title) }
  @inline(never) open func first(where matches: (Line) -> Bool, or other: Line?) -> Line? { lines.first(where: matches) ?? other }
  @inline(never) public static func make(_ count: Int) -> Cart {
    let cart = Cart(title: "made")
    for number in 0..<count { cart.add("line \(number)", price: 1, quantity: 1) }
    return cart
  }
  @inline(never) open func load(_ url: String) async throws -> Int {
    await Task.yield()
    if url.isEmpty { throw ShopError.closed }
    return url.utf8.count
  }
  @inline(never) open func adopt(_ text: __owned String) -> String { text + "!" }
  @inline(never) open func inspect<T>(_ value: T, note: String) -> String { "\(value) \(note)" }
}

/// Of one use.
public final class Voucher {
  public nonisolated(unsafe) static var alive = 0  // counted by the cases on one thread
  private let number: Int
  public init(_ number: Int) {
    self.number = number
    Voucher.alive += 1
  }
  deinit { Voucher.alive -= 1 }
  @inline(never) public __consuming func redeem() -> Int { number }
}

public final class FastCart: Cart {
  @inline(never) public override func checkout() throws -> String { "fast " + (try super.checkout()) }
}

public final class SlowCart: Cart {}

@inline(never) public func discount(of price: Double, for days: Int) -> Double { price * (1 - Double(days) / 100) }

/// Is hooked, and never called.
@inline(never) public func halt(_ code: Int) -> Never { fatalError("halted with \(code)") }

@inline(never) public func costs(_ lines: [Line], _ cart: Cart) -> Double { lines.reduce(0) { $0 + $1.price } + Double(cart.lines.count) }

public protocol Priced { func price(in currency: String) -> Double }
public struct Apple: Priced {
  public init() {}
  @inline(never) public func price(in currency: String) -> Double { currency == "EUR" ? 1 : 2 }
}
public final class Pear: Priced {
  let weight: Double
  public init(weight: Double) { self.weight = weight }
  @inline(never) public func price(in currency: String) -> Double { weight * (currency == "EUR" ? 1 : 2) }
}
@inline(never) public func prices(_ all: [any Priced]) -> [Double] { all.map { $0.price(in: "EUR") } }

@inline(never) public func parent() -> Int32 { getppid() }
