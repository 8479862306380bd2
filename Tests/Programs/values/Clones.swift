// Clones — functions that the optimiser specialises in every way it knows, for the comparison of call plans.
//
// `go` calls each with what invites a specialisation; nothing here is run.
import Synchronization
public final class C { public var n = 1; public init(n: Int) { self.n = n }; deinit { gone &+= 1 } }
nonisolated(unsafe) public var gone = 0
@inline(never) @_optimize(none) public func opaque<T>(_ t: T) -> T { t }
@inline(never) @_optimize(none) public func use<T>(_ t: T) { withExtendedLifetime(t) {} }
public struct In { var a: Int8; var b: Int8; var c: C; var s: String }
public struct Out { var i: In; var x: Double; var arr: [Int] }
public struct Pair { var a: Int; var b: C }
public struct Tiny { var a: UInt8; var b: UInt8; var c: UInt16; var d: UInt32 }
public struct One { var c: C }
public struct Floats { var a: Float; var b: Float; var c: Double }
public enum E1 { case a(C), b(Int), c }
public enum E2 { case x, y, z }
public struct Big { var a, b, c, d, e: Int; var o: C }
public struct AO { var p: any P; var n: Int }
public protocol P { func p(_ x: Int) -> Int; mutating func mut(_ x: Int) }
public protocol CP: AnyObject { func cp(_ x: Int) -> Int }
extension C: CP { public func cp(_ x: Int) -> Int { n &+ x } }

// exploded, owned to guaranteed, dead
@inline(never) func ex1(_ o: Pair, _ k: Int) -> Int { use(k); return o.a &+ k }
@inline(never) func ex2(_ o: Pair, _ k: Int) -> Int { use(k); return o.b.n &+ k }
@inline(never) func ex3(_ o: Pair, _ k: Int) -> Int { use(k); return o.b.n &+ k &+ o.a }
@inline(never) func ex4(_ t: Tiny, _ u: Tiny) -> Int { use(t.b); return Int(t.b) &+ Int(u.d) }
@inline(never) func ex5(_ t: Floats, _ u: Int) -> Double { use(u); return Double(t.b) + t.c }
@inline(never) func ex6(_ t: One, _ u: Int) -> Int { use(u); return t.c.n }
@inline(never) func ex7(_ t: (Int, Pair), _ u: Int) -> Int { use(u); return t.0 &+ t.1.a }
@inline(never) func ex8(_ t: [Int], _ s: String, _ r: Substring) -> Int { use(t); use(s.utf8.count); return r.count }
@inline(never) func ex9(_ r: Range<Int>, _ b: UnsafeBufferPointer<Int>) -> Int { var k = 0; for i in r { k &+= b[i] }; use(k); return k }
@inline(never) func dead1(_ a: C, _ b: Int, _ c: String) -> Int { use(b); return b }
@inline(never) func own1(_ a: __owned C, _ b: __owned String) -> Int { use(a); use(b); return 1 }
final class K {
  var p: Pair; var s: String; var e: E1; weak var w: K?
  @inline(never) init(p: Pair, s: String, e: E1) { self.p = p; self.s = s; self.e = e; use(s) }
  @inline(never) func m1(_ a: Int, _ p: Pair) -> Int { use(a); return p.a &+ self.p.a }
  @inline(never) func m2(_ a: Int) -> Int { use(a); return a }
  @inline(never) static func st(_ a: Int, _ p: Pair) -> Int { use(a); return p.a }
  @inline(never) var prop: Pair { get { use(1); return p } set { use(newValue.a); p = newValue } }
  @inline(never) subscript(i: Int, t: Tiny) -> Pair { get { use(i); return p } set { use(i); p = newValue; use(t.a) } }
  @inline(never) func clo(_ f: (Int) -> Int, _ b: String) -> Int { use(b); return f(p.a) &+ f(2) }
}
struct S {
  var p: Pair; var k: Int
  @inline(never) init(p: Pair, k: Int) { self.p = p; self.k = k; use(k) }
  @inline(never) init?(q: Pair, k: Int) { if opaque(k) == 7 { return nil }; self.p = q; self.k = k }
  @inline(never) func m1(_ a: Int) -> Int { use(a); return p.a &+ k }
  @inline(never) func m2(_ a: Int) -> Int { use(a); return p.b.n }
  @inline(never) mutating func mu(_ a: Int) { use(a); k = a }
  @inline(never) static func st(_ a: Int, _ p: Pair) -> Int { use(a); return p.a }
  @inline(never) func clo(_ f: (Int) -> Int, _ b: String) -> Int { use(b); return f(p.a) &+ f(2) }
  @inline(never) var g: Int { use(k); return k &+ p.b.n }
  lazy var lz: Int = { use(1); return 5 }()
}
enum Q { case a(Int, C), b(String), c
  @inline(never) func m(_ x: Int) -> Int { use(x); switch self { case .a(let i, _): return i; case .b(let s): return s.utf8.count; case .c: return x } }
  @inline(never) init(n: Int) { use(n); self = n == 0 ? .c : .b("x\(n)") }
}
// closures and constants
@inline(never) func clo1(_ a: [Int], _ f: (Int) -> Int) -> Int { var r = 0; for x in a { r &+= f(x) }; return r }
@inline(never) func clo2(_ f: (Int, Double) throws -> String, _ g: () -> Void, _ c: C) rethrows -> String { g(); return try f(c.n, 2) }
@inline(never) func clo3(_ f: @escaping () -> C, _ n: Int) -> Int { use(n); return f().n }
@inline(never) func box1(_ n: Int) -> () -> Int { var k = n; use(n); return { k &+= 1; return k } }
@inline(never) func mapIt<T, U>(_ a: [T], _ f: (T) throws -> U) rethrows -> [U] { var r: [U] = []; for x in a { r.append(try f(x)) }; return r }
// generics
@inline(never) func g1<T: Hashable>(_ t: T, _ u: [T], _ m: T.Type) -> T { use(u); use(m); return t }
@inline(never) func g2<T, U>(_ t: T, _ u: U) -> (U, T) { use(t); return (u, t) }
@inline(never) func g3<T>(_ t: T?, _ f: (T) -> T) -> T? { t.map(f) }
@inline(never) func g4<T: Collection>(_ t: T, _ e: T.Element, _ i: T.Index) -> T.Element where T.Element: Equatable { use(e); return t[i] == e ? e : t[i] }
@inline(never) func g5<T: AnyObject>(_ t: T) -> T { use(t); return t }
@inline(never) func g6<T>(_ t: inout T, _ v: T) { use(v); t = v }
@inline(never) func g7<T>(_ t: (T, Int), _ m: T.Type) -> Int { use(m); use(t.0); return t.1 }
@inline(never) func g8<T: P>(_ t: T, _ k: Int) -> Int { use(k); return t.p(k) }
@inline(never) func g9<T>(_ x: Int, _ t: T) throws -> T { use(x); if opaque(x) == 8 { throw Err.a }; return t }
enum Err: Error { case a, b(C) }
@inline(never) func g10<T: Equatable>(_ a: G<T>, _ b: T) -> G<T> { use(b); return a }
struct G<T> {
  var t: T; var u: T
  @inline(never) init(a: T) { t = a; u = a; use(a) }
  @inline(never) func m(_ x: Int) -> T { use(x); return opaque(x) == 1 ? t : u }
  @inline(never) mutating func mm(_ x: T) { use(x); t = u }
  @inline(never) static func s(_ t: T) -> Int { use(t); return 1 }
  @inline(never) func conv<U>(_ f: (T) -> U) -> G<U> { G<U>(a: f(t)) }
  @inline(never) var z: T { get { use(1); return t } set { use(newValue); t = newValue } }
}
class GC<T> {
  var t: T
  @inline(never) init(t: T) { self.t = t; use(t) }
  @inline(never) final func m(_ x: T) -> T { use(x); return t }
  @inline(never) final func nn<U: P>(_ x: U, _ y: T) -> U { use(y); return x }
  @inline(never) static func st(_ x: T) -> T { use(x); return x }
}
extension P {
  @inline(never) func q(_ x: Int) -> Int { use(x); return p(x) }
  @inline(never) mutating func qm(_ x: Int) { use(x); mut(x) }
  @inline(never) static func qs(_ x: Self) -> Self { use(x); return x }
}
extension Int: P { public func p(_ x: Int) -> Int { self &+ x }; public mutating func mut(_ x: Int) { self = x } }
extension C: P { public func p(_ x: Int) -> Int { self.n &+ x }; public func mut(_ x: Int) { n = x } }
extension Pair: P { public func p(_ x: Int) -> Int { a &+ x }; public mutating func mut(_ x: Int) { a = x } }
extension Big: P { public func p(_ x: Int) -> Int { a &+ x }; public mutating func mut(_ x: Int) { a = x } }
extension Array where Element == Int { @inline(never) func ai(_ x: Int) -> Int { use(x); return self[x] } }
extension Array { @inline(never) func ag(_ x: Int) -> Element { use(x); return self[x] }; @inline(never) mutating func am(_ x: Element) { use(x); append(x) } }
extension Sequence where Element: P { @inline(never) func total(_ x: Int) -> Int { var k = 0; for e in self { k &+= e.p(x) }; return k } }
@inline(never) func exi(_ p: any P, _ k: Int) -> Int { use(k); return p.p(k) }
@inline(never) func exc(_ p: any CP, _ k: Int) -> Int { use(k); return p.cp(k) }
@inline(never) func tt(_ x: Int) throws(Err) -> Int { use(x); if x == 9 { throw .a }; return x }
@inline(never) func two(_ x: Int, _ c: C) -> (Int, Big) { use(x); return (x, Big(a: x, b: x, c: x, d: x, e: x, o: c)) }
@inline(never) func varia(_ x: Int...) -> Int { use(x); return x.count }
@inline(never) func defa(_ x: Int, y: String = "d", z: Bool = true) -> Int { use(x); use(y); return z ? x : 1 }
func recur(_ o: Pair, _ k: Int) -> Int { if k == 0 { return o.a }; use(k); return recur(o, k &- 1) &+ recur(Pair(a: k, b: o.b), k &- 2) }

public func go(_ c: C, _ a: [Int], _ o: Out, _ k: Int, _ big: Big, _ tiny: Tiny, _ f: Floats, _ s: String, _ ss: Substring) throws {
  let p = Pair(a: opaque(k), b: c)
  use(ex1(p, k)); use(ex2(p, k)); use(ex3(p, k)); use(ex4(tiny, tiny)); use(ex5(f, k)); use(ex6(One(c: c), k)); use(ex7((k, p), k)); use(ex8(a, s, ss))
  a.withUnsafeBufferPointer { use(ex9(0..<opaque(k), $0)) }
  use(dead1(c, k, s)); use(own1(C(n: k), s + "x"))
  let kk = K(p: p, s: s, e: opaque(.a(c))); use(kk.m1(k, p)); use(kk.m2(k)); use(K.st(k, p)); use(kk.prop); kk.prop = p; use(kk[k, tiny]); kk[k, tiny] = p
  use(kk.clo({ $0 &+ k }, s)); use(kk.clo({ $0 &+ c.n }, s)); use(kk.clo({ $0 &* 3 }, "lit"))
  var st = S(p: p, k: k); use(st.m1(k)); use(st.m2(k)); st.mu(k); use(S.st(k, p)); use(st.clo({ $0 &+ k &+ c.n }, s)); use(st.g); use(st.lz); use(S(q: p, k: k))
  use(Q(n: k).m(k)); use(opaque(Q.a(k, c)).m(k))
  use(clo1(a) { $0 &* k }); use(clo1(a) { $0 &+ c.n &+ a.count }); use(clo1(a) { $0 &+ p.b.n &+ p.a }); use(clo1(a) { $0 &* 2 })
  use(clo2({ i, d in s + "\(i)\(d)" }, { use(k) }, c)); use(clo3({ c }, k)); use(clo3({ C(n: k) }, k)); use(box1(k)())
  use(mapIt(a) { $0 &+ k }); use(mapIt(a) { "\($0)\(s)" }); use(mapIt([s]) { $0.count })
  use(g1(k, a, Int.self)); use(g1(s, [s], String.self)); use(g2(k, s)); use(g2(c, big)); use(g2((), k)); use(g2(big, big)); use(g3(k as Int?) { $0 &+ k }); use(g3(s as String?) { $0 + s })
  use(g4(a, k, 0)); use(g4([s], s, 0)); use(g5(c)); var v = k; g6(&v, k); var w = s; g6(&w, s); var bb = big; g6(&bb, big)
  use(g7((k, k), Int.self)); use(g7((s, k), String.self)); use(g8(k, k)); use(g8(c, k)); use(g8(p, k)); use(g8(big, k)); use(try g9(k, s)); use(try g9(k, big)); use(try g9(k, 4.0))
  use(g10(G(a: k), k)); use(g10(G(a: s), s))
  var g = G(a: k); use(g.m(k)); g.mm(k); use(G<Int>.s(k)); use(g.z); g.z = k; use(g.conv { "\($0)" })
  var h = G(a: s); use(h.m(k)); h.mm(s); use(G<String>.s(s)); use(h.z); h.z = s; use(h.conv { $0.utf8.count })
  let z = G(a: big); use(z.m(k)); use(G(a: tiny).m(k)); use(G(a: f).m(k))
  use(GC(t: k).m(k)); use(GC(t: c).m(c)); use(GC(t: s).nn(k, s)); use(GC(t: s).nn(p, s)); use(GC<Int>.st(k)); use(GC<String>.st(s))
  use(k.q(k)); use(c.q(k)); use(p.q(k)); use(big.q(k)); var pm = p; pm.qm(k); var im = k; im.qm(k); use(Int.qs(k)); use(Pair.qs(p)); use(Big.qs(big)); use(C.qs(c))
  use(a.ai(k)); use(a.ag(k)); use([s].ag(k)); var am = a; am.am(k); var sm = [s]; sm.am(s); use(a.total(k)); use(Set(a).total(k))
  use(exi(k, k)); use(exi(c, k)); use(exi(big, k)); use(exc(c, k)); use(try tt(k)); use(two(k, c)); use(varia(k, k)); use(defa(k)); use(recur(p, k))
}
