// Functions that a program which imports the module has copies of, and one that it has none of.
@inlinable public func copied(_ n: Int) -> Int { note("copied"); return n &+ 7 }
@inline(never) public func own(_ n: Int) -> Int { note("own"); return n &* 3 }

/// Defaults of which the importer has specialised copies; LLVM folds equal ones into code without a name.
public protocol Sized { func size(_ n: Int) -> Int }
extension Sized {
  @inlinable @inline(never) public func size(_ n: Int) -> Int { note("size"); return n > 2 ? n &- 1 : n &+ 2 }
  @_alwaysEmitIntoClient @inline(never) public func longer(_ n: Int) -> Int { size(n) &+ 1 }
}
public struct Plain: Sized { public init() {} }

nonisolated(unsafe) var counts: [String: Int] = [:]
@inline(never) public func note(_ name: String) { counts[name, default: 0] += 1 }
@inline(never) public func tell() { for (name, count) in counts.sorted(by: { $0.key < $1.key }) { print("COUNT", name, count) } }
