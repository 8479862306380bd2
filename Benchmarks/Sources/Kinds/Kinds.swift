// Kinds — one method for each kind of value and number of arguments. Not optimised, so that all arguments are passed and read.
//
// Hooked in one run with handlers that read the arguments, in another with handlers that replace them.

public final class Item: Named {
  public var name = "a name of 24 characters."
  public init() {}
}
public protocol Named {}
public struct Point { public var x: Int, y: Int; public init(x: Int, y: Int) { (self.x, self.y) = (x, y) } }
public enum Shape { case circle(Int), square(Int, Int), none }

public final class Kinds {
  public init() {}

  @_optimize(none) public func int1(_ a: Int) -> Int { take(a); return 1 }
  @_optimize(none) public func int3(_ a: Int, _ b: Int, _ c: Int) -> Int { take(a); take(b); take(c); return 2 }
  @_optimize(none) public func int8(
    _ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int, _ f: Int, _ g: Int, _ h: Int
  ) -> Int { take(a); take(b); take(c); take(d); take(e); take(f); take(g); take(h); return 3 }
  @_optimize(none) public func double1(_ a: Double) -> Int { take(a); return 4 }
  @_optimize(none) public func double3(_ a: Double, _ b: Double, _ c: Double) -> Int { take(a); take(b); take(c); return 5 }
  @_optimize(none) public func double8(
    _ a: Double, _ b: Double, _ c: Double, _ d: Double, _ e: Double, _ f: Double, _ g: Double, _ h: Double
  ) -> Int { take(a); take(b); take(c); take(d); take(e); take(f); take(g); take(h); return 6 }
  @_optimize(none) public func bool1(_ a: Bool) -> Int { take(a); return 7 }
  @_optimize(none) public func bool3(_ a: Bool, _ b: Bool, _ c: Bool) -> Int { take(a); take(b); take(c); return 8 }
  @_optimize(none) public func bool8(
    _ a: Bool, _ b: Bool, _ c: Bool, _ d: Bool, _ e: Bool, _ f: Bool, _ g: Bool, _ h: Bool
  ) -> Int { take(a); take(b); take(c); take(d); take(e); take(f); take(g); take(h); return 9 }
  @_optimize(none) public func text1(_ a: String) -> Int { take(a); return 10 }
  @_optimize(none) public func text3(_ a: String, _ b: String, _ c: String) -> Int { take(a); take(b); take(c); return 11 }
  @_optimize(none) public func text8(
    _ a: String, _ b: String, _ c: String, _ d: String, _ e: String, _ f: String, _ g: String, _ h: String
  ) -> Int { take(a); take(b); take(c); take(d); take(e); take(f); take(g); take(h); return 12 }
  @_optimize(none) public func optional1(_ a: Int?) -> Int { take(a); return 13 }
  @_optimize(none) public func optional3(_ a: Int?, _ b: Int?, _ c: Int?) -> Int { take(a); take(b); take(c); return 14 }
  @_optimize(none) public func optional8(
    _ a: Int?, _ b: Int?, _ c: Int?, _ d: Int?, _ e: Int?, _ f: Int?, _ g: Int?, _ h: Int?
  ) -> Int { take(a); take(b); take(c); take(d); take(e); take(f); take(g); take(h); return 15 }
  @_optimize(none) public func object1(_ a: Item) -> Int { take(a); return 16 }
  @_optimize(none) public func object3(_ a: Item, _ b: Item, _ c: Item) -> Int { take(a); take(b); take(c); return 17 }
  @_optimize(none) public func object8(
    _ a: Item, _ b: Item, _ c: Item, _ d: Item, _ e: Item, _ f: Item, _ g: Item, _ h: Item
  ) -> Int { take(a); take(b); take(c); take(d); take(e); take(f); take(g); take(h); return 18 }
  @_optimize(none) public func structure1(_ a: Point) -> Int { take(a); return 19 }
  @_optimize(none) public func structure3(_ a: Point, _ b: Point, _ c: Point) -> Int { take(a); take(b); take(c); return 20 }
  @_optimize(none) public func structure8(
    _ a: Point, _ b: Point, _ c: Point, _ d: Point, _ e: Point, _ f: Point, _ g: Point, _ h: Point
  ) -> Int { take(a); take(b); take(c); take(d); take(e); take(f); take(g); take(h); return 21 }
  @_optimize(none) public func enumeration1(_ a: Shape) -> Int { take(a); return 22 }
  @_optimize(none) public func enumeration3(_ a: Shape, _ b: Shape, _ c: Shape) -> Int { take(a); take(b); take(c); return 23 }
  @_optimize(none) public func enumeration8(
    _ a: Shape, _ b: Shape, _ c: Shape, _ d: Shape, _ e: Shape, _ f: Shape, _ g: Shape, _ h: Shape
  ) -> Int { take(a); take(b); take(c); take(d); take(e); take(f); take(g); take(h); return 24 }
  @_optimize(none) public func array1(_ a: [Int]) -> Int { take(a); return 25 }
  @_optimize(none) public func array3(_ a: [Int], _ b: [Int], _ c: [Int]) -> Int { take(a); take(b); take(c); return 26 }
  @_optimize(none) public func array8(
    _ a: [Int], _ b: [Int], _ c: [Int], _ d: [Int], _ e: [Int], _ f: [Int], _ g: [Int], _ h: [Int]
  ) -> Int { take(a); take(b); take(c); take(d); take(e); take(f); take(g); take(h); return 27 }
  @_optimize(none) public func dictionary1(_ a: [String: Int]) -> Int { take(a); return 28 }
  @_optimize(none) public func dictionary3(
    _ a: [String: Int], _ b: [String: Int], _ c: [String: Int]
  ) -> Int { take(a); take(b); take(c); return 29 }
  @_optimize(none) public func dictionary8(
    _ a: [String: Int], _ b: [String: Int], _ c: [String: Int], _ d: [String: Int],
    _ e: [String: Int], _ f: [String: Int], _ g: [String: Int], _ h: [String: Int]
  ) -> Int { take(a); take(b); take(c); take(d); take(e); take(f); take(g); take(h); return 30 }
  @_optimize(none) public func tuple1(_ a: (Int, Int)) -> Int { take(a); return 31 }
  @_optimize(none) public func tuple3(_ a: (Int, Int), _ b: (Int, Int), _ c: (Int, Int)) -> Int { take(a); take(b); take(c); return 32 }
  @_optimize(none) public func tuple8(
    _ a: (Int, Int), _ b: (Int, Int), _ c: (Int, Int), _ d: (Int, Int), _ e: (Int, Int), _ f: (Int, Int), _ g: (Int, Int), _ h: (Int, Int)
  ) -> Int { take(a); take(b); take(c); take(d); take(e); take(f); take(g); take(h); return 33 }
  @_optimize(none) public func existential1(_ a: any Named) -> Int { take(a); return 34 }
  @_optimize(none) public func existential3(_ a: any Named, _ b: any Named, _ c: any Named) -> Int { take(a); take(b); take(c); return 35 }
  @_optimize(none) public func existential8(
    _ a: any Named, _ b: any Named, _ c: any Named, _ d: any Named, _ e: any Named, _ f: any Named, _ g: any Named, _ h: any Named
  ) -> Int { take(a); take(b); take(c); take(d); take(e); take(f); take(g); take(h); return 36 }
  @_optimize(none) public func closure1(_ a: @escaping (Int) -> Int) -> Int { take(a); return 37 }
  @_optimize(none) public func closure3(
    _ a: @escaping (Int) -> Int, _ b: @escaping (Int) -> Int, _ c: @escaping (Int) -> Int
  ) -> Int { take(a); take(b); take(c); return 38 }
  @_optimize(none) public func closure8(
    _ a: @escaping (Int) -> Int, _ b: @escaping (Int) -> Int, _ c: @escaping (Int) -> Int, _ d: @escaping (Int) -> Int,
    _ e: @escaping (Int) -> Int, _ f: @escaping (Int) -> Int, _ g: @escaping (Int) -> Int, _ h: @escaping (Int) -> Int
  ) -> Int { take(a); take(b); take(c); take(d); take(e); take(f); take(g); take(h); return 39 }

  /// Never hooked.
  @_optimize(none) public func bare(_ a: Int) -> Int { take(a); return 1 }
  @_optimize(none) public func generic<T>(_ a: T) -> Int { take(a); return 2 }
}

/// Uses a value, so that callers have to pass it.
@_optimize(none) func take<T>(_ value: T) {}
