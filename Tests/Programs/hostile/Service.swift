import Glibc

public final class Node {
  public var name: String
  public var next: Node?
  @inline(never) public init(name: String) { self.name = name }
}
public protocol Speaker: AnyObject { func speak(_ n: Int) -> String }
public struct Pair { public var a: String; public var b: [Int]; public init(a: String, b: [Int]) { self.a = a; self.b = b } }

open class Service: Speaker {
  public var base = 0
  public var name = "service"
  public var me: Service?
  public var items: [String] = []
  public var nodes: [Node] = []
  public var pair = Pair(a: "a", b: [1, 2, 3])
  public init() {}
  @inline(never) open func slow(_ ms: Int) -> Int { usleep(UInt32(ms * 1000)); return ms }
  @inline(never) open func spin(_ ms: Int) -> Int {
    var t = timespec(), n = 0
    clock_gettime(CLOCK_MONOTONIC, &t)
    let end = t.tv_sec * 1000 + t.tv_nsec / 1_000_000 + ms
    repeat { n &+= 1; clock_gettime(CLOCK_MONOTONIC, &t) } while t.tv_sec * 1000 + t.tv_nsec / 1_000_000 < end
    return n & 1
  }
  @inline(never) open func keep(_ text: String) { items.append(text) }
  @inline(never) open func keepNode(_ node: Node) { nodes.append(node) }
  @inline(never) open func speak(_ n: Int) -> String { "\(n)" }
  @inline(never) open func element(_ n: Int) -> Int { [1, 2, 3][n] }
  @inline(never) open func divide(_ n: Int, by m: Int) -> Int { n / m }
  @inline(never) open func fails(_ n: Int) throws -> Int { if n > 0 { throw Wrong(n: n) }; return n }
  @inline(never) open func each(_ n: Int, _ body: (Int) -> Int) -> Int { (0..<n).reduce(0) { $0 &+ body($1) } }
  @inline(never) open func later(_ body: @escaping (Int) -> Int) -> Int { stored = body; return body(1) }
  @inline(never) open func down(_ n: Int) -> Int { n == 0 ? 0 : down(n - 1) &+ 1 }
  @inline(never) open func big(_ n: Int) -> [Int] { Array(repeating: n, count: n) }
  @inline(never) open func text(_ n: Int) -> String { String(repeating: "x", count: n) }
  var stored: ((Int) -> Int)?
}
public struct Wrong: Error { public var n: Int }
