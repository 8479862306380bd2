// Generic declarations of every kind: which metadata and witness tables a call passes, and where.
public protocol P { associatedtype A; func req(_ x: Int) -> A }
public protocol CP: AnyObject { func cp() }
public class Box<U> { var u: U; init(_ u: U) { self.u = u }
 func m1<T>(_ t: T, _ u: U) -> T { t }
 func m2(_ u: U) -> U { u }
 static func s1(_ u: U) -> U { u }
 final func e1() -> Int where U: Hashable { u.hashValue }
}
extension Box where U: Equatable { final func e2(_ a: U) -> Bool { a == u } }
extension Box where U == Int { final func e3(_ a: U) -> Int { a } ; final func e4<V>(_ v: V, _ u: U) -> V { v } }
public struct G<T> { var t: T
  func a1(_ x: Int) -> T { t }
  mutating func a2(_ x: T) { t = x }
  static func a3(_ x: T) -> Int { 1 }
  init(_ t: T) { self.t = t }
  func a4<V: Hashable>(_ v: V, _ w: Int) -> (T, V) { (t, v) }
  var prop: T { get { t } set { t = newValue } }
}
public struct L<T> { var c: Box<T>; var n: Int
  func b1(_ x: Int) -> T { c.u }
  mutating func b2(_ x: T) { c.u = x }
  func b3() -> Int where T: Hashable { c.u.hashValue }
}
public struct H<K: Hashable, V> { var k: K; var v: V
  func c1(_ k: K) -> V { v } }
extension H where V: Equatable { func c2(_ k: K) -> V { v } }
extension H where K: Comparable { func c3(_ k: K) -> V { v } }
extension H where K == String { func c4(_ k: K) -> V { v } }
func f1<T>(_ a: T, _ n: Int) -> T { a }
func f2<T: Sequence>(_ a: T, _ e: T.Element) -> T.Element? { e }
func f3<T>(_ b: Box<T>, _ t: T) -> T { t }
func f4<T>(_ t: T.Type, _ x: T) -> T { x }
func f5<T: AnyObject>(_ a: T, _ o: T?) -> T { a }
func f6<T: CP>(_ a: T, _ o: [T]) -> (T, Int) { (a, 1) }
func f7<T, U>(_ a: [T], _ d: [Int: U], _ c: (T) -> U, _ t: (T, Int)) -> (T, U)? { nil }
func f8<T: Box<Int>>(_ a: T) -> T { a }
func f9<T: P, U: P>(_ a: T, _ b: U) -> T.A where T.A == U.A { fatalError() }
func f10<T: P>(_ a: T) -> Int where T.A: Hashable, T.A: Comparable { 1 }
func f11<each T>(_ a: repeat each T) -> (repeat each T) { (repeat each a) }
func f12<T, E: Error>(_ a: T, _ b: () throws(E) -> T) throws(E) -> T { try b() }
func f13<T>(_ a: Optional<T>, _ b: Result<T, any Error>, _ c: UnsafePointer<T>, _ r: inout T) -> [T] { [] }
func f14<let N: Int>(_ a: InlineArray<N, Int>) -> Int { N }
func f15(_ p: some P, _ x: Int) -> some Sequence<Int> { [1] }
func f16<T>(_ t: G<T>, _ l: L<T>, _ x: G<T>?) -> L<T> { l }
func f17<T>(_ g: G<Box<T>>) -> G<Box<T>> { g }
func f18<T: Box<V>, V>(_ a: T, _ v: V) -> V { v }
func f19<T>(_ g: L<T>.Type, _ v: T) -> T { v }
extension P { func pe(_ a: A, _ n: Int) -> Self { self }
  func pf<T>(_ t: T) -> T { t }
  static func ps(_ n: Int) -> Int { n } }
extension P where A == Int { func pi(_ a: A) -> A { a } }
extension CP { func ce(_ n: Int) -> Self { self } }
struct Conf: P { func req(_ x: Int) -> String { "" } }
class CConf<Z>: CP, P { func cp() {} ; func req(_ x: Int) -> Z { fatalError() } }
struct GConf<Z>: P { func req(_ x: Int) -> Z { fatalError() } }
class D1: Box<Int> { func own<T>(_ t: T) -> Self { self } }
extension Array { func arr(_ e: Element) -> Element { e } ; mutating func marr(_ e: Element) {} }
extension Array where Element: Hashable { func harr(_ e: Element) -> Element { e } }
extension Optional where Wrapped: P { func owr(_ e: Wrapped.A) -> Int { 1 } }
enum En<T> { case a(T), b; func en(_ t: T) -> T { t } }
struct Outer<A> { struct Inner<B> { var b: Int; func inn(_ a: A, _ b: B) {} ; static func sinn(_ a: A) {} } ; struct Plain { var x: Int; func pl(_ a: A) {} } }
// What a same-type requirement makes of the type's own parameters is told with them.
extension G { func flat<V>(_ v: V, _ n: Int) -> V? where T == V? { t } ; func deep<V, W>(_ v: V) -> W? where T == [V: W] { t[v] } }
extension Box { func flatb<V>(_ v: V, _ n: Int) -> V where U == [V] { u[n] } ; static func flats<V>(_ n: Int) -> V? where U == V? { nil } }
extension Result { func kept<V>(_ n: Int) -> V? where Success == V? { try? get() } }
// One requirement implies another that the type has made of the same parameter.
struct Gen<S: Sequence> { var s: S; init(_ s: S, n: Int) where S: Collection { self.s = s } ; func size(_ n: Int) -> Int where S: Collection { s.count } }
func spelled<T>(_ t: T, _ n: Int) -> T { t }
func spells() -> Any { (spelled(Int.self, 1), spelled(D1.self, 2)) }
// Direct results that are too large for registers: their address comes in rax, but first of all beside several others in memory.
struct Five { var a, b, c, d, e: Int }
func one(_ n: Int) -> (Five, Any, Int8) { (Five(a: n, b: 2, c: 3, d: 4, e: 5), n, 1) }
func two(_ n: Int) -> (Five, Any, Any) { (Five(a: n, b: 2, c: 3, d: 4, e: 5), n, n) }
func among(_ n: Int) throws -> (Any, Five, Int8, Any) { (n, Five(a: n, b: 2, c: 3, d: 4, e: 5), 1, n) }
func both<T>(_ t: T, _ n: Int) -> (T, Five, T) { (t, Five(a: n, b: 2, c: 3, d: 4, e: 5), t) }
// A parameter that equals an associated type stays: a call passes it, and the associated type is read by it.
struct Unique<Element: Hashable> { var d: [Element]
  init<S: Sequence>(_ s: S, n: Int) where S.Element == Element { d = Array(s) }
  func holds<S: Sequence>(_ s: S, _ e: Element) -> Bool where S.Element == Element { true }
  mutating func put<S: Sequence>(_ s: S, _ n: Int) where S.Element == Element { d += s } }
class Shelf<Element> { init<S: Sequence>(_ s: S, _ e: Element) where S.Element == Element {}
  func store<S: Sequence>(_ n: Int, _ s: S) -> S.Element? where S.Element == Element { nil }
  static func stores<S: Sequence>(_ s: S, _ n: Int) where S.Element == Element {} }
extension Unique where Element == Int { func ext<T>(_ t: T, _ e: Element) -> Element { e }
  static func sext<T: Collection>(_ t: T, _ n: Int) -> Int where T.Element == Element { n } }
func pairing<A: Sequence, B>(_ a: A, _ b: B) -> A.Element where A.Element == B { b }
func alike<A: Sequence, B: Sequence>(_ a: A, _ b: B) -> A.Element? where A.Element == B.Element { nil }
func nested<A: Sequence, B: Hashable>(_ a: A, _ b: B) -> A.Element where A.Element == [B] { [b] }
struct Triple<A, C, B> { var a: A; var c: C; var b: B }
extension Triple where A == B { func same(_ x: A, _ n: Int) -> B { x } ; static func sames(_ x: A, _ y: B, _ c: C) -> C { c } }
extension Triple where A: Sequence, A.Element == B { func element(_ x: A, _ y: B) -> B { y } ; static func elements(_ x: A, _ y: B) -> B { y } }
extension Triple where B: Sequence, B.Element == A { func first(_ x: A, _ y: B) -> A { x } ; static func firsts(_ x: A, _ y: B) -> A { x } }
extension Triple where C == Int { static func numbers<X>(_ x: X, _ y: B, _ c: C) -> C { c }
  static func equals<X>(_ x: X, _ n: Int) -> X where X == A { x } }
extension Triple where A == C { struct Inner<D> { var d: D ; static func deep<S: Sequence>(_ s: S, _ c: C) -> D where S.Element == D { fatalError() } } }
extension P { func tells<T>(_ t: T, _ n: Int) -> A where A == T { t } }
extension P where A: P { func tellsMore<T>(_ t: T, _ n: Int) -> T where A.A == T { t } }
