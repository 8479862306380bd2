// What an async function gives to an actor's method ends with the call, though the original does not run: the function's part is left then.
final class Node: @unchecked Sendable {
  let v: Int
  init(_ v: Int) { self.v = v; live += 1 }
  deinit { live -= 1 }
}
nonisolated(unsafe) var live = 0
enum Refused: Error { case full(Int) }

actor Keeper {
  var kept: Node?
  var limit = CommandLine.arguments.count + 100
  @_semantics("optimize.sil.specialize.owned2guarantee.never") @inline(never) final func take(_ node: __owned Node, _ k: Int) -> Int { kept = node; limit &-= 1; return k &+ limit }
  @_semantics("optimize.sil.specialize.owned2guarantee.never") @inline(never) final func put(_ node: __owned Node, _ k: Int) throws -> Int {
    if k > limit { throw Refused.full(k) }
    kept = node
    return k &+ limit
  }
}
@inline(never) func give(_ keeper: Keeper, _ k: Int) async {
  let node = Node(k)
  print("took", await keeper.take(node, k), node.v)
  do { print("put", try await keeper.put(node, k), node.v) } catch { print("not put", node.v) }
}
@main struct Main {
  static func main() async {
    let keeper = Keeper()
    for k in 0..<4 { await give(keeper, k) }
    print("live", live)
    print("the end")
  }
}
