// Compiled for library evolution: what inherits from it learns when it runs where its own members begin.
open class Base {
  public var n = 1
  public init() {}
  @inline(never) open func changed(_ n: Int) -> Int {
    self.n += n
    return self.n
  }
  @inline(never) open class func kind(_ n: Int) -> Int { n }
}
