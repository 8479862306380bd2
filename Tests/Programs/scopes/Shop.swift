// What the scripts hook for one object, for one subclass, once.
open class Cart {
  public var title: String
  public var count = 0
  @inline(never) public init(title: String) { self.title = title }
  @inline(never) open func add(_ n: Int) -> Int {
    count += n
    return count
  }
  @inline(never) open func total(_ tax: Double) -> Double { Double(count) * tax }
  @inline(never) open class func rate(_ n: Int) -> Int { n }
}
open class GiftCart: Cart {
  @inline(never) open override func total(_ tax: Double) -> Double { super.total(tax) + 1 }
}
public final class BigCart: GiftCart {}
public struct Line {
  public var price: Double
  public init(price: Double) { self.price = price }
  @inline(never) public func taxed(_ tax: Double) -> Double { price * tax }
}
