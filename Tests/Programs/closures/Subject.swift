// Functions that take, keep, call and return closures; compiled by itself, so that callers know only its signatures.

/// Counts live instances, to see whether what closures capture goes away.
public final class Token: @unchecked Sendable {
  public nonisolated(unsafe) static var alive = 0
  public let name: String
  public init(_ name: String) {
    self.name = name
    Token.alive += 1
  }
  deinit { Token.alive -= 1 }
}

public struct Pair { public var count: Int; public var name: String
  public init(_ count: Int, _ name: String) { self.count = count; self.name = name }
}
public struct Wide { public var a = 1, b = 2, c = 3, d = 4, e = 5; public init() {} }
public struct Failure: Error { public var code: Int; public init(_ code: Int) { self.code = code } }

public func none(_ f: () -> Void) { f() }
public func one(_ f: (Int) -> Int) -> Int { f(20) }
public func text(_ f: (String) -> String) -> String { f("a string that does not fit in the words") + f("é") }
public func mixed(_ f: (Int, Double, String, Bool, Int8, UInt16, Float, Double) -> String) -> String {
  f(-1, 2.5, "three", true, -5, 65535, 0.25, 8)
}
public func many(_ f: (Int, Int, Int, Int, Int, Int, Int, String) -> Int) -> Int { f(1, 2, 3, 4, 5, 6, 7, "eight") }
public func pairs(_ f: (Pair) -> Pair) -> Pair { f(Pair(1, "one")) }
public func wide(_ f: (Wide) -> Wide) -> Int { let w = f(Wide()); return w.a + w.e }
public func optional(_ f: ((Int) -> Int)?) -> Int { f?(5) ?? -1 }
public func optionalResult(_ f: (Int) -> Int?) -> Int? { f(3) }
public func maker(_ f: (Int) -> (Int) -> Int) -> Int { f(10)(1) }
public func taker(_ f: ((Int) -> Int) -> Int) -> Int { f { $0 * 3 } }
public func throwing(_ f: (Int) throws -> String) -> String { do { return try f(7) } catch { return "threw \(error)" } }
public func tupled(_ f: ((Int, (String, Double))) -> (Int, String)) -> String { let r = f((1, ("two", 3.5))); return "\(r.0) \(r.1)" }
public func changing(_ f: (inout Int, inout String) -> Void) -> String { var n = 1; var s = "s"; f(&n, &s); return "\(n) \(s)" }
public func consuming(_ f: (__owned Token, consuming String) -> Int) -> Int { f(Token("given"), "given away, and long enough to count") }
public func array(_ f: [(Int, String) -> String]) -> String { f.map { $0(4, "four") }.joined(separator: ",") }

nonisolated(unsafe) public var kept: [(Int) -> Void] = []
public func keep(_ f: @escaping (Int) -> Void) { kept.append(f) }
public func callKept(_ n: Int) { for f in kept { f(n) } }
public func dropKept() { kept = [] }

public final class Button {
  public var onTap: (String) -> Int = { _ in -1 }
  public var maybe: (() -> String)? = nil
  public init() {}
  public func tap(_ name: String) -> Int { onTap(name) }
  public func setHandler(_ handler: @escaping (String) -> Int) { onTap = handler }
}
public func compose(_ f: @escaping (Int) -> Int, _ g: @escaping (Int) -> Int) -> (Int) -> Int { { f(g($0)) } }
public func cFunction(_ f: @convention(c) (Int32, Double) -> Int32) -> Int32 { f(-3, 2.0) }

public func dictionary(_ f: [String: (Int) -> Int]) -> String { f.keys.sorted().map { "\($0)=\(f[$0]!(6))" }.joined(separator: " ") }
public func anything(_ f: Any) -> String { (f as? (Int) -> Int).map { "\($0(9))" } ?? "\(type(of: f))" }
public enum Handler { case plain((Int) -> Int), none }
public func handled(_ h: Handler) -> Int { if case .plain(let f) = h { f(11) } else { 0 } }
public enum Boxed<T> { case one(T), none }
public func boxed(_ h: Boxed<(Int) -> Int>) -> Int { if case .one(let f) = h { f(12) } else { 0 } }
public struct Actions { public var name: String; public var run: (Int) -> Int
  public init(name: String, run: @escaping (Int) -> Int) { self.name = name; self.run = run } }
public func acted(_ a: Actions) -> String { a.name + " \(a.run(13))" }
public func twice(_ f: @escaping (Int) -> Int) -> (Int) -> Int { f }
public func same(_ f: @escaping (Int) -> Int, _ g: @escaping (Int) -> Int) -> Int { f(1) * 100 + g(1) }
nonisolated(unsafe) public var awaited: ((Int) async -> Int)?
public func waiting(_ f: @escaping (Int) async -> Int) -> String { awaited = f; return "waiting" }
