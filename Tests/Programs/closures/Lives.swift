// Closures that are kept, called from many threads and thrown away; counts what stays alive.
import Foundation

public final class Token: @unchecked Sendable {
  private static let lock = NSLock()
  private nonisolated(unsafe) static var count = 0
  public static var alive: Int { lock.withLock { count } }
  public let n: Int
  public init(_ n: Int) {
    self.n = n
    Self.lock.withLock { Self.count += 1 }
  }
  deinit { Self.lock.withLock { Self.count -= 1 } }
}

/// Calls the closure `rounds` times; the patch replaces it.
@inline(never) public func repeated(_ rounds: Int, _ f: (Int) -> Int) -> Int { (0..<rounds).reduce(0) { $0 &+ f($1) } }
/// The patch calls it many times.
@inline(never) public func called(_ f: @escaping (Int, String) -> String) -> String { f(1, "once") }
/// The patch puts another closure around it, which is dropped with it.
@inline(never) public func wrapped(_ f: @escaping (Token) -> Int) -> () -> Int { let token = Token(1); return { f(token) } }
/// The patch makes a closure of the throwing one.
@inline(never) public func failing(_ f: (String) throws -> Token) -> Int { (try? f("x"))?.n ?? -1 }
@inline(never) public func shared(_ f: @escaping @Sendable (Int) -> Void) -> @Sendable (Int) -> Void { f }
@inline(never) public func sorted(_ names: [String], by order: (String, String) -> Bool) -> [String] {
  var names = names
  names.sort(by: order)
  return names
}
