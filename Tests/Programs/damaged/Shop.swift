public protocol Priced { func price() -> Int; associatedtype Unit }
open class Cart: Priced { public typealias Unit = Int; public var lines: [Line] = []; public init() {}
  @inline(never) open func total(tax: Double) -> Double { lines.reduce(0) { $0 + Double($1.cents) } * (1 + tax) }
  @inline(never) open func price() -> Int { lines.count } }
public struct Line { public var name: String; public var cents: Int; public init(name: String, cents: Int) { self.name = name; self.cents = cents }
  @inline(never) public func twice() -> Line { Line(name: name + name, cents: cents * 2) } }
public final class Big: Cart { @inline(never) public override func total(tax: Double) -> Double { super.total(tax: tax) * 2 } }
public enum Kind { case a(Int), b(String), c; @inline(never) public func describe() -> String { switch self { case .a(let n): "a\(n)"; case .b(let s): s; case .c: "c" } } }
public struct Box<T> { public var value: T; public init(_ v: T) { value = v }; @inline(never) public func get() -> T { value } }
@inline(never) public func run(_ c: Cart, _ k: Kind) -> Double { c.lines.append(Line(name: "x", cents: 3).twice()); return c.total(tax: 0.5) + Double(k.describe().count) + Double(Box(3).get()) }
print(run(Big(), .a(2)), run(Cart(), .b("x")))
