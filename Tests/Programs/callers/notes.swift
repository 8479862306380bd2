// Results of which nothing tells whether callers look at them: here of functions of the same image, and of others that no caller was compiled with.
import Far

@_silgen_name("through") func through(_ n: Int) -> Int

struct Wide { var a, b, c, d, e, f: Int }
@inline(never) func near(_ n: Int) -> Wide { Wide(a: n, b: 1, c: 2, d: 3, e: 4, f: 5) }
@inline(never) func nearLater(_ n: Int) async -> Wide { Wide(a: n, b: 1, c: 2, d: 3, e: 4, f: 5) }
// What the function returns its caller need not ask it for.
@inline(never) func take(_ s: String, _ n: Int) -> Int {
  seed &+= s.utf8.count
  return n
}
@inline(never) func bump(_ n: Int) -> Int {
  seed &+= n
  return seed
}
nonisolated(unsafe) var seed = CommandLine.arguments.count
@main struct Main {
  static func main() async {
    print("near", near(1).a)
    print("nearLater", await nearLater(2).a)
    print("far", far(3).a)
    print("farLater", await farLater(4).a)
    print("import", through(5))
    for i in 0..<3 { print("take", take("small", 100 + i)) }
    _ = bump(7)
    print("the end")
  }
}
