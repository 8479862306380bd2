import Generic

@main struct Main {
  static func main() async {
    generics(Rarity("gem", 12.5), Coin(250), (Box(7), Box("seven"), Box(Coin(100), count: 3)), Bag([Coin(1), Coin(2)]))
    shelves(Shelf(1), Sorted(), Shelf(Ware("pot", 2)), Loud())
    closures({ "<\($0)>" }, Wrong(text: "e"))
    await waiting(Coin(300))
    let rounds = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? 0 : 0
    for n in 0..<rounds { tick(n) }
    settle()
    print("soak", rounds, "alive", alive)
  }
}
