// A caller with a way that traps, where its count overflows: what looks for no error there does not pass one on.
final class Node {
  let v: Int
  init(_ v: Int) { self.v = v }
  deinit { print("ended", v) }
}
@inline(never) func made(_ n: Int) throws -> Node { Node(n) }
@inline(never) func count(_ word: String, _ k: Int) {
  for i in 1...k {
    switch word {
    case "made": do { let node = try made(i); print("made", node.v) } catch { print("made caught", error) }
    default: print(i)
    }
  }
}
count(CommandLine.arguments[1], 2)
print("the end")
