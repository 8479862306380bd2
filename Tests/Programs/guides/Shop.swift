// A shop that knows nothing of hooks: the subject of the code in docs/coming-from.md.

public enum ShopError: Error, Equatable { case empty, closed(until: Int) }

public protocol CartDelegate: AnyObject {
  func cart(_ cart: Cart, didAdd name: String)
}

public struct Line {
  public var name: String
  public var price: Double
  public var quantity: Int
}

open class Cart {
  public var title: String
  public weak var delegate: (any CartDelegate)?
  public private(set) var lines: [Line] = []
  public init(title: String) { self.title = title }

  open func add(_ name: String, price: Double, quantity: Int) {
    lines.append(Line(name: name, price: price, quantity: quantity))
    delegate?.cart(self, didAdd: name)
  }

  open func total(tax: Double) -> Double { lines.reduce(0) { $0 + $1.price * Double($1.quantity) } * (1 + tax) }

  open func checkout() throws -> String {
    if lines.isEmpty { throw ShopError.empty }
    return "\(title): \(lines.count) lines"
  }
}

public final class Store {
  public init() {}
  public func load(_ name: String, completion: (String) -> Void) { completion("price list of \(name)") }
  public func reserve(_ count: Int) async throws -> Int {
    await Task.yield()
    return count
  }
}

public final class Screen: CartDelegate {
  public init() {}
  public func cart(_ cart: Cart, didAdd name: String) { print("screen shows \(name)") }
}

public func discount(for user: String) -> Int { user == "ann" ? 10 : 0 }
