// Async functions of every kind, compiled as a module of their own.
import Glibc

public struct Sad: Error, Equatable {
  public var code: Int
  public init(_ code: Int) { self.code = code }
}

public struct Big: Equatable, Sendable {
  public var a: Int, b: Int, c: Int, d: Int, name: String
  public init(_ a: Int, _ b: Int, _ c: Int, _ d: Int, _ name: String) { (self.a, self.b, self.c, self.d, self.name) = (a, b, c, d, name) }
}

/// A number several threads change.
public final class Tally: @unchecked Sendable {
  private let value = UnsafeMutablePointer<Int>.allocate(capacity: 1)
  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  public init() {
    value.pointee = 0
    pthread_mutex_init(lock, nil)
  }
  public func add(_ n: Int) {
    pthread_mutex_lock(lock)
    value.pointee += n
    pthread_mutex_unlock(lock)
  }
  public var now: Int {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return value.pointee
  }
}

/// Objects that are alive, and how often each function really ran.
public let living = Tally()
public let runs = Tally()

public final class Box: Sendable {
  public let n: Int
  public init(_ n: Int) {
    self.n = n
    living.add(1)
  }
  deinit { living.add(-1) }
  public static func make(_ n: Int) -> Box { Box(n) }
}

/// Suspends: what comes after may run on another thread.
@inline(never) func rest() async {
  runs.add(1)
  await Task.yield()
}

@inline(never) public func ints(_ a: Int, _ b: Int) async -> Int {
  await rest()
  return a * 10 + b
}
@inline(never) public func quick(_ a: Int) async -> Int {
  runs.add(1)
  return a + 1
}
@inline(never) public func text(_ s: String, times n: Int) async throws -> String {
  await rest()
  if n < 0 { throw Sad(n) }
  return String(repeating: s, count: n)
}
@inline(never) public func mixed(_ d: Double, _ f: Float, _ i: Int32, _ b: Bool) async -> (Double, Int, String) {
  await rest()
  return (d * 2, Int(i) + (b ? 1 : 0), "\(f)")
}
@inline(never) public func big(_ a: Int, _ s: String) async -> Big {
  await rest()
  return Big(a, a + 1, a + 2, a + 3, s)
}
@inline(never) public func bigThrowing(_ a: Int) async throws -> Big {
  await rest()
  if a < 0 { throw Sad(a) }
  return Big(a, 0, 0, 0, "big and long enough to be allocated")
}
@inline(never) public func many(_ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int, _ f: Int, _ g: Int, _ h: Int, _ i: Int) async -> Int {
  await rest()
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i
}
@inline(never) public func manyBig(_ a: String, _ b: String, _ c: String, _ d: String, _ e: Int) async throws -> Big {
  await rest()
  return Big(e, a.utf8.count, b.utf8.count, c.utf8.count, d)
}
@inline(never) public func nothing(_ n: Int) async { await rest() }
@inline(never) public func object(_ box: Box, plus n: Int) async -> Box {
  await rest()
  return Box(box.n + n)
}
@inline(never) public func maybe(_ n: Int?) async -> String? {
  await rest()
  return n.map { "number \($0) in a string of some length" }
}
@inline(never) public func eaten(_ s: consuming String, _ box: consuming Box) async -> Int {
  await rest()
  s += "!"
  return s.utf8.count + box.n
}
@inline(never) public func changed(_ n: inout Int, by m: Int) async -> Int {
  await rest()
  n += m
  return n * 2
}
@inline(never) public func typed(_ n: Int) async throws(Sad) -> Int {
  await rest()
  if n < 0 { throw Sad(n) }
  return n
}
@inline(never) public func typedFree(_ n: Int) async -> Int {
  await Task.yield()
  return n
}
@inline(never) public func generic<T>(_ value: T, _ n: Int) async -> T {
  await rest()
  return value
}
@inline(never) public func calls(_ body: @Sendable (Int) async throws -> Int) async rethrows -> Int {
  await rest()
  return try await body(20) + 1
}
@inline(never) public func fib(_ n: Int) async -> Int {
  if n < 2 { return n }
  await Task.yield()
  return await fib(n - 1) + fib(n - 2)
}
@MainActor @inline(never) public func onMain(_ n: Int) async -> Int {
  await rest()
  return n + 100
}
@inline(never) nonisolated(nonsending) public func whereverCalled(_ n: Int) async -> Big {
  await rest()
  return Big(n, n, n, n, "here")
}

public class Shape: @unchecked Sendable {  // immutable
  let sides: Int
  public init(_ sides: Int) { self.sides = sides }
  @inline(never) public init(slowly sides: Int) async throws {
    await rest()
    if sides < 0 { throw Sad(sides) }
    self.sides = sides
  }
  @inline(never) public func area(_ k: Int) async -> Int {
    await rest()
    return sides * k
  }
  @inline(never) public static func most(_ a: Int, _ b: Int) async -> Int {
    await rest()
    return max(a, b)
  }
  public var corners: Int {
    get async {
      await rest()
      return sides
    }
  }
}

public struct Point: Sendable {
  public var x: Int, y: Int
  public init(_ x: Int, _ y: Int) { (self.x, self.y) = (x, y) }
  @inline(never) public func far(_ k: Int) async -> Int {
    await rest()
    return x * k + y
  }
  @inline(never) public mutating func move(_ k: Int) async -> Int {
    await rest()
    x += k
    return x
  }
}

public protocol Worker: Sendable { func work(_ n: Int) async throws -> String }
extension Shape: Worker {
  @inline(never) public func work(_ n: Int) async throws -> String {
    await rest()
    if n < 0 { throw Sad(n) }
    return "worked \(n)"
  }
}

public actor Account {
  public private(set) var balance = 0
  public init() {}
  /// Not atomic over its suspension, which is what `calm` is for.
  @inline(never) public func add(_ n: Int) async -> Int {
    let now = balance + n
    balance = now
    await rest()
    return balance
  }
  @inline(never) public func calm(_ n: Int) -> Int {
    balance += n
    return balance
  }
}

public struct Countdown: AsyncSequence, AsyncIteratorProtocol {
  public typealias Element = Int
  var n: Int
  public init(_ n: Int) { self.n = n }
  public func makeAsyncIterator() -> Countdown { self }
  @inline(never) public mutating func next() async throws -> Int? {
    await rest()
    n -= 1
    return n < 0 ? nil : n
  }
}

// For the crowd.
@inline(never) public func work(_ n: Int, _ s: String, _ box: Box) async throws -> String {
  for _ in 0..<n % 4 { await Task.yield() }
  runs.add(1)
  if n % 10 == 9 { throw Sad(n) }
  return s + "/\(n)/\(box.n)"
}
@inline(never) public func sleep(_ n: Int) async throws -> Int {
  try await Task.sleep(nanoseconds: 100_000_000)
  runs.add(1)
  return n
}
@inline(never) public func waitForCancellation(_ n: Int) async throws -> Int {
  try await Task.sleep(nanoseconds: 60_000_000_000)
  return n
}

/// The program is over: patches tell what they counted.
@inline(never) public func finished(_ mode: String) { withExtendedLifetime(mode) {} }
