public enum Problem: Error { case x(Int), y }
public struct Pair<A, B> { public var x: A; public var y: B; public init(x: A, y: B) { self.x = x; self.y = y } }
extension Pair where A == Int, B == String {
  @inline(never) public func f(_ a: Int) throws(Problem) -> String {
    if a > 1 { throw .x(a) }
    return "ok"
  }
}
