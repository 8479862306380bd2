import Lib

// Values.
public enum Nested { case a(Int??), b }
@inline(never) @_optimize(none) public func show(_ x: Nested) { print(x) }
@inline(never) @_optimize(none) public func unit(_ n: Int) -> Void? { n > 0 ? () : nil }
@inline(never) @_optimize(none) public func table(_ d: [String: Int]) -> String { d.map { "\($0.key.unicodeScalars.count) \($0.value)" }.sorted().joined(separator: ",") }
@inline(never) @_optimize(none) public func long(_ s: String, _ n: Int) -> Int { s.utf8.count &+ n }

// A closure's default is a handle.
public struct Size { var a: UInt64; var b: Int16; @inline(never) @_optimize(none) init(a: UInt64, b: Int16) { self.a = a; self.b = b } }
@inline(never) @_optimize(none) public func take(_ f: @escaping () throws -> Any) -> String { "\((try? f()) ?? "nothing")" }
@inline(never) @_optimize(none) public func poke(_ n: Int) -> String { n < 0 ? "negative" : "poke" }

// Protocols, classes.
public protocol Speaker: AnyObject { func speak(_ n: Int) -> String }
public protocol Silent: AnyObject { func hush(_ n: Int) -> String }
open class Dog: Speaker {
  public init() {}
  @inline(never) open func speak(_ n: Int) -> String { "woof \(n)" }
}
public final class Stone: Silent {
  public init() {}
  public func hush(_ n: Int) -> String { "" }
}
@inline(never) @_optimize(none) public func ask(_ d: Dog, _ s: any Silent) -> String { d.speak(1) + s.hush(1) }
open class Base {
  public init() {}
  @inline(never) open func name() -> String { "base" }
}
nonisolated(unsafe) var kept: Base?
@inline(never) @_optimize(none) public func keep(_ b: Base) { kept = b }
@inline(never) @_optimize(none) public func start(_ n: Int) -> Int { n }

// Results of protocol type, passed on as they came: their objects end when their callers have done with them.
nonisolated(unsafe) var alive = 0
final class Counted: Marked { init() { alive += 1 }; deinit { alive -= 1 } }
public protocol Marked {}
@inline(never) @_optimize(none) public func anything(_ n: Int) -> Any { Counted() }
@inline(never) @_optimize(none) public func marked(_ n: Int) -> any Marked { Counted() }

for n in 0..<20 { _ = anything(n); _ = marked(n) }
print("alive", alive)
show(.a(nil))
show(.a(.some(nil)))
show(.a(3))
print("unit", unit(1) == nil ? "nil" : "some", unit(0) == nil ? "nil" : "some")
print("table", table(["a": 1]))
print("long", long("short", 1), long(String(repeating: "y", count: 5_000_000), 2))
for n in 0..<40 where poke(n) != "poke" { print("poke wrong") }
print("take", take { Size(a: 1, b: 2) })
print("ask", ask(Dog(), Stone()))
print("start", start(1))
if let kept { print("program", kept.name()) }
print(Stone().hush(1).isEmpty)
let pair = Pair(x: 1, y: "q")
for _ in 0..<6 { do { _ = try pair.f(5) } catch { print("threw", error) } }
print((try? pair.f(1)) ?? "threw")
print("the end")
