// What the dispatch cases hook. A module of its own, so that the optimiser cannot see through it.

/// Something to write down in order.
public final class Trace {
  public nonisolated(unsafe) static var text = ""  // the cases that use it run on one thread
  public static func take() -> String {
    defer { text = "" }
    return text
  }
}

@inline(never) public func add(_ a: Int, _ b: Int) -> Int {
  Trace.text += "add "
  return a + b
}

@inline(never) public func factorial(_ n: Int) -> Int { n <= 1 ? 1 : n * factorial(n - 1) }

@inline(never) public func shout(_ text: String, times: Int) -> String { String(repeating: text + "!", count: times) }

@inline(never) public func half(_ value: Double, of flag: Bool) -> Double { flag ? value / 2 : value }

@inline(never) public func first(_ text: String?, or other: Int32?) -> String? { text ?? other.map { "\($0)" } }

public enum Problem: Error, Equatable { case odd(Int), negative }

@inline(never) public func evenHalf(_ n: Int) throws -> Int {
  if n < 0 { throw Problem.negative }
  if n % 2 != 0 { throw Problem.odd(n) }
  return n / 2
}

/// Eleven integers and eleven doubles: registers and stack.
@inline(never) public func many(
  _ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int, _ f: Int, _ g: Int, _ h: Int, _ i: Int, _ j: Int, _ k: Int,
  _ l: Double, _ m: Double, _ n: Double, _ o: Double, _ p: Double, _ q: Double, _ r: Double, _ s: Double, _ t: Double, _ u: Double,
  _ v: Double
) -> String {
  "\([a, b, c, d, e, f, g, h, i, j, k]) \([l, m, n, o, p, q, r, s, t, u, v])"
}

/// Bigger than four registers: returned indirectly.
public struct Big: Equatable {
  public var a, b, c, d, e, f: Int
  public init(_ n: Int) { (a, b, c, d, e, f) = (n, n + 1, n + 2, n + 3, n + 4, n + 5) }
}

@inline(never) public func big(_ n: Int, _ text: String) -> Big { Big(n + text.count) }

open class Animal {
  public nonisolated(unsafe) static var alive = 0  // counted by the cases on one thread
  public var name: String
  public var legs: Int
  @inline(never) public init(name: String, legs: Int) {
    self.name = name
    self.legs = legs
    Animal.alive += 1
  }
  deinit { Animal.alive -= 1 }
  @inline(never) open func speak(_ volume: Int) -> String { "\(name) \(volume)" }
  @inline(never) open func greet(_ other: Animal) -> String { "\(name) meets \(other.name)" }
  @inline(never) public static func census(_ n: Int) -> Int { n * 10 }
}

public final class Dog: Animal {
  @inline(never) public override func speak(_ volume: Int) -> String { "dog " + super.speak(volume + 1) }
}

public final class Cat: Animal {}

public struct Counter {
  public private(set) var value = 0
  public init() {}
  @inline(never) public mutating func bump(by n: Int) -> Int {
    value += n
    return value
  }
  @inline(never) public func scaled(_ factor: Double, label: String) -> String { "\(label) \(Double(value) * factor)" }
}

/// What becomes of its self nothing tells: a strong reference is made of the unowned one, and let go.
public struct Collar {
  unowned let animal: Animal
  public init(of animal: Animal) { self.animal = animal }
  @inline(never) public func text() -> String { animal.name }
}

@inline(never) public func later(_ n: Int) async -> Int {
  await Task.yield()
  return n * 2
}

/// Takes and gives closures.
@inline(never) public func composed(_ f: @escaping (Int, String) -> String, twice: Bool) -> (Int) -> String {
  { n in twice ? f(n, f(n, "composed")) : f(n, "composed") }
}

// MARK: Async

@inline(never) public func later(_ n: Int, _ s: String) async throws -> String {
  if n < 0 { throw Refused() }
  for _ in 0..<n % 3 { await Task.yield() }
  return s + "\(n)"
}
public struct Refused: Error { public init() {} }
