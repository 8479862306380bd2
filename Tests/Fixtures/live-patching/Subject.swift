// What Swift code looks like to the relocator: a bit of everything, each with a known answer.
//
// Compiled at each optimisation level by scripts/test-live-patching; every function of this
// module, compiler-made ones included, is diverted and restored while four threads run `subject_round`.

enum Trouble: Error, Equatable {
  case odd(Int)
}

protocol Shape {
  var area: Double { get }
  func scaled(by factor: Double) -> Self
}

struct Square: Shape {
  var side: Double
  var area: Double { @inline(never) get { side * side } }
  @inline(never) func scaled(by factor: Double) -> Square { Square(side: side * factor) }
}

struct Wide: Shape, Equatable {
  var a: Double, b: Double, c: Double, d: Double, e: Double
  var area: Double { @inline(never) get { a + b + c + d + e } }
  @inline(never) func scaled(by factor: Double) -> Wide {
    Wide(a: a * factor, b: b * factor, c: c * factor, d: d * factor, e: e * factor)
  }
}

class Counter {
  var value: Int
  private var notes: [String] = []
  @inline(never) init(_ value: Int) { self.value = value }
  @inline(never) func add(_ n: Int) -> Int {
    value &+= n
    return value
  }
  @inline(never) func note(_ text: String) { notes.append(text) }
  var summary: String { @inline(never) get { notes.joined(separator: ",") } }
  @inline(never) class func make(_ n: Int) -> Counter { Counter(n) }
  deinit { value = -1 }
}

final class Doubling: Counter {
  @inline(never) override func add(_ n: Int) -> Int { super.add(n &* 2) }
}

@inline(never) func branches(_ n: Int) -> Int {
  if n < 0 { return -1 }
  if n == 0 { return 7 }
  return n & 3 == 0 ? n / 4 : n + 1
}

@inline(never) func sum(_ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int, _ f: Int, _ g: Int, _ h: Int, _ x: Double, _ y: Double) -> Double {
  Double(a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8) + x * y
}

@inline(never) func half(_ n: Int) throws -> Int {
  if n & 1 == 1 { throw Trouble.odd(n) }
  return n / 2
}

@inline(never) func typed(_ n: Int) throws(Trouble) -> String {
  if n & 1 == 1 { throw .odd(n) }
  return "even \(n)"
}

@inline(never) func switched(_ n: Int) -> Int {
  switch n {
  case 0: 11
  case 1: 5
  case 2: 23
  case 3: 42
  case 4: 8
  case 5: 3
  default: n
  }
}

@inline(never) func largest<T: Comparable>(_ values: [T]) -> T? {
  var best: T?
  for value in values where best.map({ value > $0 }) ?? true { best = value }
  return best
}

@inline(never) func total(_ shapes: [any Shape]) -> Double {
  shapes.reduce(0) { $0 + $1.area }
}

@inline(never) func applied(_ n: Int, _ change: (Int) -> Int) -> Int { change(change(n)) }

@inline(never) func swapped(_ a: inout Int, _ b: inout Int) { (a, b) = (b, a) }

@inline(never) func factorial(_ n: Int) -> Int { n < 2 ? 1 : n * factorial(n - 1) }

@inline(never) func tiny() -> Int { 0 }
@inline(never) func same(_ n: Int) -> Int { n }

/// One round over everything; answers how many results were wrong.
@_cdecl("subject_round")
public func round(_ n: Int) -> Int {
  let k = n & 15
  var wrong = 0
  func expect(_ condition: Bool) { if !condition { wrong += 1 } }

  expect(branches(k) == (k == 0 ? 7 : k & 3 == 0 ? k / 4 : k + 1))
  expect(branches(-k - 1) == -1)
  expect(sum(k, 1, 2, 3, 4, 5, 6, 7, 1.5, 2) == Double(k + 2 + 6 + 12 + 20 + 30 + 42 + 56) + 3)
  expect((try? half(k)) == (k & 1 == 1 ? nil : k / 2))
  do {
    let text = try typed(k)
    expect(text == "even \(k)")
  } catch {
    expect(error == .odd(k) && k & 1 == 1)
  }
  expect(switched(k) == [11, 5, 23, 42, 8, 3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15][k])
  expect(largest([3, k, 1]) == max(3, k))
  expect(largest(["b", "a\(k)", "c"]) == "c")
  let counter = Counter.make(k)
  let doubling: Counter = Doubling(k)
  expect(counter.add(5) == k + 5)
  expect(doubling.add(5) == k + 10)
  counter.note("one")
  counter.note("number \(k) is a rather long note")
  expect(counter.summary == "one,number \(k) is a rather long note")
  let wide = Wide(a: 1, b: 2, c: 3, d: 4, e: Double(k))
  expect(total([Square(side: 3), wide]) == 19 + Double(k))
  expect(wide.scaled(by: 2) == Wide(a: 2, b: 4, c: 6, d: 8, e: Double(2 * k)))
  expect(Square(side: 2).scaled(by: 3).area == 36)
  expect(applied(k) { $0 * 2 + n } == 4 * k + 3 * n)
  var a = k, b = 99
  swapped(&a, &b)
  expect(a == 99 && b == k)
  expect(factorial(k & 7) == [1, 1, 2, 6, 24, 120, 720, 5040][k & 7])
  expect(tiny() == 0 && same(k) == k)
  return wrong
}
