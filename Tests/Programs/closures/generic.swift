import Generics

struct Wrong: Error {}
print(test(5) { $0 > 3 }, test("five") { $0.count > 9 })
print(both(5) { "\($0)!" }, both("x") { $0.count })
print(mixed(2) { $0 + $1 + Int($2 * 10) }, mixed("s") { "\($0)\($1)\($2)" })
let kept = whole { (x: Int, s: String) -> String in "\(x)\(s)" }
print(kept(1, "a"))
print(bound(Ref(4)) { $0.n + 1 })
print(kinds(5, Ref(1)) { $0 + [$1!.n, $2!] }!, kinds("a", Ref(2)) { $0 + [$2!] }!)
print(throwing("abc") { $0.count }, throwing(0) { _ in throw Wrong() })
let s = Steps(base: [1, 2], map: { "<\($0)>" }, test: { $0 == $1 }, plain: { $0 * 2 }, end: { print("end", $0) }, value: "none")
print(steps(s), known(s))
print(metas(5) { _ in 4 }, nested(5) { $0(3) })
