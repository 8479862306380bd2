// The module whose classes are inherited from at run time. Compiled by itself, at -Onone and at -O.

open class Cart {
  open var title: String
  open private(set) var items: [String] = []
  private let token = Token()
  open var note: String { didSet { Trace.shared.add("note:\(oldValue)->\(note)") } }

  public init(title: String) {
    self.title = title
    note = "-"
    opened()
  }
  /// Another initialiser, through the table of the class it is called on.
  public convenience init(count: Int) { self.init(title: "cart of \(count)") }
  public init(failing code: Int) throws {
    title = "failing"
    note = "-"
    if code != 0 { throw ShopError(code: code) }
  }
  public required init(copying other: Cart) {
    title = "copy of " + other.title
    note = other.note
  }
  deinit { Trace.shared.add("end") }

  open func opened() {}
  open func total(tax: Double) -> Double { Double(items.count) * tax }
  open func add(_ item: String, times: Int) throws -> Int {
    if times < 0 { throw ShopError(code: times) }
    for _ in 0..<times { items.append(item) }
    return items.count
  }
  open func large(_ a: Int, _ b: Double, _ c: String, _ d: (Int, Int, Int, Int, Int)) -> [String] { ["\(a) \(b) \(c) \(d)"] }
  open class func kind() -> String { "plain" }
  open func copied() -> Cart { type(of: self).init(copying: self) }
  open subscript(index: Int) -> String { items[index] }
  public final func sealed() -> Int { 1 }
  open func ordered() async -> Int { items.count }
}

open class BigCart: Cart {
  public var size = 10
  open override func total(tax: Double) -> Double { super.total(tax: tax) + Double(size) }
}

/// Calls as the program makes them: virtual, from compiled code.
public enum Till {
  public static func total(_ cart: Cart) -> Double { cart.total(tax: 2) }
  public static func add(_ cart: Cart, _ item: String, _ times: Int) throws -> Int { try cart.add(item, times: times) }
  public static func large(_ cart: Cart) -> [String] { cart.large(1, 2.5, "three", (4, 5, 6, 7, 8)) }
  public static func kind(_ cart: Cart) -> String { type(of: cart).kind() }
  public static func first(_ cart: Cart) -> String { cart[0] }
  public static func rename(_ cart: Cart) { cart.title += "!" }
  public static func setNote(_ cart: Cart, _ text: String) { cart.note = text }
  public static func title(_ cart: Cart) -> String { cart.title }
  public static func isBig(_ cart: Cart) -> Bool { cart is BigCart }
}

/// Nobody overrides it, and only this module knows it: at -O its methods are called directly.
class Sealed {
  var n = 1
  @inline(never) func count() -> Int { n }
}
@inline(never) public func useSealed() -> Int { Sealed().count() }
public func sealedType() -> AnyClass { Sealed.self }

/// Not open: at -O this module calls its methods directly.
public class Half {
  public var n = 1
  public init() {}
  @inline(never) public func count() -> Int { n }
}
@inline(never) public func useHalf(_ half: Half) -> Int { half.count() }

public actor Counter { public init() {} }
