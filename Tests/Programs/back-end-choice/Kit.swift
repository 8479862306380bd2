// Methods that are compiled for size: nothing is left of them but a return, too short for a jump. Tables lead to them.
public protocol Rests { func rest() }

open class Plain {
  public init() {}
  open func quiet() {}
  public final func fixed() {}
}
open class Heir: Plain {
  /// Shows that the class is not final.
  open func more() -> Int { 1 }
}
public struct Calm: Rests {
  public init() {}
  public func rest() {}
}

/// Nobody outside calls its method, which does not look at self: entering it does not tell whose call it is.
private class Selfless {
  @inline(never) func shift(_ n: Int) -> Int { n &* 3 &+ 1 }
}
private class SelflessHeir: Selfless {
  func more() -> Int { 2 }
}
private final class Other: Selfless {
  override func shift(_ n: Int) -> Int { n }
}
@_optimize(none) @inline(never) private func any(_ index: Int) -> Selfless { index == 0 ? Selfless() : index == 1 ? SelflessHeir() : Other() }
public func shifts() -> [Int] { (0..<3).map { any($0).shift(1) } }
