// Its method has the same code as that of Right: the linker keeps one body for both.
open class Left {
  public var turns = 0
  public init() {}
  @inline(never) open func turn(_ n: Int) { turns = turns &* 3 &+ n }
}
