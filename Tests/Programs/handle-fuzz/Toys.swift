// Values whose lifetimes are easy to get wrong, for random scripts.
public final class Node: @unchecked Sendable {
  nonisolated(unsafe) public static var alive = 0
  public let name: String
  public var tags: [String]
  public var next: Node?
  public weak var back: Node?
  public unowned var owner: Node?
  public unowned(unsafe) var loose: Node?
  public init(_ name: String) {
    self.name = name
    tags = [name + " and more text than fits", "b"]
    Node.alive += 1
    loose = nil
  }
  deinit { Node.alive -= 1 }
  @inline(never) public func rename(_ tag: String) { tags.append(tag) }
  @inline(never) public func first() -> String { tags.first ?? "" }
}

public struct Link {
  public weak var weakly: Node?
  public unowned var always: Node
  public var strong: Node
  public init(_ a: Node, _ b: Node) {
    weakly = a
    always = b
    strong = b
  }
}
public struct Raw: ~Copyable {
  public var number: Int
  public var node: Node
  public init(_ n: Int, _ node: Node) {
    number = n
    self.node = node
  }
}
public indirect enum Tree { case leaf(String), pair(Tree, Tree), node(Node), link(Link), none }
public struct Bag {
  public var nodes: [Node]
  public var byName: [String: Tree]
  public var any: Any
  public var maybe: Tree?
  public var work: (@Sendable (Int) -> String)?
  public var pair: (Node, text: String)
  public init(_ nodes: [Node], _ byName: [String: Tree], _ any: Any, _ work: (@Sendable (Int) -> String)?, _ pair: (Node, text: String)) {
    self.nodes = nodes
    self.byName = byName
    self.any = any
    maybe = nil
    self.work = work
    self.pair = pair
  }
}

@inline(never) public func link(_ l: Link, _ n: Node) -> Link { Link(n, l.strong) }
@inline(never) public func bag(_ b: Bag, _ t: Tree, _ o: Tree?) -> Bag {
  var b = b
  b.maybe = o ?? t
  return b
}
@inline(never) public func change(_ b: inout Bag, _ n: Node, _ text: String) { b.pair = (n, text) }
@inline(never) public func raw(_ r: borrowing Raw, _ n: Int) -> Int { r.number + n }
@inline(never) public func call(_ n: Int, _ f: (Node) -> String, _ g: @escaping (Int) -> Node) -> String { f(g(n)) }
@inline(never) public func consume(_ b: consuming Bag, _ t: __owned Tree) -> [Tree] { Array(b.byName.values) + [t] }
@inline(never) public func errors(_ n: Int, _ node: Node) throws -> Node { if n % 3 == 0 { throw Fault(node: node, text: "fault \(n)") }; return node }
public struct Fault: Error { public var node: Node; public var text: String }
@inline(never) public func finish(_ n: Int) -> String { "done \(n)" }
