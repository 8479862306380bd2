import Toys

@main struct Main {
  static func main() {
    let rounds = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1])! : 50
    var kept: [Node] = []
    for n in 0..<rounds {
      let (a, b) = (Node("a\(n)"), Node("b\(n)"))
      a.next = b
      b.back = a
      a.owner = b
      if n % 4 == 0 { a.loose = b }
      let l = link(Link(a, b), b)
      let tree = Tree.pair(.leaf("leaf \(n) of some length"), .pair(.node(a), .link(l)))
      var all = Bag([a, b], ["x": tree, "y": .none], n % 2 == 0 ? l as Any : tree as Any, { "\($0) \(a.name)" }, (b, "text"))
      all = bag(all, tree, n % 3 == 0 ? nil : .node(b))
      change(&all, a, "changed \(n), with a long text")
      _ = raw(Raw(n, a), n)
      _ = call(n, { $0.name + b.name }, { Node("made \($0)") })
      _ = consume(all, tree)
      a.rename("x\(n)")
      _ = b.first()
      if let node = try? errors(n, a) { kept.append(node) }
      if kept.count > 5 { kept.removeFirst() }
      b.next = nil
    }
    kept.removeAll()
    print(finish(rounds))
  }
}
