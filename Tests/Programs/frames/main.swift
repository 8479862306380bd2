import Frames

@inline(never) func makeObjects(_ k: Int) -> Int {
  let (n, m) = (Node("node \(k)"), Node("another \(k)"))
  return one(n, m) + maybe(m)
}
@inline(never) func makePass(_ k: Int) -> Int {
  let n = Node("passed \(k)")
  return pass(n).name.count
}
@inline(never) func makeNumbers(_ k: Int) -> Int { numbers([k, k + 1]) + nested([[k, k], [k]]) }
@inline(never) func makeNodes(_ k: Int) -> Int {
  let n = Node("listed \(k)")
  return nodes([n, n])
}
@inline(never) func makeBoxes(_ k: Int) -> Int {
  let n = Node("boxed \(k)")
  return box(Box([k, k], nil, "plain")) + box(Box([k], n, "full"))
}
@inline(never) func makeClosures(_ k: Int) -> Int {
  let n = Node("called \(k)")
  // Two forms, so that no body of 'run' is made for one of them.
  let f: (Int) -> String = k % 2 == 0 ? { n.name + "\($0)" } : { [k] in n.name + "\($0 + k)" }
  return run(f)
}
@inline(never) func makeTickets(_ k: Int) -> Int { ticket(Ticket(k, Node("ticket \(k)")), k) }
@inline(never) func makeSlow(_ k: Int) async -> Int {
  let n = Node("slow \(k)")
  let first = await slowly(n)
  return await first + slowNumbers([k, k + 2])
}

@main struct Main {
  static func main() async {
    var sum = 0
    for round in 1...20 {
      sum &+= makeObjects(round) + makePass(round) + makeNumbers(round) + makeNodes(round) + makeBoxes(round) + makeClosures(round)
      sum &+= makeTickets(round)
      sum &+= await makeSlow(round)
      sum &+= over(round) &+ fill(shelf)
    }
    print(sum)
  }
}
