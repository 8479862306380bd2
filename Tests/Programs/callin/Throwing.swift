// Functions that state the type of their errors, which scripts make them throw.

public enum Plain: Error { case one, two }
public enum Loaded: Error { case number(Int), text(String), object(Owner), none }
public struct Words: Error { public var code: Int, text: String; public init(_ code: Int, _ text: String) { self.code = code; self.text = text } }
public struct Floating: Error { public var x: Double, n: Int8; public init(_ x: Double, _ n: Int8) { self.x = x; self.n = n } }
public struct Large: Error { public var a: Int, b: String, c: Double, d: Int, owner: Owner; public init(_ n: Int) { a = n; b = "large \(n)"; c = 0.5; d = -n; owner = Owner(n) } }
public struct Empty: Error { public init() {} }
nonisolated(unsafe) public var alive = 0
public final class Owner: @unchecked Sendable {
  public let id: Int
  public init(_ id: Int) { self.id = id; alive += 1 }
  deinit { alive -= 1 }
}
nonisolated(unsafe) public var sink: Any = ()

@inline(never) public func plain(_ n: Int) throws(Plain) -> Int { sink = n; if n < 0 { throw .one }; return n }
@inline(never) public func nothing(_ n: Int) throws(Plain) { sink = n; if n < 0 { throw .one } }
@inline(never) public func loaded(_ n: Int) throws(Loaded) -> String { sink = n; if n < 0 { throw .none }; return "loaded \(n)" }
@inline(never) public func words(_ n: Int) throws(Words) -> Double { sink = n; if n < 0 { throw Words(n, "own") }; return Double(n) }
@inline(never) public func floating(_ n: Int) throws(Floating) -> Int { sink = n; if n < 0 { throw Floating(0.5, 1) }; return n }
@inline(never) public func large(_ n: Int) throws(Large) -> Int { sink = n; if n < 0 { throw Large(n) }; return n }
@inline(never) public func inMemory(_ n: Int) throws(Words) -> Large { sink = n; if n < 0 { throw Words(n, "own") }; return Large(n) }
@inline(never) public func wide(_ n: Int) throws(Plain) -> UInt128 { sink = n; if n < 0 { throw .one }; return UInt128(n) }
@inline(never) public func empty(_ n: Int) throws(Empty) -> Int { sink = n; if n < 0 { throw Empty() }; return n }
@inline(never) public func owned(_ o: consuming Owner, _ n: Int) throws(Loaded) -> Owner { sink = n; if n < 0 { throw .object(o) }; return o }
@inline(never) public func generic<T, E: Error>(_ x: T, _ e: E, _ n: Int) throws(E) -> T { sink = n; if n < 0 { throw e }; return x }
@inline(never) public func later(_ n: Int) async throws(Words) -> Int { await Task.yield(); sink = n; if n < 0 { throw Words(n, "own") }; return n }
@inline(never) public func laterLarge(_ n: Int) async throws(Large) -> String { await Task.yield(); sink = n; if n < 0 { throw Large(n) }; return "\(n)" }
@inline(never) public func untyped(_ n: Int) throws -> Int { sink = n; if n < 0 { throw Words(n, "own") }; return n }
public struct Counter {
  public var n = 0, name: String
  public init(_ name: String) { self.name = name }
  @inline(never) public mutating func add(_ x: Int) throws(Words) -> Int { if x < 0 { throw Words(x, name) }; n += x; return n }
}
@inline(never) public func settle() { sink = () }
