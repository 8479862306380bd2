// Straight — functions whose arguments and results lie in one run of bytes, in registers, on the stack, or behind an address.

public struct Point: Equatable, Sendable {
  public var x, y: Int
  public init(_ x: Int, _ y: Int) { (self.x, self.y) = (x, y) }
}
extension Point {
  /// Six arguments are in registers, the others in slots 0 to 33 of the stack, and self in the two behind them.
  @inline(never) public func far(
    _ a0: Int, _ a1: Int, _ a2: Int, _ a3: Int, _ a4: Int, _ a5: Int, _ a6: Int, _ a7: Int,
    _ a8: Int, _ a9: Int, _ a10: Int, _ a11: Int, _ a12: Int, _ a13: Int, _ a14: Int, _ a15: Int,
    _ a16: Int, _ a17: Int, _ a18: Int, _ a19: Int, _ a20: Int, _ a21: Int, _ a22: Int, _ a23: Int,
    _ a24: Int, _ a25: Int, _ a26: Int, _ a27: Int, _ a28: Int, _ a29: Int, _ a30: Int, _ a31: Int,
    _ a32: Int, _ a33: Int, _ a34: Int, _ a35: Int, _ a36: Int, _ a37: Int, _ a38: Int, _ a39: Int
  ) -> Int { (x &- y) &* (a0 &+ a7 &+ a39) }
}
public struct Small: Equatable, Sendable {
  public var a: Int32, b: Int16, c: Bool
  public init(_ a: Int32, _ b: Int16, _ c: Bool) { (self.a, self.b, self.c) = (a, b, c) }
}
/// Passed by address.
public struct Large: Equatable, Sendable {
  public var a, b, c, d, e: Int
  public var text: String
  public init(_ a: Int, _ text: String) { (self.a, b, c, d, e, self.text) = (a, a + 1, a + 2, a + 3, a + 4, text) }
}
/// A float and an integer: not in one run.
public struct Mixed: Equatable, Sendable {
  public var x: Double, n: Int
  public init(_ x: Double, _ n: Int) { (self.x, self.n) = (x, n) }
}

public enum StraightError: Error { case odd }

@inline(never) public func scalars(_ a: Int, _ b: Double, _ c: Bool, _ d: Int8, _ e: Float) -> Int {
  Int(Double(a) + b + (c ? 100 : 0) + Double(d) + Double(e))
}
@inline(never) public func many(_ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int, _ f: Int, _ g: Int, _ h: Int) -> Int {
  (((a * 10 + b) * 10 + c) * 10 + d) * 10_000 + ((e * 10 + f) * 10 + g) * 10 + h
}
@inline(never) public func shapes(_ point: Point, _ small: Small, _ large: Large, _ mixed: Mixed, _ maybe: Int?) -> Mixed {
  Mixed(Double(point.x + point.y) + mixed.x, Int(small.a) + Int(small.b) + large.e + (maybe ?? -1))
}
@inline(never) public func isEven(_ n: Int) -> Bool { n % 2 == 0 }
@inline(never) public func half(_ n: Int) throws -> Int {
  if n % 2 != 0 { throw StraightError.odd }
  return n / 2
}
@inline(never) public func doubled(_ n: inout Int, by: Int) -> Double {
  n *= by
  return Double(n)
}
