// Its method has the same code as that of Right: the linker keeps one body for both.
open class Left {
  public var turns = 0
  public init() {}
  @inline(never) open func turn(_ n: Int) { turns = turns &* 3 &+ n }
}

/// No table leads to its method, which has the same code as that of Down.
public struct Up {
  public var turns = 0
  @inline(never) public mutating func spin(_ n: Int) { turns = turns &* 5 &- n }
}
