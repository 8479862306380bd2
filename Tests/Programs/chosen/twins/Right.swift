// See Left.
open class Right {
  public var turns = 0
  public init() {}
  @inline(never) open func turn(_ n: Int) { turns = turns &* 3 &+ n }
}
