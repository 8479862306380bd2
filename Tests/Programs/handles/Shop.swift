// Shop — values of every kind on their way through functions, compiled apart from their callers.

nonisolated(unsafe) public var live = 0

open class Item {
  public let id: Int
  public var name: String
  public var tags: [String] = []
  public var price: Price
  public var next: Item?
  public weak var shelf: Item?
  public unowned var owner: Item?
  public var extra: Any?
  public init(_ id: Int, _ name: String) {
    self.id = id
    self.name = name
    price = Price(cents: id * 100, currency: "EUR")
    live += 1
  }
  deinit { live -= 1; closing(self.id) }
  @inline(never) public func rename(_ to: String) { name = to }
}
@inline(never) public func closing(_ id: Int) { if id < 0 { print("closed \(id)") } }
public final class Special: Item { public var level = 7 }

public struct Price: Equatable, Hashable {
  public var cents: Int
  public var currency: String
  public var note: String? = nil
  public init(cents: Int, currency: String) { self.cents = cents; self.currency = currency }
}
public struct Line {
  public var item: Item
  public var price: Price
  public var amounts: [Int]
  private var secret = 42
  public init(_ item: Item, _ amounts: [Int]) { self.item = item; price = item.price; self.amounts = amounts }
  public var text: String { "\(item.name)/\(price.cents) \(price.currency)\(price.note.map { "(" + $0 + ")" } ?? "")/\(amounts)/\(secret)" }
}
public struct Big { public var a = "first text that is long enough", b = "second text that is long enough", c = "third text that is long enough", d = 1.5, e = [1, 2, 3], f = true; public init() {} }
public enum Plain: String { case red, green, blue }
public enum Shape: Equatable {
  case empty
  case circle(radius: Double)
  case rect(Int, height: Int)
  case named(String)
  case tagged(Price)
}
public indirect enum Tree { case leaf(Int), node(Tree, Tree)
  public var text: String { switch self { case .leaf(let n): "\(n)"; case .node(let a, let b): "(\(a.text) \(b.text))" } } }
public enum One { case only(Item) }
public enum Failure: Error { case plain, text(String), code(Int, why: String) }
public struct Broken: Error { public var code: Int; public var text: String; public init(_ c: Int) { code = c; text = "broken with code \(c)" } }
public protocol Shown { var shown: String { get } }
extension Int: Shown { public var shown: String { "int \(self)" } }
extension Price: Shown { public var shown: String { "price \(cents)" } }
extension Item: Shown { public var shown: String { "item \(name)" } }
public protocol Held: AnyObject { var label: String { get } }
extension Item: Held { public var label: String { "held \(name)" } }

func kind(_ value: Any) -> String {
  switch value {
  case let list as [Any]: "[" + list.map(kind).joined(separator: ",") + "]"
  case let map as [String: Any]: "{" + map.sorted { $0.key < $1.key }.map { "\($0.key)=\(kind($0.value))" }.joined(separator: ",") + "}"
  case let item as Item: "Item \(item.name)"
  default: "\(type(of: value)) \(value)"
  }
}

public enum Calls {
  @inline(never) public static func price(_ p: Price) -> Price { print("price", p.cents, p.currency, p.note ?? "-"); return p }
  @inline(never) public static func line(_ l: Line) -> Line { print("line", l.text); return l }
  @inline(never) public static func big(_ b: Big) -> Big { print("big", b.a, b.b, b.c, b.d, b.e, b.f); return b }
  @inline(never) public static func tuple(_ t: (Int, name: String, Price)) -> (Int, name: String, Price) { print("tuple", t.0, t.name, t.2.cents); return t }
  @inline(never) public static func plain(_ p: Plain) -> Plain { print("plain", p); return p }
  @inline(never) public static func shape(_ s: Shape) -> Shape { print("shape", s); return s }
  @inline(never) public static func tree(_ t: Tree) -> Tree { print("tree", t.text); return t }
  @inline(never) public static func only(_ o: One) -> One { if case .only(let i) = o { print("only", i.name) }; return o }
  @inline(never) public static func optional(_ a: Int?, _ b: String?, _ c: Price?) -> Int? { print("optional", a.map(String.init) ?? "nil", b ?? "nil", c.map { "\($0.cents)" } ?? "nil"); return a }
  @inline(never) public static func nested(_ a: Int??) -> Int?? { print("nested", a as Any); return a }
  @inline(never) public static func list(_ a: [Int]) -> [Int] { print("list", a); return a }
  @inline(never) public static func lines(_ a: [Line]) -> [Line] { print("lines", a.map(\.text)); return a }
  @inline(never) public static func optionals(_ a: [Int?]) -> [Int?] { print("optionals", a.map { $0.map(String.init) ?? "nil" }); return a }
  @inline(never) public static func slice(_ a: ArraySlice<String>) -> ArraySlice<String> { print("slice", a.startIndex, Array(a)); return a }
  @inline(never) public static func contiguous(_ a: ContiguousArray<Price>) -> ContiguousArray<Price> { print("contiguous", a.map(\.cents)); return a }
  @inline(never) public static func set(_ a: Set<String>) -> Set<String> { print("set", a.sorted()); return a }
  @inline(never) public static func map(_ a: [String: Int]) -> [String: Int] { print("map", a.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }); return a }
  @inline(never) public static func prices(_ a: [Price: [Item]]) -> [Price: [Item]] { print("prices", a.map { "\($0.key.cents):\($0.value.map(\.name))" }.sorted()); return a }
  @inline(never) public static func bytes(_ a: [UInt8]) -> [UInt8] { print("bytes", a); return a }
  @inline(never) public static func range(_ a: Range<Int>) -> Range<Int> { print("range", a); return a }
  @inline(never) public static func texts(_ a: Substring, _ b: Character, _ c: Unicode.Scalar, _ d: StaticString) -> Substring { print("texts", a, b, c, d); return a }
  @inline(never) public static func string(_ a: String) -> String { print("string", Array(a.utf8)); return a }
  @inline(never) public static func wide(_ a: UInt64, _ b: Int128, _ c: UInt128, _ d: Float16, _ e: Float80) -> UInt64 { print("wide", a, b, c, d, e); return a }
  @inline(never) public static func small(_ a: Int8, _ b: UInt8, _ c: Float, _ d: Double) -> Double { print("small", a, b, c, d); return d }
  @inline(never) public static func any(_ a: Any) -> Any { print("any", kind(a)); return a }
  @inline(never) public static func maybeAny(_ a: Any?) -> Any? { print("maybeAny", a.map(kind) ?? "nil"); return a }
  @inline(never) public static func anyMap(_ a: [String: Any]) -> [String: Any] { print("anyMap", kind(a)); return a }
  @inline(never) public static func shown(_ a: any Shown) -> any Shown { print("shown", a.shown); return a }
  @inline(never) public static func held(_ a: any Held) -> any Held { print("held", a.label); return a }
  @inline(never) public static func object(_ a: AnyObject) -> AnyObject { print("object", (a as? Item)?.name ?? "?"); return a }
  @inline(never) public static func hashable(_ a: AnyHashable) -> AnyHashable { print("hashable", a); return a }
  @inline(never) public static func error(_ e: any Error) -> any Error { print("error", e); return e }
  @inline(never) public static func metatype(_ t: Any.Type) -> Any.Type { print("metatype", t); return t }
  @inline(never) public static func item(_ a: Item, _ b: Item?) -> Item { print("item", a.name, b?.name ?? "nil"); return a }
  @inline(never) public static func fails(_ n: Int) throws -> String { print("fails", n); if n < 0 { throw Failure.code(n, why: "negative") }; if n > 100 { throw Broken(n) }; return "fine \(n)" }
  @inline(never) public static func change(_ list: inout [Item], _ p: inout Price) { print("change", list.map(\.name), p.cents); list = [] ; p.cents += 1 }
  @inline(never) public static func safe(_ n: Int) -> Int { print("safe", n); return n }
  @inline(never) public static func positions(_ a: Int?, _ b: Int?, _ c: Int?) -> Int? { print("positions", a ?? -1, b ?? -1, c ?? -1); return c }
}
extension Price {
  @inline(never) public func doubled() -> Price { var p = self; p.cents *= 2; print("doubled", p.cents); return p }
  @inline(never) public mutating func add(_ n: Int) { cents += n; print("add", cents) }
}
extension Shape { @inline(never) public func area() -> Double { print("area of", self); if case .circle(let r) = self { return r * r }; return 0 } }
