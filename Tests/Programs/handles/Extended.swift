// Results on the x87 stack, and a C union.
import Glibc

public struct Two { public var x: Float80, n: Int8; public init(_ x: Float80, _ n: Int8) { self.x = x; self.n = n } }
nonisolated(unsafe) public var sink: Any = 0
@inline(never) public func one(_ n: Int) -> Float80 { sink = n; return Float80(n) / 3 }
@inline(never) public func exact(_ n: Int) -> Float80 { sink = n; return Float80(n) / 4 }
@inline(never) public func pair(_ n: Int) -> (Float80, Float80) { sink = n; return (Float80(n), 0.5) }
@inline(never) public func mixed(_ n: Int) -> (Int, Float80, Double) { sink = n; return (n, 2.5, 1.5) }
@inline(never) public func two(_ n: Int) -> Two { sink = n; return Two(Float80(n), 4) }
@inline(never) public func fails(_ n: Int) throws -> Float80 { sink = n; if n < 0 { throw E.a }; return Float80(n) }
@inline(never) public func typed(_ n: Int) throws(E) -> Float80 { sink = n; if n < 0 { throw E.a }; return Float80(n) }
@inline(never) public func takes(_ x: Float80, _ y: Float80) -> Float80 { sink = x; return x * y }
public enum E: Error { case a, b }
@inline(never) public func united(_ s: sigval, _ n: Int) -> Int { sink = s; return n }
