// Arrays that their callees do not look at, made by callers that were compiled with these before their eyes.
nonisolated(unsafe) var calls = 0
protocol Answering {
  static func slow(_ number: Int, _ unused: [Int]) async -> String
  static func quick(_ number: Int, _ unused: [Int]) -> String
}
class First: Answering {
  @inline(never) class func slow(_ number: Int, _ unused: [Int]) async -> String {
    calls += 1
    return "first \(number)"
  }
  @inline(never) class func quick(_ number: Int, _ unused: [Int]) -> String { "first, quickly \(number)" }
}
class Second: First {
  @inline(never) override class func slow(_ number: Int, _ unused: [Int]) async -> String { await super.slow(number, []) + ", second" }
  @inline(never) override class func quick(_ number: Int, _ unused: [Int]) -> String { super.quick(number, []) + ", second" }
}
@inline(never) func ask(_ type: any Answering.Type, _ number: Int) async -> String {
  await type.slow(number, [number]) + type.quick(number, [number])
}
/// Leaves numbers in the memory that arrays are made in next.
@inline(never) func noise(_ number: Int) async -> Int {
  var list = (0..<32).map { (place: Int) -> Int in place &* 0x7ff7_1234_5678 }
  list.append(number)
  await Task.yield()
  return list.reduce(0, &+)
}
@main struct Main {
  static func main() async {
    var sum = 0
    for number in 0..<50 {
      sum &+= await noise(number)
      sum &+= await ask(number % 2 == 0 ? First.self : Second.self, number).utf8.count
    }
    print("sum", sum, "calls", calls)
  }
}
