// Built for evolution: what is not frozen goes by address, in this module too.
public struct Open {
  public var number: Int
  public var text: String
  public init(_ number: Int, _ text: String) {
    self.number = number
    self.text = text
  }
}
@frozen public struct Frozen {
  public var number: Int
  public init(_ number: Int) { self.number = number }
}
public enum Shape { case none, circle(Int) }
@frozen public enum Fixed { case a, b(Int) }
struct Own { var number: Int }

public func inside(_ n: Int) -> String { shown(Own(number: n)) + take(Open(n + 1, "in"), Shape.circle(n)) }
@inline(never) func shown(_ own: Own) -> String { " own \(own.number) \(own as Any)" }
@inline(never) public func take(_ open: Open, _ shape: Shape) -> String { " \(open.text) \(open.number) \(shape)" }
