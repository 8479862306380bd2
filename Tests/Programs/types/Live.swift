// Generic calls, typed errors and tuple results, traced live; run.sh holds the trace against Live.expected.
public protocol Shape { associatedtype Unit; var unit: Unit { get } }
public struct Sq: Shape { public var unit: Int; var name = "sq" }
public class Box<U> { var u: U; init(_ u: U) { self.u = u }
  @inline(never) func both<T>(_ t: T, _ u: U) -> T { sink(t, u); return t }
  @inline(never) func one(_ u: U) -> U { sink(u); return u }
  @inline(never) static func stat(_ u: U) -> [U] { sink(u); return [u] }
}
public struct G<T> { var t: T; var n = 1
  @inline(never) func get(_ x: Int) -> T { sink(x); return t }
  @inline(never) mutating func set(_ x: T) { sink(x); t = x }
  @inline(never) static func make(_ x: T) -> G<T> { sink(x); return G(t: x) }
}
extension G { @inline(never) func flat<V>(_ v: V, _ n: Int) -> V where T == V? { sink(n, v); return v } }
extension Box { @inline(never) func deep<V>(_ v: V, _ n: Int) -> V where U == [V] { sink(v, n); return u[n] } }
public final class K { var id: Int; init(_ id: Int) { self.id = id } }
enum Oops: Error { case bad(Int), worse }
struct Big: Error { var a = 1, b = 2, c = 3, d = 4, e = "five" }
@inline(never) func f1<T>(_ a: T, _ n: Int) -> T { sink(a, n); return a }
@inline(never) func f2<S: Sequence>(_ a: S, _ e: S.Element) -> S.Element? { sink(a, e); return e }
@inline(never) func f3<T: AnyObject>(_ a: T, _ o: T?) -> T { sink(a, o); return a }
@inline(never) func f4<T, U>(_ a: [T], _ d: [Int: U], _ t: (T, Int)) -> (T, U)? { sink(a, d, t); return nil }
@inline(never) func f5<T>(_ a: T, _ n: Int) -> (T, Int) { sink(a, n); return (a, n) }
@inline(never) func f6<P: Shape>(_ p: P) -> P.Unit { sink(p); return p.unit }
@inline(never) func f7(_ n: Int) throws(Oops) -> Int { sink(n); if n > 5 { throw .bad(n) }; return n }
@inline(never) func f8(_ n: Int) throws(Big) -> String { sink(n); if n > 5 { throw Big() }; return "s\(n)" }
@inline(never) func f9(_ n: Int) -> (Any, Int, Any) { sink(n); return ("any", n, n) }
@inline(never) func f10(_ x: SIMD8<Float>, _ y: SIMD2<Float>) -> SIMD8<Float> { sink(x, y); return x }
@inline(never) func f11<T>(_ t: T?, _ r: Result<T, any Error>) -> T? { sink(t, r); return t }
extension Shape { @inline(never) func ext(_ u: Unit) -> Self { sink(u); return self } }
@inline(never) func sink(_ x: Any...) { if x.count == 99 { print(x) } }
func show(_ x: Any) { print(x) }
@main struct M { static func main() {
  let b = Box("boxed")
  show(b.both(7, "arg")); show(b.both("tee", "arg2")); show(b.one("w")); show(Box<Int>.stat(5))
  var g = G(t: 2.5); show(g.get(3)); g.set(4.5); show(g.t); show(G<String>.make("mk").t)
  show(G(t: Optional("in")).flat("out", 1)); show(Box([1.5, 2.5]).deep(0.5, 1))
  show(f1(11, 1)); show(f1("str", 2)); show(f1(K(3), 3).id); show(f1((1, "x"), 4))
  show(f2([1, 2], 9) as Any); show(f2(["a"], "z") as Any)
  show(f3(K(1), K(2)).id); show(f4([1], [1: "u"], (5, 6)) as Any)
  show(f5("five", 5)); show(f5(Int8(-3), 6)); show(f6(Sq(unit: 42)))
  do { show(try f7(1)); show(try f7(9)) } catch { show(error) }
  do { show(try f8(1)); show(try f8(9)) } catch { show(error) }
  show(f9(4)); show(f10(.init(repeating: 1.5), .init(1, 2))); show(f11(3, .success(4)) as Any); show(f11("o", .failure(Oops.worse)) as Any)
  show(Sq(unit: 8).ext(9).unit)
} }
