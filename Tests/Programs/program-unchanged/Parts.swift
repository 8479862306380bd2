// What is easily got wrong about a call: results that no general register holds, more arguments than a bound foresees,
// ends of values that no name tells.

// MARK: The x87 stack

@inline(never) public func third(_ x: Float80) -> Float80 { x / 3 }
@inline(never) public func halves(_ x: Float80) -> (Float80, Float80) { (x / 2, x / 3) }
@inline(never) private func hidden(_ x: Float80, _ unused: Int) -> Float80 { x / 7 }
@inline(never) public func callsHidden(_ x: Float80) -> Float80 { hidden(x, 1) }

/// Needs the whole x87 stack for itself.
@inline(never) public func busy(_ seed: Double) -> Double {
  let s = Float80(seed)
  let (a, b, c, d) = (s + 1, s + 2, s + 3, s + 4)
  let (e, f, g, h) = (s + 5, s + 6, s + 7, s + 8)
  return Double((a * b + c * d) * (e * f + g * h) / ((a + h) * (b + g) + (c + f) * (d + e)))
}

// MARK: Arguments on the stack

public typealias Ten = (Int, Int, Int, Int, Int, Int, Int, Int, Int, Int)

@inline(never) private func total(_ a: (Ten, Ten, Ten, Ten), _ unused: Int) -> Int {
  func sum(_ t: Ten) -> Int { t.0 + t.1 + t.2 + t.3 + t.4 + t.5 + t.6 + t.7 + t.8 + t.9 }
  return sum(a.0) + 10 * sum(a.1) + 100 * sum(a.2) + 1000 * sum(a.3)
}
@inline(never) public func totals(_ n: Int) -> Int {
  let ten = (n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9)
  return total((ten, ten, ten, ten), n)
}

// MARK: Who ends self

public final class Token {
  nonisolated(unsafe) public static var alive = 0
  public let name: String
  public init(_ name: String) {
    self.name = name
    Token.alive += 1
  }
  deinit { Token.alive -= 1 }
}

public struct Ticket {
  public var token: Token
  public var text: String
  public init(_ name: String) {
    token = Token(name)
    text = "the text of " + name + ", which is long"
  }
  @inline(never) public consuming func tear() -> String { token.name + "/" + text }
  @inline(never) public func look() -> String { token.name + "?" + text }
  @inline(never) public borrowing func peek() -> Int { token.name.utf8.count + text.utf8.count }
}

/// Passed by address.
public struct Bundle {
  public var first: Ticket
  public var second: Ticket
  public init(_ name: String) {
    first = Ticket(name + "1")
    second = Ticket(name + "2")
  }
  @inline(never) public consuming func tear() -> String { first.token.name + second.token.name }
  @inline(never) public func look() -> String { first.text + second.text }
}

extension Token {
  @inline(never) public __consuming func burn() -> String { name + " burnt" }
}

// MARK: Ownership nobody tells

@inline(never) private func eat(_ ticket: consuming Ticket, _ unused: Int) { kept.append(ticket.text.utf8.count + ticket.token.name.utf8.count) }
nonisolated(unsafe) var kept: [Int] = []
@inline(never) public func feeds(_ name: String) -> Int {
  eat(Ticket(name), 1)
  return kept.removeLast()
}

// MARK: Errors nobody sees

public struct Broken: Error { public init() {} }
@inline(never) private func fail(_ x: Int, _ unused: Int) throws { if x > 2 { throw Broken() } }
@inline(never) public func failures(_ x: Int) -> String {
  do { try fail(x, 1) } catch { return "threw \(error)" }
  return "fine"
}
@inline(never) public func callerOfGetter(_ l: Ledger) -> String {
  do { return "\(try l.balance)" } catch { return "threw \(error)" }
}
public final class Ledger {
  public enum Problem: Error { case empty, full(Int) }
  public var entries: Int
  public init(_ n: Int) { entries = n }
  @inline(never) public var balance: Int { get throws(Problem) { if entries > 4 { throw .full(entries) }; return entries } }
  /// Does not look at self.
  @inline(never) public final func idle(_ x: Int) -> Int { x &* 31 }
}
@inline(never) public func idles(_ x: Int) -> Int { Ledger(1).idle(x) }
