import Evolving
import Parts

@main struct Main {
  @inline(never) static func opaque<T>(_ x: T) -> T { x }
  static func main() {
    for round in 1...3 {
      let x = Float80(opaque(round))
      print("x87", third(x), halves(x), callsHidden(x))
      print("stack", totals(opaque(round)))
      print("self", Ticket("t\(round)").tear(), Ticket("l\(round)").look(), Bundle("b\(round)").tear(), Bundle("c\(round)").look())
      let held = Ticket("h\(round)")
      print("held", held.tear(), held.look(), held.peek(), Token("k\(round)").burn())
      print("owned", feeds("owned\(round)"))
      print("errors", failures(round), callerOfGetter(Ledger(round + 2)), idles(opaque(round)))
      print("evolving", describe(round))
    }
    print("alive", Token.alive)
  }
  @inline(never) static func describe(_ n: Int) -> String {
    outside(Open(n, "open\(n)"), Frozen(n), Shape.circle(n), Fixed.b(n)) + inside(n) + shapes(Shape.circle(n), Fixed.b(n))
  }
}

/// Compiled without knowing the layout of what may change.
@inline(never) public func outside(_ open: Open, _ frozen: Frozen, _ shape: Shape, _ fixed: Fixed) -> String {
  "\(open.text) \(open.number) \(frozen.number) \(shape) \(fixed)"
}
@inline(never) public func shapes(_ shape: Shape, _ fixed: Fixed) -> String { "\(fixed) \(shape)" }
