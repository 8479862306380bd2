// Async getters that throw, that do not, and that leave an error of their own behind.

public enum Broken: Error, Equatable { case early, late(Int) }
public struct Refused: Error { public let code: Int }

@inline(never) public func failing(_ n: Int) async throws -> Int {
  await Task.yield()
  if n < 0 { throw Broken.late(n) }
  return n
}

public protocol Stocked {
  var stock: Int { get async }
  var price: Int { get async throws }
  var label: String { get async }
}

public struct Box: Sendable {
  public var text: String
  public var numbers: [Int]
  public var ratio: Double
}

public actor Shelf: Stocked {
  var count: Int
  public init(_ count: Int) { self.count = count }
  public var stock: Int { get async { await Task.yield(); return count } }
  public var price: Int { get async throws { try await failing(count) } }
  public var label: String { get async { await Task.yield(); return "shelf of \(count)" } }
  public var total: Double { Double(count) * 1.5 }
}

public final class Counter: Stocked, @unchecked Sendable {
  let n: Int
  public init(_ n: Int) { self.n = n }
  public var stock: Int { get async { n &+ 1 } }
  public var price: Int { get async throws { if n == 7 { throw Broken.early }; return try await failing(n) } }
  public var label: String { get async { "counter \(n)" } }
  /// An error is thrown inside, and gone when it returns.
  public var caught: Int { get async { do { return try await failing(-n) } catch { return (error as? Broken) == .late(-n) ? 100 : 0 } } }
  public var box: Box { get async { Box(text: "box \(n)", numbers: [n, n], ratio: Double(n) / 2) } }
  public var boxOrError: Box { get async throws { _ = try await failing(n); return Box(text: "box", numbers: [n], ratio: 1) } }
  public var nothing: Void { get async throws { _ = try await failing(n) } }
  public var flag: Bool { get async { await Task.yield(); return n > 0 } }
  public var maybe: String? { get async throws { try await failing(n) > 5 ? nil : "small" } }
  public static var shared: Int { get async throws { try await failing(5) } }
}

public struct Plain: Stocked {
  let n: Int
  public init(_ n: Int) { self.n = n }
  public var stock: Int { get async { n } }
  /// Does not throw, behind a requirement that may.
  public var price: Int { get async { await Task.yield(); return n } }
  public var label: String { "plain \(n)" }
}

public struct Typed: Sendable {
  let n: Int
  public init(_ n: Int) { self.n = n }
  public var code: Int { get async throws(Refused) { await Task.yield(); if n < 0 { throw Refused(code: n) }; return n } }
}
