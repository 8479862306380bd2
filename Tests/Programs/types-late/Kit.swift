// What the patch hooks; Late.swift brings subclasses, conforming types and a replacement.
public protocol Greets: AnyObject { func greet(_ n: Int) -> Int }

open class Base: Greets {
  public init() {}
  open func walk(_ n: Int) -> Int { n + 1 }
  open func greet(_ n: Int) -> Int { n + 10 }
}
open class Crate<Content>: Base {
  public let content: Content
  public init(_ content: Content) { self.content = content }
}
public dynamic func swapped(_ n: Int) -> Int { n * 2 }
/// Its replacement does not go on to it.
public dynamic func dropped(_ n: Int) -> Int { n * 3 }

/// Calls that stay virtual, or through the protocol.
@_optimize(none) @inline(never) public func walk(_ base: Base, _ n: Int) -> Int { base.walk(n) }
@_optimize(none) @inline(never) public func greet(_ some: any Greets, _ n: Int) -> Int { some.greet(n) }

nonisolated(unsafe) public var late: (walkers: [Base], greeters: [any Greets])?
