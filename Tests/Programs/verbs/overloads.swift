// Overloads of one name, each with a copy that was inlined, which debug information tells.
public final class Cart {
  public var n = 0
  public init() {}
  @inline(__always) public func note(_ a: Int) -> Int { n &+= a &* 3; return n ^ a }
  @inline(__always) public func note(_ a: Double) -> Double { n &+= 7; return a * Double(n) }
}
@inline(never) func one(_ c: Cart) -> Int { c.note(n) }
@inline(never) func two(_ c: Cart) -> Double { c.note(2.5) }
let n = CommandLine.arguments.count
let c = Cart(); print(one(c), two(c))
