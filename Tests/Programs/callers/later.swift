// Results of async functions that are numbers and texts, for callers that use them and for one that does not.
@inline(never) func used(_ n: Int) async -> Int { n &+ seed }
@inline(never) func usedText(_ n: Int) async -> String { "a text of the program, number \(n &+ seed)" }
@inline(never) func usedPart(_ n: Int) async -> Double { Double(n &+ seed) }
@inline(never) func usedFlag(_ n: Int) async -> Bool { n == seed }
@inline(never) func dropped(_ n: Int) async -> Int {
  seed &+= n
  return seed
}
nonisolated(unsafe) var seed = CommandLine.arguments.count

@inline(never) func drop(_ n: Int) async {
  _ = await dropped(n)
  print("dropped")
}
@inline(never) func pass(_ n: Int) async -> Int { await used(n) }

@main struct Main {
  static func main() async {
    print("used", await used(1))
    print("passed", await pass(2))
    print("text", await usedText(3))
    print("part", await usedPart(4))
    print("flag", await usedFlag(1))
    await drop(5)
    print("the end")
  }
}
