import Ends

nonisolated(unsafe) var held: [Any] = []
@inline(never) func offer(_ alone: Alone, _ watching: Watching, _ pot: Pot<Int>) { held = [alone, watching, pot] }
@inline(never) func wait(_ alone: Alone) async -> Int { held = [alone]; return held.count }

@main struct Main {
  static func main() async {
    let thing = Thing()
    for _ in 0..<3 { offer(Alone(thing), Watching(thing), Pot(thing, 1)) }
    _ = await wait(Alone(thing))
    offer(Alone(thing), Watching(thing), Pot(thing, 1))
    print("things alive: \(Thing.alive)")
    withExtendedLifetime(thing) {}
  }
}
