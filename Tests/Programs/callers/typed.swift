// Calls in a loop whose errors one variable of the frame holds: the code stores it after each call, and looks at it where an error may come.
final class Node {
  var v: Int
  var s = "a string that is long enough for the heap"
  init(_ v: Int) { self.v = v }
}
enum E: Error { case a(Int) }
enum Shape { case node(Node), num(Int), none }
nonisolated(unsafe) var seed = CommandLine.arguments.count
@inline(never) func shape(_ n: Int) -> Shape { .node(Node(n)) }
@inline(never) func always(_ n: Int) throws -> Node {
  seed &+= 1
  throw E.a(n)
}
@inline(never) func typed(_ n: Int) throws(E) -> Node { Node(n) }
@inline(never) func sometimes(_ n: Int) throws(E) -> Node {
  if n == seed { throw E.a(n) }
  return Node(n)
}
for i in 0..<3 {
  switch shape(i) {
  case .node(let n): print("shape node", n.v, n.s)
  case .num(let x): print("shape num", x)
  case .none: print("shape none")
  }
  do { print("always", try always(i).v) } catch { print("always caught", error) }
  do { print("typed", try typed(i).v) } catch { print("typed caught", error) }
  do { print("sometimes", try sometimes(i + 5).v) } catch { print("sometimes caught", error) }
}
print("the end")
