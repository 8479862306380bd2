// Objects that escape nowhere, made in functions whose frames have no room left for them: optimised code ends and frees them without a look at
// their references.
nonisolated(unsafe) var sink = 0
typealias Row = (Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int)
struct Large { var a: Row, b: Row, c: Row, d: Row, e: Row, f: Row, g: Row, h: Row, i: Row, s: String }
@inline(never) func large(_ n: Int) -> Large {
  let t = (n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, n)
  return Large(a: t, b: t, c: t, d: t, e: t, f: t, g: t, h: t, i: t, s: "text \(n) that is long enough for the heap")
}
@inline(never) func look(_ l: inout Large) { sink &+= l.a.1; l.a.2 &+= 1 }

final class Number {
  var tag: Int
  init(_ tag: Int) { self.tag = tag }
  @inline(never) func use(_ n: Int) -> Int { sink &+= tag; return n &+ tag }
  @inline(never) func peek() -> Int { tag &+ sink }
}
final class Named {
  var tag: Int, name: String, list: [Int]
  init(_ tag: Int) { self.tag = tag; name = "the name of \(tag), long enough for the heap"; list = [tag, tag] }
  @inline(never) func use(_ n: Int) -> Int { sink &+= tag; return n &+ name.utf8.count &+ list.count }
  @inline(never) func peek() -> Int { tag &+ sink }
}
nonisolated(unsafe) var ends = 0
final class Loud {
  var tag: Int
  init(_ tag: Int) { self.tag = tag }
  deinit { ends += 1 }
  @inline(never) func use(_ n: Int) -> Int { sink &+= tag; return n &+ tag }
  @inline(never) func peek() -> Int { tag &+ sink }
}
/// Kept by the program itself: what is kept of it lives.
final class Kept {
  var tag: Int, name: String
  init(_ tag: Int) { self.tag = tag; name = "the name of \(tag), long enough for the heap" }
  @inline(never) func use(_ n: Int) -> Int { sink &+= tag; return n &+ tag }
  @inline(never) func peek() -> Int { tag &+ sink }
}
nonisolated(unsafe) var all: [Kept] = []

@inline(never) func number(_ n: Int) { var l = large(n); look(&l); let o = Number(40 + n); print("number", o.use(l.a.2)); look(&l) }
@inline(never) func named(_ n: Int) { var l = large(n); look(&l); let o = Named(50 + n); print("named", o.use(l.a.2)); look(&l) }
@inline(never) func loud(_ n: Int) { var l = large(n); look(&l); let o = Loud(60 + n); print("loud", o.use(l.a.2)); look(&l) }
@inline(never) func kept(_ n: Int) { var l = large(n); look(&l); let o = Kept(70 + n); all.append(o); print("kept", o.use(l.a.2)); look(&l) }
@inline(never) func take(_ o: Number) -> Int { o.tag }
@inline(never) func later(_ n: Int) { sink &+= n }
for n in 0..<6 {
  number(n)
  named(n)
  loud(n)
  kept(n)
  let others = (0..<40).map { [$0, $0] }
  later(n &+ others.count)
}
print("ends", ends > 0 || ends == 0, take(Number(1)))
