// What the cases of the handlers' rules hook: one function with a variable of the caller, one that is given an object to keep, and one that
// has handlers inside of handlers. Tests/Programs/failures compiles this file, too.

public enum RuleError: Error, Equatable { case refused, ruled }

public enum Rules {
  /// What originals were given.
  public nonisolated(unsafe) static var seen = ""  // the cases run on one thread

  /// - Parameter rule: for the handler, which does what the rule is about.
  @inline(never) public static func call(_ rule: String, _ n: Int, _ sum: inout Int) throws -> Int {
    seen += "(\(n))"
    sum += 1
    if n < 0 { throw RuleError.refused }
    return n * 2
  }

  @inline(never) public static func keep(_ rule: String, _ token: __owned Token) throws -> Int {
    seen += "(\(token.number))"
    kept = token
    kept = nil
    return token.number
  }
  nonisolated(unsafe) static var kept: Token?  // the cases run on one thread

  @inline(never) public static func nested(_ n: Int, _ text: String) -> String { "original \(n) \(text)" }
}

/// A value whose members own memory; its method leaves it as it is.
public struct Basket {
  public let name: String
  public let lines: [Int]
  public init(name: String, lines: [Int]) {
    self.name = name
    self.lines = lines
  }
  @inline(never) public func label(_ prefix: String) -> String { "\(prefix)\(name) with \(lines)" }
}

public final class Token {
  public nonisolated(unsafe) static var alive = 0  // the cases run on one thread
  public let number: Int
  @inline(never) public init(_ number: Int) {
    self.number = number
    Token.alive += 1
  }
  deinit { Token.alive -= 1 }
}
