// Callers of each kind, compiled together with what they call. Each line is one outcome, as its caller sees it.
final class Node {
  var v: Int
  var s = "a string that is long enough for the heap"
  @inline(never) init(_ v: Int) { self.v = v }
}
enum Failure: Error { case bad(Int) }
enum Shape { case node(Node), number(Int), none }
struct Pair { var a: Node; var b: String; var n: Int }
final class Holder { final let kept: Node; final let n: Int
  @inline(never) init(_ node: Node, _ n: Int) { kept = node; self.n = n } }
final class Bag {
  final var o: Node
  final var a: [Int]
  final var n: Int
  init(_ k: Int) { n = k; o = Node(k); a = [k, k, k] }
  @inline(never) final func poke() -> Int { seed &+= 1; return seed &+ n }
}
nonisolated(unsafe) var seed = CommandLine.arguments.count

// What callers know.
@inline(never) func ignored(_ n: Int) -> Int { seed &+= n; return 7 }
@inline(never) func number(_ n: Int) -> Int? { n &* seed &+ 7 }
@inline(never) func shape(_ n: Int) -> Shape { .node(Node(n)) }
@inline(never) func always(_ n: Int) throws -> Node { seed &+= 1; throw Failure.bad(n) }
@inline(never) func never(_ n: Int) throws(Failure) -> Node { Node(n) }
@inline(never) func make(_ n: Int) -> () -> String { let node = Node(n); return { node.s + " \(node.v)" } }
@inline(never) func look(_ n: inout Node) -> Int { seed &+= 1; return n.v &+ seed }
@inline(never) func lookPair(_ n: inout Pair) -> Int { seed &+= 1; return n.a.v &+ n.n &+ seed }

// What they cannot know.
@inline(never) func maybe(_ n: Int) -> Int? { seed > 1_000_000 ? nil : n }
@inline(never) func either(_ n: Int) -> Shape { seed > 1_000_000 ? .none : n & 1 == 0 ? .node(Node(n)) : .number(n) }
@inline(never) func sometimes(_ n: Int) throws -> Int { if seed > 1_000_000 { throw Failure.bad(n) }; return n }
@inline(never) func text(_ n: Int) -> String { "text \(n) that is long enough for the heap" }
struct Entry { var n: Int; var text: String; var node: Node }
@inline(never) func entry(_ n: Int) -> Entry { Entry(n: n, text: "entry \(n) that is long enough for the heap", node: Node(n)) }
@inline(never) func change(_ n: inout Node) { seed &+= 1; n = Node(n.v + 1) }

@inline(never) func describe(_ shape: Shape) -> String {
  switch shape { case .node(let n): "node \(n.v) \(n.s.utf8.count)"; case .number(let n): "number \(n)"; case .none: "none" }
}
@inline(never) func use(_ n: Node) -> Int { n.v &+ n.s.utf8.count }

@inline(never) func known(_ k: Int) {
  _ = ignored(k)
  print("number", number(k) == nil ? "nil" : "some")
  if case .node(let n) = shape(k) { print("shape", n.v, n.s) } else { print("shape other") }
  do { print("always", try always(k).v) } catch { print("always caught") }
  do { print("never", try never(k).v) } catch { print("never caught") }
  print("make", make(k)())
}
@inline(never) func variables(_ k: Int) {
  var n = Node(k)
  print("look", look(&n) != 0)
  print("after", n.v, n.s)
  var p = Pair(a: Node(k), b: "string \(k) long enough for the heap", n: k)
  print("lookPair", lookPair(&p) != 0)
  print("after", p.a.v, p.b, p.n)
  var c = Node(k)
  change(&c)
  print("changed", c.v, c.s)
}
@inline(never) func first(_ b: Bag) { let o = b.o; let x = b.poke(); print("first", use(o) != 0, x != 0, o.s) }
@inline(never) func second(_ b: Bag) { var sum = 0; for i in b.a { sum &+= b.poke() &+ i }; print("second", sum != 0, b.a.count) }
@inline(never) func owned(_ k: Int) {
  let node = Node(k)
  let holder = Holder(node, k)
  print("owned", use(node), holder.kept.v, holder.kept.s, holder.n)
}
@inline(never) func open(_ k: Int) {
  print("maybe", maybe(k).map { "\($0)" } ?? "nil")
  print("either", describe(either(k)))
  do { print("sometimes", try sometimes(k)) } catch { print("sometimes caught", error) }
  print("text", text(k))
  print("entry", entry(k).n)
}
for k in 0..<4 {
  known(k)
  variables(k)
  let b = Bag(k)
  first(b)
  second(b)
  owned(k)
  open(k)
}
print("the end")
