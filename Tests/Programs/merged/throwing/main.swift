// Equal functions that throw: what is left of all but one of them is a call of that one, since LLVM makes no jump of a call that may throw.
enum Problem: Error { case odd(Int) }

class Base {
  var sum = 0
  @inline(never) func go(_ n: Int) throws { sum &+= 1 }
}
final class First: Base {
  @inline(never) override func go(_ n: Int) throws {
    if n == 7777 { throw Problem.odd(n) }
    sum &+= n &* 3
    print("went on", sum & 7, separator: " ", terminator: "\n")
  }
}
final class Second: Base {
  @inline(never) override func go(_ n: Int) throws {
    if n == 7777 { throw Problem.odd(n) }
    sum &+= n &* 3
    print("went on", sum & 7, separator: " ", terminator: "\n")
  }
}
struct Left {
  var sum = 0
  @inline(never) mutating func go(_ n: Int) throws {
    if n == 7777 { throw Problem.odd(n) }
    sum ^= n &* 5
    print("stepped", sum & 7, separator: " ", terminator: "\n")
  }
}
struct Right {
  var sum = 0
  @inline(never) mutating func go(_ n: Int) throws {
    if n == 7777 { throw Problem.odd(n) }
    sum ^= n &* 5
    print("stepped", sum & 7, separator: " ", terminator: "\n")
  }
}

@inline(never) func make(_ n: Int) -> Base { n % 3 == 0 ? First() : n % 3 == 1 ? Second() : Base() }

for n in 0..<30 { try make(n).go(n) }
var left = Left(), right = Right()
for n in 0..<10 {
  try left.go(n)
  try right.go(n)
}
