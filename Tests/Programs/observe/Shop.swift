// What the scripts observe.
open class Customer {
  open var name: String
  public init(name: String) { self.name = name }
}

public struct Address {
  public var city: String
}

open class Cart {
  open var title: String
  open var lines: [String] = []
  open var total = 0.0 { didSet { if total < 0 { total = 0 } } }
  open var customer: Customer?
  open var address = Address(city: "Ulm")
  open var onChange: (() -> Void)?
  open class var limit: Int {
    get { limitNow }
    set { limitNow = newValue }
  }
  nonisolated(unsafe) static var limitNow = 1
  @inline(never) public init(title: String) { self.title = title }
  @inline(never) open func add(_ line: String, _ price: Double) {
    lines.append(line)
    total += price
  }
}

/// Writes of the module itself.
@inline(never) public func rename(_ cart: Cart, _ title: String) { cart.title = title }
