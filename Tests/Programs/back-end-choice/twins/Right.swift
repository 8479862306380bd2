// See Left.
open class Right {
  public var turns = 0
  public init() {}
  @inline(never) open func turn(_ n: Int) { turns = turns &* 3 &+ n }
}

/// See Up.
public struct Down {
  public var turns = 0
  @inline(never) public mutating func spin(_ n: Int) { turns = turns &* 5 &- n }
}
