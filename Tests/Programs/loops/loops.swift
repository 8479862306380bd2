// Functions that end with a call of themselves, in many ways, and loops that nobody could take for such calls. Each counts its own calls.
nonisolated(unsafe) var counts: [String: Int] = [:]
@inline(never) func mark(_ name: String) { counts[name, default: 0] += 1 }

// MARK: Recursion

@inline(never) func down(_ k: Int, _ n: Int) -> Int { mark("down"); return k <= 0 ? n : down(k - 1, n) }
@inline(never) func gcd(_ a: Int, _ b: Int) -> Int { mark("gcd"); return b == 0 ? a : gcd(b, a % b) }
@inline(never) func product(_ n: Int) -> Int { mark("product"); return n < 2 ? 1 : n &* product(n - 1) }
@inline(never) func bits(_ n: Int) -> Int { mark("bits"); return n < 1 ? 0 : (n ^ 5) | bits(n &- 1) }
@inline(never) func halves(_ x: Double) -> Double { mark("halves"); return x < 1 ? x : halves(x / 2) }
@inline(never) func collatz(_ n: Int, _ s: Int) -> Int {
  mark("collatz")
  if n == 1 { return s }
  return n % 2 == 0 ? collatz(n / 2, s + 1) : collatz(3 * n + 1, s + 1)
}
@inline(never) func find(_ a: [Int], _ low: Int, _ high: Int, _ x: Int) -> Int {
  mark("find")
  if low >= high { return low }
  let middle = (low + high) / 2
  return a[middle] < x ? find(a, middle + 1, high, x) : find(a, low, middle, x)
}
@inline(never) func rotate(_ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int, _ f: Int, _ g: Int, _ h: Int, _ i: Int) -> Int {
  mark("rotate")
  return a == 0 ? b &+ c &+ d &+ e &+ f &+ g &+ h &+ i : rotate(a - 1, c, d, e, f, g, h, i, b)
}
@inline(never) func towers(_ n: Int, _ a: Int, _ b: Int) -> Int {
  mark("towers")
  if n == 0 { return 0 }
  _ = towers(n - 1, a, 3 - a - b)
  return towers(n - 1, 3 - a - b, b)
}
@inline(never) func tell(_ n: Int, _ body: (Int) -> Void) {
  mark("tell")
  body(n)
  if n > 0 { tell(n - 1, body) }
}
@inline(never) func optional(_ n: Int?) -> Int {
  mark("optional")
  guard let n else { return 9 }
  return optional(n == 0 ? nil : n - 1)
}
@inline(never) func step(_ x: inout Int) {
  mark("step")
  if x > 0 {
    x -= 1
    step(&x)
  }
}
@inline(never) func fails(_ k: Int) throws -> Int { mark("fails"); return k == 0 ? 0 : try fails(k - 1) }
@inline(never) func throwing(_ k: Int) throws -> Int {
  mark("throwing")
  if k > 100 { throw CancellationError() }
  return k == 0 ? 0 : try throwing(k - 1)
}
@inline(never) func generic<T: BinaryInteger>(_ n: T, _ k: Int) -> Int { mark("generic"); return n == 0 ? k : generic(n - 1, k + 1) }
final class List {
  let next: List?, k: Int
  init(_ next: List?, _ k: Int) { (self.next, self.k) = (next, k) }
  @inline(never) func holds(_ x: Int) -> Bool {
    mark("holds")
    return k == x ? true : next?.holds(x) ?? false
  }
  @inline(never) static func walk(_ k: Int) {
    mark("walk")
    if k > 0 { walk(k - 1) }
  }
}
struct Value {
  var a: Int, b: Double
  @inline(never) func grown(_ n: Int) -> Double { mark("grown"); return n == 0 ? b : Value(a: a + 1, b: b * 1.5).grown(n - 1) }
  var left: Int { @inline(never) get { mark("left"); return a == 0 ? 7 : Value(a: a - 1, b: b).left } }
}
@inline(never) func outer(_ n: Int) -> Int {
  @inline(never) func inner(_ k: Int) -> Int { mark("inner"); return k <= 0 ? n : inner(k - 1) }
  return inner(n)
}

// MARK: Loops

@inline(never) func sumOf(_ a: [Int]) -> Int {
  mark("sumOf")
  var s = 0
  for x in a { s &+= x }
  return s
}
@inline(never) func joined(_ a: [String]) -> String { mark("joined"); return a.map { $0 + "x" }.joined() }
@inline(never) func values(_ d: [String: Int]) -> Int {
  mark("values")
  var s = 0
  for (_, v) in d { s += v }
  return s
}
@inline(never) func squares(_ n: Int) -> [Int] { mark("squares"); return (0..<n).map { $0 * $0 } }
@inline(never) func blanks(_ s: String) -> Int {
  mark("blanks")
  var k = 0
  for c in s where c == " " { k += 1 }
  return k
}
@inline(never) func raise(_ a: inout [Int]) {
  mark("raise")
  for i in a.indices { a[i] += 1 }
}
@inline(never) func visit(_ a: [List]) {
  mark("visit")
  for each in a { print(each.k) }
}
@inline(never) func straight(_ n: Int) -> Int { mark("straight"); return n &* 3 }

let list = List(List(List(nil, 3), 4), 5)
print(down(5, 2), gcd(48, 18), product(5), bits(5), halves(9), collatz(7, 0), find([1, 2, 3, 4, 5], 0, 5, 4), rotate(3, 1, 2, 3, 4, 5, 6, 7, 8), towers(3, 0, 1))
tell(2) { print($0) }
var number = 3
step(&number)
print(optional(3), number, (try? fails(4)) ?? 1, (try? throwing(4)) ?? 1, generic(UInt8(4), 0), list.holds(3), Value(a: 1, b: 2).grown(3), Value(a: 3, b: 1).left, outer(3))
List.walk(6)
var array = [1, 2]
raise(&array)
visit([list])
print(sumOf(array), joined(["a"]), values(["a": 1]), squares(3), blanks("a b"), straight(3))
for (name, count) in counts.sorted(by: { $0.key < $1.key }) { print("COUNT", name, count) }
