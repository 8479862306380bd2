// A library that the stress opens and closes while others hook it: built several times, under names of their own.

/// The optimiser must not know what `inner` returns.
nonisolated(unsafe) public var added = 0

@_cdecl("work") public func work(_ n: Int) -> Int { inner(n) }
@inline(never) public func inner(_ n: Int) -> Int { n &+ added }
