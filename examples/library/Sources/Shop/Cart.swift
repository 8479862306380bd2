// A shop that knows nothing of hooks.

public enum ShopError: Error { case empty }

/// Whoever wants to know of changes.
public protocol CartDelegate: AnyObject {
  var name: String { get }
  func cartDidChange(_ cart: Cart)
}

public final class Screen: CartDelegate {
  public let name: String
  public init(_ name: String) { self.name = name }
  public func cartDidChange(_ cart: Cart) { print("\(name) shows \(cart.title)") }
}

open class Cart {
  open var title: String
  public weak var delegate: (any CartDelegate)?
  public private(set) var lines: [(name: String, price: Double, quantity: Int)] = []
  public init(title: String) { self.title = title }

  open func add(_ name: String, price: Double, quantity: Int) {
    lines.append((name, price, quantity))
    delegate?.cartDidChange(self)
  }

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
