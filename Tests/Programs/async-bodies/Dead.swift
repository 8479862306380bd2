// An async method of a protocol's extension that does not look at one of its arguments, called in every way.
nonisolated(unsafe) var runs = 0
protocol Named { func named(_ number: Int, _ unused: String) async -> Int }
extension Named {
  @inline(never) func named(_ number: Int, _ unused: String) async -> Int {
    runs += 1
    return number &+ 1
  }
}
class One: Named {}
final class Two: One {}
struct Three: Named { let list: [Int] }
@inline(never) func generic<T: Named>(_ value: T, _ number: Int) async -> Int { await value.named(number, "unused") }
@inline(never) func any(_ value: any Named, _ number: Int) async -> Int { await value.named(number, "unused") }
@main struct Main {
  static func main() async {
    print(await generic(One(), 1), await generic(Two(), 2), await generic(Three(list: [1]), 3), await any(One(), 4), await any(Three(list: []), 5))
    print("COUNT Dead.Named.named(_:_:) \(runs)")
  }
}
