public struct Remote { public var a, b, c, d, e, f: Int }
@inline(never) public func far(_ n: Int) -> Remote { Remote(a: n, b: 1, c: 2, d: 3, e: 4, f: 5) }
@inline(never) public func farLater(_ n: Int) async -> Remote { Remote(a: n, b: 1, c: 2, d: 3, e: 4, f: 5) }
