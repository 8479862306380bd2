// Generic functions that the scripts call: what they are generic over, the arguments tell.

public protocol Priced { var price: Double { get } }
public protocol Named: AnyObject { var name: String { get } }
public protocol Container { associatedtype Item; var items: [Item] { get } }
open class Ware: Priced, Named {
  public let name: String, price: Double
  public init(_ name: String, _ price: Double) { self.name = name; self.price = price }
}
public final class Rarity: Ware {}
public struct Coin: Priced, Hashable { public var cents: Int; public init(_ cents: Int) { self.cents = cents }; public var price: Double { Double(cents) / 100 } }
public struct Bag: Container { public var items: [Coin]; public init(_ items: [Coin]) { self.items = items } }
public struct Box<T> {
  public var value: T, count: Int
  public init(_ value: T, count: Int = 1) { self.value = value; self.count = count }
  @inline(never) public init(twice value: T) { self.init(value, count: 2) }
  @inline(never) public func describe() -> String { "\(count) of \(value)" }
  @inline(never) public func paired<U>(_ other: U) -> (T, U) { (value, other) }
  @inline(never) public func mapped<U>(_ f: (T) -> U) -> Box<U> { Box<U>(f(value), count: count) }
  @inline(never) public mutating func put(_ new: T) { value = new }
  @inline(never) public static func made(_ value: T) -> Box<T> { Box(value, count: 9) }
  public var text: String { @inline(never) get { "<\(value)>" } }
}
extension Box: Priced where T: Priced { public var price: Double { value.price * Double(count) } }
extension Box where T: Equatable { @inline(never) public func holds(_ x: T) -> Bool { value == x } }
open class Shelf<T> {
  public var all: [T] = []
  public init() {}
  @inline(never) public init(_ first: T) { all = [first] }
  @inline(never) open func put(_ x: T) -> Int { all.append(x); return all.count }
  @inline(never) open func take() -> T? { all.popLast() }
  @inline(never) public func find<U: Equatable>(_ key: U, _ by: (T) -> U) -> T? { all.first { by($0) == key } }
  @inline(never) public class func named(_ x: T) -> String { "Shelf of \(T.self) \(x)" }
  public var count: Int { @inline(never) get { all.count } }
}
public class Sorted: Shelf<Int> {
  @inline(never) public override func put(_ x: Int) -> Int { let n = super.put(x); all.sort(); return n * 100 }
}
open class Plain {
  public init() {}
  @inline(never) open func echo<T>(_ x: T) -> T { x }
  @inline(never) public final func kind<T>(_ x: T) -> String { "\(T.self)" }
  @inline(never) public static func same<T>(_ a: T, _ b: T) -> [T] { [a, b] }
}
open class Loud: Plain { @inline(never) open override func echo<T>(_ x: T) -> T { print("loud", x); return x } }

@inline(never) public func identity<T>(_ x: T) -> T { x }
@inline(never) public func name<T>(_ x: T) -> String { "\(T.self)" }
@inline(never) public func names<A, B, C>(_ a: A, _ b: B, _ c: C) -> String { "\(A.self) \(B.self) \(C.self)" }
@inline(never) public func sum<T: Numeric>(_ a: T, _ b: T) -> T { a + b }
@inline(never) public func largest<T: Comparable>(_ list: [T]) -> T? { list.max() }
@inline(never) public func total<T: Priced>(_ x: T, _ times: Int) -> Double { x.price * Double(times) }
@inline(never) public func totals<S: Sequence>(_ all: S) -> Double where S.Element: Priced { all.reduce(0) { $0 + $1.price } }
@inline(never) public func counted<S: Collection>(_ all: S) -> Int where S.Element == Int { all.reduce(0, +) }
@inline(never) public func items<C: Container>(_ c: C) -> [C.Item] { c.items }
@inline(never) public func subclass<W: Ware>(_ w: W) -> String { "\(W.self) \(w.name)" }
@inline(never) public func called<N: Named>(_ n: N) -> String { n.name }
@inline(never) public func keys<K: Hashable, V>(_ d: [K: V]) -> Int { d.count }
@inline(never) public func unboxed<T>(_ b: Box<T>) -> T { b.value }
@inline(never) public func optional<T>(_ x: T?) -> Bool { x == nil }
@inline(never) public func change<T>(_ x: inout T, _ y: T) { x = y }
@inline(never) public func apply<T, U>(_ x: T, _ f: (T) -> U) -> U { f(x) }
@inline(never) public func filter<T>(_ all: [T], _ f: (T) -> Bool) -> [T] { all.filter(f) }
@inline(never) public func failing<T>(_ x: T, _ fails: Bool) throws -> T { if fails { throw Wrong(text: "\(x)") }; return x }
@inline(never) public func typedly<T, E: Error>(_ x: T, _ e: E, _ fails: Bool) throws(E) -> T { if fails { throw e }; return x }
@inline(never) public func later<T: Priced>(_ x: T) async -> Double { await Task.yield(); return x.price }
@inline(never) public func result<T>(_ n: Int) -> T? { nil }
@inline(never) public func spread<A, B, C, D, E>(_ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ n: Int, _ x: Double, _ s: String, _ i: Int8) -> String {
  "\(a) \(b) \(c) \(d) \(e) \(n) \(x) \(s) \(i)"
}
public struct Wrong: Error { public var text: String; public init(text: String) { self.text = text } }

@inline(never) public func generics(_ ware: Rarity, _ coin: Coin, _ boxes: (Box<Int8>, Box<String>, Box<Coin>), _ bag: Bag) { sink = (ware, coin, boxes, bag) }
@inline(never) public func shelves(_ ints: Shelf<Int>, _ sorted: Sorted, _ wares: Shelf<Ware>, _ plain: Plain) { sink = (ints, sorted, wares, plain) }
@inline(never) public func closures(_ f: @escaping (Int) -> String, _ e: any Error) { sink = (f, e) }
@inline(never) public func waiting(_ coin: Coin) async { sink = coin }
nonisolated(unsafe) public var sink: Any = ()

nonisolated(unsafe) public var alive = 0
public final class Token: Hashable {
  public init() { alive += 1 }
  deinit { alive -= 1 }
  public static func == (a: Token, b: Token) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) {}
}
@inline(never) public func made(_ n: Int) -> Token { Token() }
@inline(never) public func tick(_ n: Int) { sink = n }
@inline(never) public func settle() { sink = () }

