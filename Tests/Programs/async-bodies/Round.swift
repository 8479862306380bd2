// Async functions that await themselves before anything else: with callers' actors taken over, the optimiser makes loops of them.
nonisolated(unsafe) var counts: [String: Int] = [:]
@inline(never) func count(_ name: String) { counts[name, default: 0] += 1 }
@inline(never) func down(_ n: Int) async -> Int {
  count("Round.down(_:)")
  if n == 0 { return 0 }
  return await down(n - 1) &+ 1
}
@inline(never) func half(_ n: Int) async throws -> Int {
  count("Round.half(_:)")
  if n <= 1 { return 0 }
  let result = try await half(n / 2)
  print("half", n, result)
  return result + 1
}
actor Keeper {
  var sum = 0
  @inline(never) func add(_ n: Int) async -> Int {
    count("Round.Keeper.add(_:)")
    sum += n
    if n == 0 { return sum }
    let result = await add(n - 1)
    return result &+ sum
  }
}
@main struct Main {
  static func main() async {
    print(await down(9), (try? await half(64)) ?? -1, await Keeper().add(5))
    for (name, number) in counts.sorted(by: { $0.key < $1.key }) { print("COUNT \(name) \(number)") }
  }
}
