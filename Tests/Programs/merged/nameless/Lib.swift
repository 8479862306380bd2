nonisolated(unsafe) public var counts: [String: Int] = [:]
@inline(never) public func count(_ name: String) { counts[name, default: 0] += 1 }
public protocol Named { func name(_ k: Int) -> Int }
extension Named {
  @inlinable @inline(never) public func name(_ k: Int) -> Int { count("name"); return k }
  @_alwaysEmitIntoClient @inline(never) public func longName(_ k: Int) -> Int { count("longName"); return name(k) + 1 }
}
public struct Plain: Named { public init() {} }
