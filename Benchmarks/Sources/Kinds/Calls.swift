// Calls — what scripts call, closures both ways, and async functions.

/// Its members are called by a script in a loop, from a handler of `run(_:_:)`.
public final class Called {
  var total = 0
  var raw = 7
  let item = Item()
  public init() {}

  /// Hooked: the handler makes `rounds` calls of kind `kind`.
  @_optimize(none) public func run(_ kind: String, _ rounds: Int) -> Int { take(kind); total &+= rounds; return total }

  @_optimize(none) public func scalar(_ a: Int, _ b: Int) -> Int { total &+= a; return total &+ b }
  @_optimize(none) public func nothing() { total &+= 1 }
  @_optimize(none) public func text(_ a: String) -> String { total &+= 2; return a }
  @_optimize(none) public func optional(_ a: Int?) -> Int? { total &+= 3; return a }
  @_optimize(none) public func object(_ a: Item) -> Item { total &+= 4; return a }
  @_optimize(none) public func structure(_ a: Point) -> Point { total &+= 5; return a }
  @_optimize(none) public func enumeration(_ a: Shape) -> Shape { total &+= 6; return a }
  @_optimize(none) public func array(_ a: [Int]) -> [Int] { total &+= 7; return a }
  @_optimize(none) public func closure(_ a: @escaping (Int) -> Int) { take(a) }
  public var getter: Int {
    @_optimize(none) get { total &* 2 }
    @_optimize(none) set { total = newValue }
  }
  @_optimize(none) public static func make(_ a: Int) -> Int { a &* 3 }
}

public final class Closures {
  var kept: (Int) -> Int = { $0 }
  public init() {}
  /// Hooked with `before`: the closure is replaced by a Lua function.
  @_optimize(none) public func keep(_ body: @escaping (Int) -> Int) { kept = body }
  @_optimize(none) public func callKept(_ a: Int) -> Int { kept(a) }
  /// Hooked with `before`: the handler calls `body` so often.
  @_optimize(none) public func lend(_ rounds: Int, _ body: @escaping (Int) -> Int) { take(rounds); take(body) }
}

public final class Later: Sendable {
  public init() {}
  @_optimize(none) public func bare(_ a: Int) async -> Int { a &+ 1 }
  @_optimize(none) public func before(_ a: Int) async -> Int { a &+ 2 }
  @_optimize(none) public func around(_ a: Int) async -> Int { a &+ 3 }
  @_optimize(none) public func after(_ a: Int) async -> Int { a &+ 4 }
  @_optimize(none) public func spanned(_ a: Int) async -> Int { a &+ 5 }
}
