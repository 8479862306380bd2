// Domain — generic functions of a library built for evolution, which the optimiser specialises for the library's own types.
//
// Everybody else passes these types by address; specialisations made here load them, which only `B5` in their names tells.
@inline(never) @_optimize(none) public func opaque<T>(_ t: T) -> T { t }
@inline(never) @_optimize(none) public func use<T>(_ t: T) { withExtendedLifetime(t) {} }
public enum Shape { case none, circle(Int), named(String) }
public enum Level { case low, middle, high }
public enum Many { case a(String, String), b(Int, Int, Int, Int), c(String, Int) }
public enum Held { case one(any Error), other }
@frozen public enum Fixed { case a, b(Int) }
enum Own { case x(Int), y(String) }
public struct Pair<A, B> { public var a: A; public var b: B }
public final class Room<T> {
  var held: T
  init(_ held: T) { self.held = held }
  @inline(never) func put(_ t: T, _ n: Int) -> T { use(n); let old = held; held = t; return old }
  @inline(never) func give() -> T { use(1); return held }
}

@inline(never) func first<T>(_ t: T, _ n: Int) -> Int { use(t); return n &+ 1 }
@inline(never) func same<T>(_ t: T, _ n: Int) -> T { use(n); return opaque(t) }
@inline(never) func both<T, U>(_ t: T, _ u: U, _ s: String) -> U { use(t); use(s); return opaque(u) }
@inline(never) func change<T>(_ t: inout T, _ n: Int, _ u: T) { use(n); t = opaque(u) }
@inline(never) func maybe<T>(_ t: T?, _ n: Int) -> T? { use(n); return opaque(t) }
@inline(never) func tuple<T>(_ t: (T, Int), _ s: String) -> (Int, T) { use(s); return (t.1, opaque(t.0)) }
@inline(never) func pair<T>(_ p: Pair<T, Int>, _ n: Int) -> Pair<Int, T> { use(n); return Pair(a: p.b, b: opaque(p.a)) }
@inline(never) func list<T>(_ t: [T], _ n: Int) -> T { use(n); return t[n] }
@inline(never) func fails<T>(_ t: T, _ n: Int) throws -> T { use(n); if n == 77 { throw CancellationError() }; return opaque(t) }
@inline(never) func eats<T>(_ t: consuming T, _ n: Int) -> Int { use(t); return n &+ 2 }
@inline(never) func plain<T>(_ t: T, _ shape: Shape, _ n: Int) -> Shape { use(t); use(n); return opaque(shape) }
extension Pair {
  @inline(never) func sum(_ n: Int) -> A { use(n); return opaque(a) }
  @inline(never) mutating func set(_ a: A, _ n: Int) { use(n); self.a = opaque(a) }
  @inline(never) static func make(_ a: A, _ b: B) -> Pair { use(a); return Pair(a: opaque(a), b: b) }
}
extension Shape { @inline(never) func mixed<T>(_ t: T, _ n: Int) -> T { use(self); use(n); return opaque(t) } }

@inline(never) func all<T>(_ t: T, _ u: T, _ n: Int) {
  use(first(t, n)); use(same(t, n)); use(both(n, t, "x")); use(both(t, n, "x")); use(both(t, u, "x"))
  var v = t
  change(&v, n, u); use(v)
  use(maybe(t, n)); use(tuple((t, n), "y")); use(pair(Pair(a: t, b: n), n)); use(list([t, u], 1)); use(try? fails(t, n)); use(eats(t, n))
  use(plain(t, Shape.circle(n), n)); use(Shape.circle(n).mixed(t, n))
  var p = Pair(a: t, b: n)
  use(p.sum(n)); p.set(u, n); use(p); use(Pair<T, Int>.make(t, n))
  let room = Room(t)
  use(room.put(u, n)); use(room.give())
}
public func go(_ n: Int) {
  all(Shape.circle(n), Shape.named("n"), n)
  all(Level.low, Level.high, n)
  all(Many.a("a", "b"), Many.b(n, n, n, n), n)
  all(Held.other, Held.other, n)
  all(Fixed.b(n), Fixed.a, n)
  all(Own.x(n), Own.y("n"), n)
  all(n, 2, n)
  all("text", "other", n)
  use(same(Shape.self, n)); use(same(String.self, n)); use(first(Level.self, n))
}
