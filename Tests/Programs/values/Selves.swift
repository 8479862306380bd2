// Selves — structs and enums whose members are hooked for their self.
public struct Point { public var x: Int; public var y: Double; public var name: String
  @inline(never) public init(x: Int, y: Double, name: String) { self.x = x; self.y = y; self.name = name }
  @inline(never) public func show(_ k: Int) -> String { "\(x) \(y) \(name) \(k)" }
  @inline(never) public mutating func move(_ d: Int) { x += d; print("moved", x) }
  @inline(never) public var twice: Int { print("t"); return x * 2 }
}
public enum Shape { case circle(Int), named(String), none
  @inline(never) public func area(_ k: Int) -> Int { print("area"); switch self { case .circle(let r): return r * k; case .named(let s): return s.utf8.count; case .none: return k } } }
@inline(never) @_optimize(none) func hidden<T>(_ t: T) -> T { t }
@main struct M { static func main() {
  var p = Point(x: hidden(3), y: 2.5, name: hidden("pp")); print(p.show(7)); p.move(4); print(p.twice); print(hidden(Shape.circle(4)).area(3), hidden(Shape.named("abc")).area(3)) } }
