// Functions and types that spell generic parameters in the types of their closures, which settles how those are called.

public final class Ref { public var n: Int; public init(_ n: Int) { self.n = n } }
public struct Steps<Base: Sequence, Value> {
  public var base: Base, map: (Base.Element) -> Value, test: (Base.Element, Int) -> Bool, plain: (Int) -> Int, end: ((Value) -> Void)?
  public var value: Value
  public init(
    base: Base, map: @escaping (Base.Element) -> Value, test: @escaping (Base.Element, Int) -> Bool, plain: @escaping (Int) -> Int,
    end: ((Value) -> Void)?, value: Value
  ) { (self.base, self.map, self.test, self.plain, self.end, self.value) = (base, map, test, plain, end, value) }
}

public func test<T>(_ x: T, _ f: (T) -> Bool) -> Bool { f(x) }
public func both<T, U>(_ x: T, _ f: (T) -> U) -> U { f(x) }
public func mixed<T>(_ x: T, _ f: (Int, T, Double) -> T) -> T { f(7, x, 0.5) }
public func whole<T>(_ f: T) -> T { f }
public func bound<C: Ref>(_ c: C, _ f: (C) -> Int) -> Int { f(c) }
public func kinds<T, C: Ref>(_ x: T, _ c: C, _ f: ([T], C?, T?) -> [T]?) -> [T]? { f([x, x], c, x) }
public func throwing<T>(_ x: T, _ f: (T) throws -> Int) -> Int { (try? f(x)) ?? -1 }
public func steps<B: Sequence, V>(_ s: Steps<B, V>) -> V {
  for x in s.base where s.test(x, s.plain(1)) { s.end?(s.map(x)); return s.map(x) }
  return s.value
}
public func known(_ s: Steps<[Int], String>) -> String { steps(s) + "." }
// What is not worked out, and refused.
public func metas<T>(_ x: T, _ f: (T.Type) -> T) -> T { f(T.self) }
public func nested<T>(_ x: T, _ f: ((T) -> T) -> Int) -> Int { f { $0 } }
