// Counter — one method per kind of hook, all of the same small size, so that the figures compare.

public final class Counter {
  var total = 0

  public init() {}

  /// Never hooked.
  @inline(never) public func bare(_ a: Int, _ b: Double, _ c: Bool) -> Int { count(a, b, c) }
  /// Hooked with an empty `before` that declares all three arguments.
  @inline(never) public func before(_ a: Int, _ b: Double, _ c: Bool) -> Int { count(a, b, c) }
  /// Hooked with `around` that calls the original and returns its result.
  @inline(never) public func around(_ a: Int, _ b: Double, _ c: Bool) -> Int { count(a, b, c) }
  /// Hooked with an empty `after`.
  @inline(never) public func after(_ a: Int, _ b: Double, _ c: Bool) -> Int { count(a, b, c) }
  /// Hooked with `contain`, and never traps.
  @inline(never) public func contained(_ a: Int, _ b: Double, _ c: Bool) -> Int { count(a, b, c) }
  /// Hooked with `contain`, and always traps.
  @inline(never) public func trapped(_ a: Int, _ b: Double, _ c: Bool) -> Int {
    precondition(count(a, b, c) == .min)
    return total
  }
  /// Tracked by a rule with two scalar fields.
  @inline(never) public func tracked(_ a: Int, _ b: Double, _ c: Bool) -> Int { count(a, b, c) }
  /// Hooked by the hundred patches whose loading is measured.
  @inline(never) public func loaded(_ a: Int, _ b: Double, _ c: Bool) -> Int { count(a, b, c) }

  @inline(__always) private func count(_ a: Int, _ b: Double, _ c: Bool) -> Int {
    total &+= c ? a : a &- Int(truncatingIfNeeded: b.bitPattern)
    return total
  }

  /// Never hooked.
  @inline(never) public func bareText(_ text: String) -> String { total &+= 1; return text }
  /// Hooked with `around`; the text goes into Lua, the result comes out and goes in again.
  @inline(never) public func aroundText(_ text: String) -> String { total &+= 2; return text }
  /// Hooked with `around` that returns another text, which becomes a new String.
  @inline(never) public func replacedText(_ text: String) -> String { total &+= 3; return text }
  /// Tracked by a rule with two fields, one of them a text.
  @inline(never) public func trackedText(_ text: String, _ a: Int) -> Int { total &+= a; return total }
}
