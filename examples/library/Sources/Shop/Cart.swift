// A shop that knows nothing of hooks.

public enum ShopError: Error { case empty }

open class Cart {
  open var title: String
  public private(set) var lines: [(name: String, price: Double, quantity: Int)] = []
  public init(title: String) { self.title = title }

  open func add(_ name: String, price: Double, quantity: Int) { lines.append((name, price, quantity)) }

  open func total(tax: Double) -> Double {
    lines.reduce(0) { $0 + $1.price * Double($1.quantity) } * (1 + tax)
  }

  open func checkout() throws -> String {
    if lines.isEmpty { throw ShopError.empty }
    return "\(title): \(lines.count) lines"
  }

  open func order(at shop: String) async throws -> String {
    try await Task.sleep(for: .milliseconds(1))
    return "\(title) ordered at \(shop)"
  }
}

/// Inherits everything but its name.
public final class GiftCart: Cart {}
