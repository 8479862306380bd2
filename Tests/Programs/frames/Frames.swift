// Objects, arrays and closures that the optimiser puts into their functions' frames, and one that cannot be copied.
public final class Node: @unchecked Sendable {
  public let name: String
  public var next: Node?
  public init(_ name: String) { self.name = name }
  @inline(never) public func join() { kept.append(self) }
  @inline(never) public func me() -> Node { self }
  @inline(never) public func shout() -> String { name + "!" }
}
nonisolated(unsafe) public var kept: [Node] = []
/// Lives as long as the program.
public final class Shelf: @unchecked Sendable {
  public var node: Node?
  public var numbers: [Int] = []
  public var box: Box? = Box([1], nil, "a box with a longer name")
}
public let shelf = Shelf()

public struct Box {
  public var numbers: [Int]
  public var node: Node?
  public var name: String
  @inlinable public init(_ numbers: [Int], _ node: Node?, _ name: String) {
    self.numbers = numbers
    self.node = node
    self.name = name
  }
}
public struct Ticket: ~Copyable {
  public var number: Int
  public var node: Node
  public init(_ number: Int, _ node: Node) {
    self.number = number
    self.node = node
  }
}

@inline(never) public func one(_ n: Node, _ m: Node) -> Int { n.name.count &- m.name.count }
@inline(never) public func pass(_ n: Node) -> Node { n }
@inline(never) public func maybe(_ n: Node?) -> Int { n?.name.count ?? 0 }
@inline(never) public func numbers(_ a: [Int]) -> Int { a.count &+ a[0] }
@inline(never) public func nested(_ a: [[Int]]) -> Int { a.count &+ a[0][0] }
@inline(never) public func nodes(_ a: [Node]) -> Int { a.count &+ a[0].name.count }
@inline(never) public func box(_ b: Box) -> Int { b.numbers.count &+ b.numbers[0] }
@inline(never) public func run(_ f: @escaping (Int) -> String) -> Int { f(2).count }
private nonisolated(unsafe) var tickets = 0
@inline(never) public func ticket(_ t: borrowing Ticket, _ n: Int) -> Int {
  tickets += 1
  return t.number &+ n
}
@inline(never) public func slowly(_ n: Node) async -> Int {
  await Task.yield()
  return n.name.count
}
@inline(never) public func slowNumbers(_ a: [Int]) async -> Int {
  await Task.yield()
  return a.count &+ a[0]
}
@inline(never) public func store(_ n: Node) { kept.append(n) }
@inline(never) public func length(_ n: Node) -> Int { n.name.count }
@inline(never) public func fill(_ s: Shelf) -> Int { s.node == nil ? 0 : 1 }

/// The frames before are others' now.
@inline(never) public func over(_ round: Int) -> Int {
  withUnsafeTemporaryAllocation(of: Int.self, capacity: 2000) { room in
    for index in room.indices { room[index] = -round }
    return room.reduce(0, &+)
  }
}
